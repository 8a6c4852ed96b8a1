"""Train and test accuracy."""

from collections.abc import Callable
from typing import Any

from torch import Tensor


def build() -> Callable[[Any], dict]:
    """Columns ``train_accuracy`` and ``test_accuracy``: fractions in [0, 1] of right argmaxes."""

    def accuracy(outputs: Tensor, labels: Tensor) -> Tensor:
        return (outputs.argmax(-1) == labels).to(outputs.dtype).mean()

    def observe(view: Any) -> dict:
        return {
            "train_accuracy": accuracy(view.train_outputs, view.data["train_targets"]),
            "test_accuracy": accuracy(view.test_outputs, view.data["test_targets"]),
        }

    return observe
