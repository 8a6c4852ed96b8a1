"""Train and test loss, without penalties."""

from grokatlas.engine.contracts import Columns, Observable
from grokatlas.engine.observed import Observed

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing

COLUMNS = {"train_loss": "falls", "test_loss": "falls"}


def build() -> Observable:
    """Columns ``train_loss`` and ``test_loss``: the run's loss on the whole sets."""

    def observe(view: Observed) -> Columns:
        return {"train_loss": view.train_loss, "test_loss": view.test_loss}

    return observe
