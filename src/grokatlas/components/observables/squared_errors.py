"""Mean squared error of the outputs, whatever the loss."""

from torch import Tensor

from grokatlas.engine.contracts import Columns, Observable
from grokatlas.engine.observed import Observed

COLUMNS = {"train_squared_error": "falls", "test_squared_error": "falls"}


def build() -> Observable:
    """Columns ``train_squared_error`` and ``test_squared_error``.

    ``mean (f(X) - Y)^2`` over samples and outputs. Of targets ``[N, C, 1 + D]``, which hold
    derivatives too (Sobolev training), only the values count: there the loss has a part that
    regularises, and arXiv 2506.05718 shows the errors of the outputs alone. Targets must be real.
    """

    def error(outputs: Tensor, targets: Tensor) -> Tensor:
        if not targets.is_floating_point():
            raise ValueError("squared_errors needs real targets, not labels; use accuracies")
        values = targets[..., 0] if targets.ndim > outputs.ndim else targets
        return (outputs - values).square().mean()

    def observe(view: Observed) -> Columns:
        return {
            "train_squared_error": error(view.train_outputs, view.data["train_targets"]),
            "test_squared_error": error(view.test_outputs, view.data["test_targets"]),
        }

    return observe
