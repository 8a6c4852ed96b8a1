"""Train and test accuracy."""

from grokatlas.engine.accuracy import accuracy
from grokatlas.engine.contracts import Columns, Observable
from grokatlas.engine.observed import Observed

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing

COLUMNS = {"train_accuracy": "rises", "test_accuracy": "rises"}


def build() -> Observable:
    """Columns ``train_accuracy`` and ``test_accuracy``: fractions in [0, 1] of right samples.

    Labels are compared with the argmax of the outputs, or, with one output, labels 0 and 1 with its
    sign. Real targets are compared by sign (one output) or by argmax (one-hot). Not a number where
    an output is not finite.
    """

    def observe(view: Observed) -> Columns:
        return {
            "train_accuracy": accuracy(view.train_outputs, view.data["train_targets"]),
            "test_accuracy": accuracy(view.test_outputs, view.data["test_targets"]),
        }

    return observe
