"""Accuracies of a quadratic network whose hidden units are taken away by their periodicity."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from grokatlas.engine.contracts import FinishedRun, Measure
from grokatlas.engine.rebuilt import RebuiltMember, restored

NEEDS = ["snapshots"]


def build() -> Measure[FinishedRun]:
    """Inverse participation ratios of hidden units, and accuracies without the first so many.

    Of a unit with the input weights u and v ``[p]`` of both operands and the output weights w
    ``[p]``, the ratio is the mean of ``sum_k |F_k|^4 / (sum_k |F_k|^2)^2`` over the three, with F
    the discrete Fourier transform for k = 0 ... floor(p / 2): 1 for one frequency. Source: Doshi et
    al., arXiv 2310.13061, with r = 2, and ``calculate_ipr`` of the authors' code, whose notebook
    averages the three in the same way.

    Returns:
        a function of a finished run, giving for each member, each snapshot ``step`` and each
        ``order`` (``low`` ratios first, or ``high``) a row for each unit: the number ``pruned`` of
        those before it, its ``ratio``, that of u alone as ``first_ratio``, and without those before
        it ``uncorrupted_accuracy``, ``corrupted_accuracy`` (of training points) and
        ``test_accuracy``.

    A run of another model than `quadratic_mlp`, or whose data say not which labels are corrupted,
    is refused with a `ValueError`.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        if run.spec["model"]["name"] != "quadratic_mlp" or "corrupted" not in run.data.extras:
            raise ValueError("pruning needs the model quadratic_mlp and task modular_operation")
        wrong = run.data.extras["corrupted"].astype(bool)
        rows = (
            _rows(each, torch.tensor(wrong[each.member] if run.data.per_member else wrong))
            for each in restored(run)
        )
        return pd.DataFrame([row for of_member in rows for row in of_member])

    return measure


def _rows(each: RebuiltMember, wrong: Tensor) -> Iterator[dict[str, Any]]:
    first, second = each.params["first"].double(), each.params["second"].double()
    all_ratios = _ratios(first, second)
    ratios = all_ratios.mean(0)
    with torch.no_grad():
        parts = {
            part: (each.data[f"{part}_inputs"].double().flatten(1) @ first.T).square()
            for part in ("train", "test")
        }
    for order in ("low", "high"):
        units = ratios.argsort(descending=order == "high")
        outputs = {part: hidden @ second.T for part, hidden in parts.items()}
        for pruned, unit in enumerate(units.tolist()):
            row = {"member": each.member, "step": each.step, "order": order, "pruned": pruned}
            row |= {"ratio": float(ratios[unit]), "first_ratio": float(all_ratios[0, unit])}
            yield row | _accuracies(each, outputs, wrong)
            for part, hidden in parts.items():
                outputs[part] -= hidden[:, unit, None] * second[:, unit]


def _ratios(first: Tensor, second: Tensor) -> Tensor:
    """The inverse participation ratios ``[3, H]`` of u, v and w of each unit."""
    modulus = len(second)
    weights = torch.stack([first[:, :modulus], first[:, modulus:], second.T])
    powers = torch.fft.rfft(weights, dim=2).abs().square()
    return powers.square().sum(2) / powers.sum(2).square()


def _accuracies(each: RebuiltMember, outputs: dict[str, Tensor], wrong: Tensor) -> dict[str, float]:
    right = outputs["train"].argmax(1) == each.data["train_targets"]
    test = outputs["test"].argmax(1) == each.data["test_targets"]
    parts = {"uncorrupted": right[~wrong], "corrupted": right[wrong], "test": test}
    return {f"{name}_accuracy": float(part.double().mean()) for name, part in parts.items()}
