"""Restricted and excluded loss of modular addition."""

import math
from typing import Any

import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional

from grokatlas.engine.contracts import FinishedRun, Measure
from grokatlas.engine.keyword_types import Unit
from grokatlas.engine.rebuilt import RebuiltMember, restored

NEEDS = ["snapshots"]


def build(*, least_share: Unit) -> Measure[FinishedRun]:
    """Losses of logits of which the key frequencies alone are kept, or left out.

    With L ``[p^2, C]`` the logits of all ordered pairs (a, b) and W_k ``[p^2, 2]`` the unit vectors
    along cos(2 pi k (a + b) / p) and sin(2 pi k (a + b) / p), ``K = sum_k W_k W_k^T L`` over the
    key frequencies. The restricted loss is the cross-entropy of ``K + mean(L - K)`` on all pairs,
    with the mean over pairs; the excluded loss that of ``L - K`` on the training pairs. Source:
    Nanda et al., arXiv 2301.05217, section 5.1, and ``helpers.py`` of the authors' code.

    Args:
        least_share: a frequency k is key if ``|W_k^T L|^2`` is at least this share of the squared
            norm of L without its mean, at the member's last snapshot.

    Returns:
        a function of a finished run, giving one row for each member and snapshot ``step``:
        ``restricted_loss``, ``excluded_loss``, the number of ``keys`` and ``explained``, their
        share of that squared norm at this step.

    A run on another task than `modular_addition`, of tokens, is refused with a `ValueError`.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        task = run.spec["task"]
        if task["name"] != "modular_addition" or not task["encoding"].startswith("tokens"):
            raise ValueError("fourier_losses needs the task modular_addition, encoding tokens")
        waves = _waves(int(task["modulus"]))
        every = list(restored(run))
        last = {each.member: each for each in every}  # in order of steps
        keys = {
            member: _shares(_logits(each, waves), waves) >= least_share
            for member, each in last.items()
        }
        return pd.DataFrame([_row(each, waves, keys[each.member]) for each in every])

    return measure


def _waves(modulus: int) -> Tensor:
    """W ``[(p - 1) / 2, p^2, 2]``: cosine and sine of each frequency along a + b."""
    first, second = _pairs(modulus).T
    frequencies = torch.arange(1, (modulus - 1) // 2 + 1)
    angles = 2 * math.pi / modulus * (frequencies[:, None] * (first + second)).double()
    return torch.stack([angles.cos(), angles.sin()], 2) * math.sqrt(2) / modulus


def _pairs(modulus: int) -> Tensor:
    return torch.cartesian_prod(torch.arange(modulus), torch.arange(modulus))


def _logits(each: RebuiltMember, waves: Tensor) -> Tensor:
    """L ``[p^2, p]`` in float64, without the output of the sign ``=``."""
    modulus = math.isqrt(waves.shape[1])
    pairs = _pairs(modulus)
    if each.data["train_inputs"].shape[1] == 3:
        pairs = functional.pad(pairs, (0, 1), value=modulus)
    with torch.no_grad():
        return each.outputs(pairs)[:, :modulus].double()


def _shares(logits: Tensor, waves: Tensor) -> Tensor:
    """The share of each frequency ``[(p - 1) / 2]`` of the logits' variance."""
    whole = (logits - logits.mean(0)).square().sum()
    return (waves.transpose(1, 2) @ logits).square().sum((1, 2)) / whole


def _row(each: RebuiltMember, waves: Tensor, keys: Tensor) -> dict[str, Any]:
    logits = _logits(each, waves)
    modulus = logits.shape[1]
    chosen = waves[keys].permute(1, 0, 2).flatten(1)  # [p^2, 2 keys]
    kept = chosen @ (chosen.T @ logits)
    first, second = _pairs(modulus).T
    labels = (first + second) % modulus
    train = each.data["train_inputs"]
    places = train[:, 0] * modulus + train[:, 1]
    rest = logits - kept
    return {
        "member": each.member,
        "step": each.step,
        "restricted_loss": float(functional.cross_entropy(kept + rest.mean(0), labels)),
        "excluded_loss": float(functional.cross_entropy(rest[places], labels[places])),
        "keys": int(keys.sum()),
        "explained": float(_shares(logits, waves)[keys].sum()),
    }
