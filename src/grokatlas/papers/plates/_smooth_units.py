"""Plate 5 with smooth units: the flow beside training, and units that are held at their kinks."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates import _theories

TABLE = "smooth_theories"
SHARPNESS = "model.sharpness"
RELU = float("inf")  # the sharpness of a unit with a kink
AT_KINKS = "share_at_kinks"


def compared(tables: Tables) -> pd.DataFrame:
    """The flow of both layers beside training at equal rates, as `_theories.compared`.

    ``sharpness`` is that of the units, `RELU` for those of `addition_theories`.
    """
    tried = dict(list(tables[TABLE].groupby(SHARPNESS))) | {RELU: tables[_theories.TABLE]}
    rows = [_theories.compared(part).assign(sharpness=key) for key, part in tried.items()]
    both = pd.concat(rows, ignore_index=True)
    return both[(both["theory"] == "joint") & (both["regime"] == "equal")]


def at_kinks(tables: Tables) -> pd.DataFrame:
    """The history of preactivations at kinks, with ``sharpness`` and ``slow_time``."""
    rows = statistics.history(tables[TABLE])
    trained = 2 * rows[_theories.DECAY] * rows["optimizer.lr"]
    slow_time = rows["dynamics.rate"].fillna(trained) * rows["step"]
    sharpness = rows[SHARPNESS].fillna(RELU)
    return rows.assign(slow_time=slow_time, sharpness=sharpness)


def predicted_over_measured_smooth(
    tables: Tables, sharpness: float | str, weight_decay: float
) -> list[float]:
    """The slow time to a test accuracy of 0.9, predicted over measured, for each seed.

    Args:
        tables: of the figure.
        sharpness: of the units; ``relu`` for ReLU.
        weight_decay: of training.
    """
    rows = compared(tables)
    near = np.isclose(rows["weight_decay"], weight_decay, rtol=1e-6)
    rows = rows[near & (rows["sharpness"] == _number(sharpness))].sort_values("seed")
    return [float(value) for value in rows["quotient"]]


def share_at_kinks(
    tables: Tables, case: str, sharpness: float | str, slow_time: float
) -> list[float]:
    """The share of preactivations at kinks at a slow time, for each seed.

    Args:
        tables: of the figure.
        case: of the experiment.
        sharpness: of its units; ``relu`` for ReLU.
        slow_time: the last log up to it counts.
    """
    rows = at_kinks(tables)
    rows = rows[(rows["case"] == case) & (rows["sharpness"] == _number(sharpness))]
    rows = rows[rows["slow_time"] <= slow_time * (1 + 1e-9)]
    return [float(part[AT_KINKS].iloc[-1]) for _, part in rows.groupby("seed")]


def _number(sharpness: float | str) -> float:
    return RELU if sharpness == "relu" else float(sharpness)
