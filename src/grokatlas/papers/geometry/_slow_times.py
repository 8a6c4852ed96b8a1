"""Slow time of `ridge`, and that at which test accuracy reaches a level."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics

ZERO_LOSS, RIDGE, TRAINING = "zero_loss", "ridge", "training"


def timed(table: pd.DataFrame) -> pd.DataFrame:
    """The history with ``slow_time`` and ``weight_decay`` (0 for equation 21)."""
    rows = statistics.history(table)
    trained = rows["case"] == TRAINING
    decay = np.where(trained, rows["penalties.0.weight"], rows["dynamics.weight_decay"])
    decay = pd.Series(decay, rows.index).where(rows["case"] != ZERO_LOSS, 0.0)
    rate = np.where(trained, 2 * rows["optimizer.lr"] * decay, rows["dynamics.rate"])
    return rows.assign(weight_decay=decay, slow_time=rate * rows["step"])


def reached(table: pd.DataFrame, level: float) -> pd.DataFrame:
    """The first slow time at which test accuracy is `level`, and that over equation 21's.

    One row for each ``case``, ``weight_decay`` and ``seed``, with ``time`` and ``ratio``; infinite
    where it is never reached, and not a number where equation 21 never reaches it.
    """
    rows = timed(table)
    rows = rows.assign(time=rows["slow_time"].where(rows["test_accuracy"] >= level, np.inf))
    times = rows.groupby(["case", "weight_decay", "seed"])["time"].min().reset_index()
    limit = times[times["case"] == ZERO_LOSS].set_index("seed")["time"]
    limit = limit.where(np.isfinite(limit))
    return times.assign(ratio=times["time"] / times["seed"].map(limit))
