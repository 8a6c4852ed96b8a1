"""Accuracy on training points with a corrupted label, and on the others."""

import torch
from torch import Tensor

from grokatlas.engine.contracts import Columns, Observable
from grokatlas.engine.observed import Observed

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing

COLUMNS = {
    "uncorrupted_accuracy": "rises",
    "corrupted_accuracy": "rises",
    "recovered_accuracy": "rises",
}


def build() -> Observable:
    """Fractions in [0, 1] of training points, by the extras of `modular_operation`.

    ``uncorrupted_accuracy`` of the points whose label is not corrupted, on this label; of those
    whose label is, ``corrupted_accuracy`` on it and ``recovered_accuracy`` on the right one. Not a
    number where an output is not finite, or there are no such points. Source: Doshi et al., arXiv
    2310.13061.

    Raises:
        ValueError: the task does not say which labels are corrupted.
    """

    def observe(view: Observed) -> Columns:
        if "corrupted" not in view.extras:
            raise ValueError("corrupted_accuracies needs the task modular_operation")
        found = view.train_outputs.argmax(-1)
        wrong = view.extras["corrupted"].to(torch.bool)
        finite = view.train_outputs.isfinite().all()

        def share(right: Tensor, among: Tensor) -> Tensor:
            part = (right & among).sum().double() / among.sum()
            return torch.where(finite, part, torch.nan)

        given, true = view.data["train_targets"], view.extras["true_targets"]
        return {
            "uncorrupted_accuracy": share(found == given, ~wrong),
            "corrupted_accuracy": share(found == given, wrong),
            "recovered_accuracy": share(found == true, wrong),
        }

    return observe
