"""Recovery times and best fits, for figures and claims."""

import math

import numpy as np
import pandas as pd

from grokatlas.claims import statistics

NORM = "dynamics.relative_norm"
RATE = "dynamics.rate"
POINTS = "task.train_points"
LARGEST_WEIGHT = 1e-2  # of a slope; with a larger one the training set is never fitted


def scaling(table: pd.DataFrame, weight: str, column: str) -> pd.DataFrame:
    """One row for each member: product, ``t2``, the ``error`` there, and whether it ran its course.

    Args:
        table: of an experiment with measures ``recovery_times`` and ``truth``.
        weight: the column of the regulariser's weight.
        column: of the history, to be read at t2.
    """
    history, times, truth = (
        table[table["record"] == name] for name in ("history", "recovery_times", "truth")
    )
    keys = ["case", "seed", RATE, weight]
    times = times[[*keys, "t2_settled", "final_test_error"]]
    seen = history[[*keys, "step", column]].rename(columns={"step": "t2_settled", column: "error"})
    truth = truth[[*keys, "least_squares_distance"]]
    ran = history.groupby(keys, as_index=False)["slow_time"].max()
    recoveries = times.merge(seen, how="left").merge(truth).merge(ran)
    recoveries["product"] = recoveries[RATE] * recoveries[weight]
    recoveries["complete"] = recoveries["slow_time"] >= history["train.stop.slow_time"].max()
    return recoveries.rename(columns={"t2_settled": "t2"})


def scaling_slope(rows: pd.DataFrame, weight: str, column: str) -> float:
    """Of a column of `scaling` against the product, over complete runs, largest weight left out."""
    used = rows[(rows[weight] <= LARGEST_WEIGHT) & rows["complete"]]
    return statistics.slope(used["product"], used[column])


def shares(table: pd.DataFrame) -> pd.Series:
    """The share of instances that are recovered (t2 is reached), by number of samples."""
    times = table[table["record"] == "recovery_times"]
    return times["t2"].notna().groupby(times[POINTS]).mean()


def l1_transition(features: int, nonzeros: int) -> float:
    """The number of Gaussian measurements that the least l1 norm needs for a sparse vector, about.

    It is the statistical dimension of the descent cone of the l1 norm at a vector with s of n
    entries, ``min_t s (1 + t^2) + (n - s) E max(|g| - t, 0)^2`` for a standard normal g.
    Source: Amelunxen, Lotz, McCoy and Tropp, Living on the edge (2014), proposition 4.5.
    """
    levels = np.linspace(0, 6, 6001)
    tails = np.array([math.erfc(level / 2**0.5) for level in levels])  # of |g|
    density = np.exp(-(levels**2) / 2) * (2 / np.pi) ** 0.5
    beyond = (1 + levels**2) * tails - levels * density
    return float((nonzeros * (1 + levels**2) + (features - nonzeros) * beyond).min())


def distances(history: pd.DataFrame) -> pd.DataFrame:
    """``|a - a*|_2`` by depth, instance and samples: the least of a run (min) and its last."""
    rows = history.sort_values("step")
    depth = rows["case"].str.extract(r"depth_(\d+)", expand=False).astype(int)
    rows = rows.assign(depth=depth, distance=np.sqrt(2 * rows["test_loss"]))
    groups = rows.groupby(["depth", "seed", POINTS])["distance"]
    return groups.agg(["min", "last"]).reset_index()


def best_fits(table: pd.DataFrame) -> pd.DataFrame:
    """Of networks at a fixed norm, the logged row of least training loss, by norm and seed."""
    history = table[table["record"] == "history"]
    return history.loc[history.groupby([NORM, "seed"])["train_loss"].idxmin()]


def depth_curve(depth: int) -> str:
    """The curve of a number of factors in what was read off the figure on depth."""
    return f"L = {depth}"


def rate_panel(rate: float) -> str:
    """The panel of a step size in what was read off a figure."""
    return f"rate {rate:g}"
