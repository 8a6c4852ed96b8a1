"""Adam with weight decay, decoupled (AdamW) or coupled."""

from typing import Literal

from grokatlas.components.optimizers.adam import Adam, Moments
from grokatlas.engine.contracts import Hyperparameter, Optimizer, Params
from grokatlas.engine.keyword_types import Decay, NonNegative, Positive

KEPT = 2  # copies of the parameters in the state: both moments


class DecayedAdam:
    """`adam` of decayed parameters, or of gradients with a decay term."""

    def __init__(self, adam: Adam, weight_decay: Hyperparameter, decoupled: bool) -> None:
        self.adam = adam
        self.weight_decay = weight_decay
        self.decoupled = decoupled

    def init(self, params: Params) -> Moments:
        """The state of Adam."""
        return self.adam.init(params)

    def update(self, params: Params, grads: Params, state: Moments) -> tuple[Params, Moments]:
        """The parameters after one step, and the moments."""
        if self.decoupled:
            factor = 1 - self.adam.lr * self.weight_decay
            params = {key: value * factor for key, value in params.items()}
        else:
            grads = {key: grads[key] + self.weight_decay * value for key, value in params.items()}
        return self.adam.update(params, grads, state)

    def direction(self, state: Moments) -> Params:
        """Adam's part of the last step over minus the step size, without a decoupled decay."""
        return self.adam.direction(state)


def build(
    *,
    lr: Positive,
    beta1: Decay,
    beta2: Decay,
    eps: Positive,
    weight_decay: NonNegative,
    decay: Literal["decoupled", "coupled"],
) -> Optimizer[Moments]:
    """Adam with weight decay.

    Args:
        lr: step size.
        beta1: decay rate of the first moment.
        beta2: decay rate of the second moment.
        eps: added outside the root.
        weight_decay: factor of the decay.
        decay: ``decoupled``, ``p <- p (1 - lr * weight_decay)`` before the step (Loshchilov &
            Hutter 2019, as ``torch.optim.AdamW``: the decay is scaled by `lr`); or ``coupled``,
            ``g <- g + weight_decay * p`` (as ``torch.optim.Adam``).
    """
    return DecayedAdam(Adam(lr, beta1, beta2, eps), weight_decay, decay == "decoupled")
