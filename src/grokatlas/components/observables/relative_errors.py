"""Train and test error relative to the targets."""

from torch import Tensor

from grokatlas.engine.contracts import Columns, Observable
from grokatlas.engine.observed import Observed

COLUMNS = {
    "train_error": "falls",
    "test_error": "falls",
    "train_deviation": "falls",
    "test_deviation": "falls",
}


def build() -> Observable:
    """Columns ``train_error``, ``test_error``, ``train_deviation`` and ``test_deviation``.

    An error is ``||f(X) - Y|| / ||Y||`` over a whole set, Frobenius norms, not squared (arXiv
    2506.05718, figures 4 to 7). A deviation is the mean of ``|f(X) - Y|`` over its entries: on a
    test set of the n unit vectors and a linear model, ``(1/n) ||a - a*||_1``, what figure 6 plots.
    Targets must be real.
    """

    def error(outputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        if not targets.is_floating_point():
            raise ValueError("relative_errors needs real targets, not labels; use accuracies")
        difference = outputs - targets
        ratio = (difference.square().sum() / targets.square().sum()).sqrt()
        return ratio, difference.abs().mean()

    def observe(view: Observed) -> Columns:
        train, train_mean = error(view.train_outputs, view.data["train_targets"])
        test, test_mean = error(view.test_outputs, view.data["test_targets"])
        return {
            "train_error": train,
            "test_error": test,
            "train_deviation": train_mean,
            "test_deviation": test_mean,
        }

    return observe
