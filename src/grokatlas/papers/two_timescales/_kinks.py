"""Kinks of a function of one variable: those of a ReLU network's weights, and those of a curve."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from grokatlas.claims import readings
from grokatlas.papers.two_timescales import _quantities

# Fixed before any kink was counted. Points of figure 3's curve are 0.0201 apart, and a kink between
# two of them bends the curve at both.
WIDTH = 0.025  # of the axis: kinks so near to each other are one, and their changes of slope add up
SHARE = 0.01  # of all changes of slope on the interval: what a kink that counts has at least
FITTED = 1.0  # t2 of figure 3: the fast phase is over
COLUMNS = ["lambda", "seed", "time", "place", "share"]

Tables = Mapping[str, pd.DataFrame]


def counted(places: np.ndarray, changes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The kinks of a piecewise linear function that count.

    From the left, all kinks within `WIDTH` of the first of a group are one, whose change of slope
    is the sum of theirs. One that is less than `SHARE` of all these changes (their sizes added) is
    left out.

    Args:
        places: of kinks ``[K]``, on the axis of the variable.
        changes: of the slope there ``[K]``.

    Returns:
        places (of each group the mean, weighted by the sizes of the changes) and the shares of all
        changes, both ``[kinks that count]``, from left to right.
    """
    there = np.flatnonzero(changes)
    there = there[np.argsort(places[there], kind="stable")]
    places, changes = places[there], changes[there]
    groups, first = np.zeros(len(places), dtype=int), 0
    for index in range(1, len(places)):
        apart = places[index] - places[first] > WIDTH
        first = index if apart else first
        groups[index] = groups[index - 1] + apart
    sizes = np.abs(np.bincount(groups, changes)) if len(groups) else np.zeros(0)
    weights = np.bincount(groups, np.abs(changes)) if len(groups) else np.ones(0)
    centres = np.bincount(groups, np.abs(changes) * places) / weights if len(groups) else weights
    shares = sizes / max(sizes.sum(), np.finfo(float).tiny)
    return centres[shares >= SHARE], shares[shares >= SHARE]


def of_weights(history: pd.DataFrame) -> pd.DataFrame:
    """The kinks that count between the outermost training points, from the weights themselves.

    The neuron ``a ReLU(w x + b)`` has a kink at ``-b / w`` with the change of slope ``a |w|``.

    Args:
        history: rows of case ``fast`` of figure 3's problem, with the parameters.

    Returns:
        a row for each logged time after 0 and kink: ``lambda``, ``seed``, ``time``, ``place``,
        ``share``.
    """
    rows = history[(history["case"] == "fast") & (history["step"] > 0)].sort_values("step")
    columns = ("layers.0.weight", "layers.0.bias", "layers.1.weight")
    weight, bias, output = (_matrix(rows, f"parameters.{name}.") for name in columns)
    points = _matrix(rows, "task.points.")
    found = []
    for index, row in enumerate(rows.to_dict("records")):
        with np.errstate(divide="ignore", invalid="ignore"):
            places, changes = -bias[index] / weight[index], output[index] * np.abs(weight[index])
        inside = (places >= points[index].min()) & (places <= points[index].max())
        if np.isfinite(changes).all():
            known = (2 * row[_quantities.DECAY], row["seed"], row["step"] * row["optimizer.lr"])
            kinks = counted(places[inside], changes[inside])
            found += [(*known, *kink) for kink in zip(*kinks, strict=True)]
    return pd.DataFrame(found, columns=COLUMNS)


def _matrix(rows: pd.DataFrame, prefix: str) -> np.ndarray:
    """Columns ``<prefix>0``, ``<prefix>1`` and so on, in this order ``[rows, columns]``."""
    number = sum(name.startswith(prefix) for name in rows)
    return rows[[f"{prefix}{place}" for place in range(number)]].to_numpy(float)


def numbers(kinks: pd.DataFrame) -> pd.DataFrame:
    """How many count: ``lambda``, ``seed``, ``time`` and ``kinks``."""
    keys = ["lambda", "seed", "time"]
    return kinks.groupby(keys).size().rename("kinks").reset_index()


def kinks_at_end(tables: Tables) -> list[float]:
    """How many kinks count at the end of the runs with the largest lambda, for each seed."""
    found = _numbers(tables)
    most = found[found["lambda"] == found["lambda"].max()]
    return [float(part["kinks"].iloc[-1]) for _, part in most.groupby("seed")]


def kinks_kept_without_decay(tables: Tables) -> list[float]:
    """Without weight decay their number at the end over that at `FITTED`, for each seed."""
    found = _numbers(tables)
    free = found[found["lambda"] == 0]
    kept = []
    for _, part in free.groupby("seed"):
        early = part.loc[part["time"] <= FITTED * (1 + 1e-9), "kinks"]
        kept.append(part["kinks"].iloc[-1] / early.iloc[-1] if len(early) else np.nan)
    return kept


def _numbers(tables: Tables) -> pd.DataFrame:
    history = readings.history(tables["theory_two_layer_relu"])
    return numbers(of_weights(history)).sort_values("time")


def kinks_of_curve(tables: Tables) -> list[float]:
    """How many kinks of figure 3's final student count between the outermost training points.

    Of a curve, the second differences over the distance of its points are the changes of slope.
    """
    rows = readings.record(tables["two_layer_relu"], "predictor_curve")
    final = rows[rows["step"] == rows["step"].max()].sort_values(["seed", "input"])
    found = []
    for _, part in final.groupby("seed"):
        points = part.loc[part["part"] == "train", "input"]
        curve = part[part["part"] == "test"]
        places = curve["input"].to_numpy()
        changes = np.diff(np.diff(curve["output"].to_numpy()) / np.diff(places))
        inside = (places[1:-1] >= points.min()) & (places[1:-1] <= points.max())
        found.append(float(len(counted(places[1:-1][inside], changes[inside])[0])))
    return found
