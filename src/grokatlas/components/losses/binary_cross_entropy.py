"""Cross-entropy of two classes and one output."""

from torch import Tensor
from torch.nn.functional import logsigmoid

from grokatlas.engine.contracts import Loss

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing


def build() -> Loss:
    """``loss = -mean_n [y_n log s(f_n) + (1 - y_n) log s(-f_n)]``, ``s`` the sigmoid; in nats.

    Outputs f are ``[N, 1]``, targets y labels 0 or 1 ``[N]``, or the same as real numbers
    ``[N, 1]``. The mean is over samples, as in
    ``torch.nn.functional.binary_cross_entropy_with_logits``; here a loss near 0 is exact for both
    labels, where the latter rounds to 0 for one of them.

    Raises:
        ValueError: when called, if the model has more than one output.
    """

    def loss(outputs: Tensor, targets: Tensor) -> Tensor:
        if outputs.shape[-1] != 1:
            raise ValueError(f"binary_cross_entropy needs one output, not {outputs.shape[-1]}")
        labels = targets.to(outputs.dtype).reshape(outputs.shape)
        chosen = labels * logsigmoid(outputs) + (1 - labels) * logsigmoid(-outputs)
        return -chosen.mean()

    return loss


def check(targets: Tensor) -> None:
    """Refuse targets other than 0 and 1, of which this loss has no least value.

    Raises:
        ValueError: there are others.
    """
    others = targets[(targets != 0) & (targets != 1)]
    if len(others):
        other = "mse" if targets.is_floating_point() else "cross_entropy"
        problem = f"binary_cross_entropy needs targets 0 and 1, not {others[0]:g}"
        raise ValueError(f"{problem}; take {other}")
