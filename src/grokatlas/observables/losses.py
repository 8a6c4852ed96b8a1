"""Train and test loss, without penalties."""

from collections.abc import Callable
from typing import Any


def build() -> Callable[[Any], dict]:
    """Columns ``train_loss`` and ``test_loss``: the run's loss on the whole sets."""

    def observe(view: Any) -> dict:
        return {
            "train_loss": view.loss(view.train_outputs, view.data["train_targets"]),
            "test_loss": view.loss(view.test_outputs, view.data["test_targets"]),
        }

    return observe
