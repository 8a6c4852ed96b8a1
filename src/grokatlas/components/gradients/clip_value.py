"""Gradients of bounded entries."""

from typing import Any

from grokatlas.engine.keyword_types import Positive


class ClipValue:
    """Every entry clamped to [-max_value, max_value], as ``torch.nn.utils.clip_grad_value_``."""

    def __init__(self, max_value: Any) -> None:
        self.max_value = max_value

    def init(self, params: dict) -> dict:
        """No state."""
        return {}

    def update(self, grads: dict, state: dict) -> tuple[dict, dict]:
        """The clamped gradients."""
        limit = self.max_value
        clamped = {key: grad.clamp(-limit, limit).to(grad.dtype) for key, grad in grads.items()}
        return clamped, state


def build(*, max_value: Positive) -> ClipValue:
    """Gradients with entries of at most `max_value` in absolute value."""
    return ClipValue(max_value)
