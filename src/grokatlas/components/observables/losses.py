"""Train and test loss, without penalties."""

from collections.abc import Callable
from typing import Any

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing

COLUMNS = {"train_loss": "falls", "test_loss": "falls"}


def build() -> Callable[[Any], dict]:
    """Columns ``train_loss`` and ``test_loss``: the run's loss on the whole sets."""

    def observe(view: Any) -> dict:
        return {"train_loss": view.train_loss, "test_loss": view.test_loss}

    return observe
