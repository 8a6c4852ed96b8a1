"""Kinks of a function of one variable: those of a ReLU network's weights, and those of a curve."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables
from grokatlas.papers.two_timescales import _quantities

# Fixed before any kink was counted. Points of figure 3's curve are 0.0201 apart, and a kink between
# two of them bends the curve at both.
WIDTH = 0.025  # of the axis: kinks so near to each other are one, and their changes of slope add up
SHARE = 0.01  # of all changes of slope on the interval: what a kink that counts has at least
FITTED = 1.0  # t2 of figure 3: the fast phase is over
COLUMNS = ["lambda", "seed", "time", "place", "share"]


def counted(places: np.ndarray, changes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The kinks of a piecewise linear function that count: their places and shares, in order.

    The largest change of slope and all within `WIDTH` of it are one kink, which has the sum of
    these changes and the place of the largest; then the largest of those that are left, and so on.
    One that is less than `SHARE` of all these kinks (their sizes added) is left out.
    """
    left = changes != 0
    kinks: list[tuple[float, float]] = []
    for index in np.argsort(-np.abs(changes), kind="stable"):
        if left[index]:
            near = left & (np.abs(places - places[index]) <= WIDTH)
            kinks.append((places[index], abs(changes[near].sum())))
            left &= ~near
    centres, sizes = np.array(sorted(kinks)).reshape(-1, 2).T
    shares = sizes / max(sizes.sum(), np.finfo(float).tiny)
    return centres[shares >= SHARE], shares[shares >= SHARE]


def of_weights(history: pd.DataFrame) -> pd.DataFrame:
    """The kinks that count between the outermost training points, from the weights.

    The neuron ``a ReLU(w x + b)`` has a kink at ``-b / w`` with the change of slope ``a |w|``.
    """
    rows = history[(history["case"] == "fast") & (history["step"] > 0)].sort_values("step")
    columns = ("layers.0.weight", "layers.0.bias", "layers.1.weight")
    weight, bias, output = (_matrix(rows, f"parameters.{name}.") for name in columns)
    points = _matrix(rows, "task.points.")
    kinks_of_rows = []
    for index, row in enumerate(rows.to_dict("records")):
        with np.errstate(divide="ignore", invalid="ignore"):
            places, changes = -bias[index] / weight[index], output[index] * np.abs(weight[index])
        inside = (places >= points[index].min()) & (places <= points[index].max())
        if np.isfinite(changes).all():
            known = (2 * row[_quantities.DECAY], row["seed"], row["step"] * row["optimizer.lr"])
            kinks = counted(places[inside], changes[inside])
            kinks_of_rows += [(*known, *kink) for kink in zip(*kinks, strict=True)]
    return pd.DataFrame(kinks_of_rows, columns=COLUMNS, dtype=float)


def _matrix(rows: pd.DataFrame, prefix: str) -> np.ndarray:
    """Columns ``<prefix>0``, ``<prefix>1`` and so on, in this order ``[rows, columns]``."""
    number = sum(name.startswith(prefix) for name in rows)
    return rows[[f"{prefix}{place}" for place in range(number)]].to_numpy(float)


def numbers(kinks: pd.DataFrame) -> pd.DataFrame:
    """The number that counts: ``lambda``, ``seed``, ``time`` and ``kinks``."""
    keys = ["lambda", "seed", "time"]
    return kinks.groupby(keys).size().rename("kinks").reset_index()


def kinks_at_end(tables: Tables) -> list[float]:
    """The number of kinks at the end of the runs with the largest lambda, for each seed."""
    counts = _numbers(tables)
    most = counts[counts["lambda"] == counts["lambda"].max()]
    return [float(part["kinks"].iloc[-1]) for _, part in most.groupby("seed")]


def kinks_kept_without_decay(tables: Tables) -> list[float]:
    """Without weight decay their number at the end over that at `FITTED`, for each seed."""
    counts = _numbers(tables)
    free = counts[counts["lambda"] == 0]
    shares = []
    for _, part in free.groupby("seed"):
        early = part.loc[part["time"] <= FITTED * (1 + 1e-9), "kinks"]
        shares.append(part["kinks"].iloc[-1] / early.iloc[-1] if len(early) else np.nan)
    return shares


def _numbers(tables: Tables) -> pd.DataFrame:
    history = statistics.history(tables["theory_two_layer_relu"])
    return numbers(of_weights(history)).sort_values("time")


def kinks_of_curve(tables: Tables) -> list[float]:
    """The number of kinks of figure 3's final student between the outermost training points.

    Of a curve, the second differences over the distance of its points are the changes of slope.
    """
    rows = statistics.record(tables["two_layer_relu"], "predictor_curve")
    final = rows[rows["step"] == rows["step"].max()].sort_values(["seed", "input"])
    counts = []
    for _, part in final.groupby("seed"):
        points = part.loc[part["part"] == "train", "input"]
        curve = part[part["part"] == "test"]
        places = curve["input"].to_numpy()
        changes = np.diff(np.diff(curve["output"].to_numpy()) / np.diff(places))
        inside = (places[1:-1] >= points.min()) & (places[1:-1] <= points.max())
        counts.append(float(len(counted(places[1:-1][inside], changes[inside])[0])))
    return counts
