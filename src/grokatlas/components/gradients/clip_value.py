"""Gradients of bounded entries."""

from grokatlas.engine.contracts import GradientLink, Hyperparameter, Params, Tree
from grokatlas.engine.keyword_types import Positive


class ClipValue:
    """Every entry clamped to [-max_value, max_value], as ``torch.nn.utils.clip_grad_value_``."""

    def __init__(self, max_value: Hyperparameter) -> None:
        self.max_value = max_value

    def init(self, params: Params) -> Tree:
        """No state."""
        return {}

    def update(self, params: Params, grads: Params, state: Tree) -> tuple[Params, Tree]:
        """The clamped gradients."""
        limit = self.max_value
        clamped = {}
        for key, grad in grads.items():  # torch's types have no limit that is a number or a tensor
            clamped[key] = grad.clamp(-limit, limit).to(grad.dtype)  # type: ignore[arg-type]
        return clamped, state


def build(*, max_value: Positive) -> GradientLink[Tree]:
    """Gradients with entries of at most `max_value` in absolute value."""
    return ClipValue(max_value)
