"""Plate 2: test errors over their plateau against slow time, and when they have fallen."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables

LEVEL = 0.1  # of the plateau: the test error has fallen
FITTED = 0.01  # of the training loss before training: the data are fitted
STARTS = ["parameters.factors.0", "parameters.factors.1"]
KEYS = ["problem", "optimizer", "weight", "instance"]


class Problem(NamedTuple):
    """An experiment: its name in the figure, and the columns of its weight, with their units."""

    name: str
    weights: dict[str, float]  # a row has one of these columns; times this it is the weight


L2 = {"penalties.0.weight": 2.0, "optimizer.weight_decay": 1.0}  # penalty l2 has no 1/2
PROBLEMS = {
    "slow_time_hyperbola": Problem("hyperbola, l2", L2),
    "slow_time_diagonal": Problem("diagonal network, l2", L2),
    "slow_time_factorisation": Problem("factorisation, l2", L2),
    "slow_time_relu": Problem("ReLU network, l2", L2),
    "slow_time_sparse": Problem(
        "sparse recovery, l1", {"dynamics.l1": 1.0, "penalties.0.weight": 1.0}
    ),
    "slow_time_nuclear": Problem(
        "matrix completion, nuclear", {"dynamics.weight": 1.0, "penalties.0.weight": 1.0}
    ),
}


def curves(tables: Tables) -> pd.DataFrame:
    """The test error over its plateau, a mean of squares, at every logged step of every member.

    The plateau is the error that the same instance ends with under the same optimizer without a
    regulariser; members whose control diverged have no rows. The ``train_loss`` is over that before
    training. The slow time ``tau`` is step times rate times weight, over the distance that is to go
    without regulariser where that is known (largest entry, or largest singular value).
    """
    parts = [_of(tables[name], name) for name in PROBLEMS if name in tables]
    return pd.concat(parts, ignore_index=True)


def _of(table: pd.DataFrame, name: str) -> pd.DataFrame:
    problem = PROBLEMS[name]
    rows = table[table["record"] == "history"]
    instance = ["seed", *(column for column in table if column.startswith("model.init."))]
    weights = [unit * rows[column] for column, unit in problem.weights.items() if column in rows]
    rates = [rows[column] for column in ("dynamics.rate", "optimizer.lr") if column in rows]
    frame = pd.DataFrame(
        {
            "problem": name,
            "optimizer": rows["case"].replace("", "gd"),
            "weight": _first(weights),
            "instance": rows.groupby(instance).ngroup(),
            "step": rows["step"],
            "error": _squared_error(rows),
            "train_loss": rows["train_loss"],
            "tau": rows["step"] * _first(rates) / _distance(table, rows),
        }
    )
    frame["tau"] *= frame["weight"]
    frame = frame.sort_values("step")
    ends = frame[frame["weight"] == 0].groupby(["optimizer", "instance"])["error"].last()
    plateaus = ends.rename("plateau").reset_index()
    frame = frame[frame["weight"] > 0].merge(plateaus, on=["optimizer", "instance"])
    frame["error"] /= frame.pop("plateau")
    frame["train_loss"] /= frame.groupby(["optimizer", "weight", "instance"])[
        "train_loss"
    ].transform("first")
    return frame


def _first(columns: list[pd.Series]) -> pd.Series:
    """Of several columns the first that has a number, row by row."""
    first = columns[0]
    for other in columns[1:]:
        first = first.fillna(other)
    return first


def _squared_error(rows: pd.DataFrame) -> pd.Series:
    """The test loss; of the hyperbola, the squared distance to the nearer point of least norm."""
    if STARTS[0] not in rows:
        return rows["test_loss"]
    far = [((rows[STARTS] - sign) ** 2).sum(axis=1, skipna=False) for sign in (1, -1)]
    return np.minimum(*far)


def _distance(table: pd.DataFrame, rows: pd.DataFrame) -> pd.Series | float:
    """The distance of the solution without regulariser from the truth, row by row, or 1."""
    truth = table[table["record"] == "truth"]
    if truth.empty:
        return 1.0
    known = truth.set_index(["run", "member"])["least_squares_distance"]
    keys = pd.MultiIndex.from_frame(rows[["run", "member"]])
    return pd.Series(known.reindex(keys).to_numpy(), index=rows.index)


def times(errors: pd.DataFrame) -> pd.DataFrame:
    """The steps at which the data are fitted and the test error has fallen, between logged steps.

    At ``t1`` the training loss comes to `FITTED` of its start, at ``t2`` the test error to `LEVEL`
    of its plateau, and ``tau`` is the slow time then; not a number for never. The rows are of
    `curves`.
    """
    rows = []
    for keys, part in errors.sort_values("step").groupby(KEYS):
        steps = part["step"].to_numpy(float)
        fitted = crossing(steps, part["train_loss"].to_numpy(float), FITTED)
        fallen = crossing(steps, part["error"].to_numpy(float), LEVEL)
        slow = part["tau"].iloc[-1] / steps[-1] if steps[-1] else np.nan
        rows.append((*keys, fitted, fallen, fallen * slow))
    return pd.DataFrame(rows, columns=[*KEYS, "t1", "t2", "tau"])


def crossing(steps: np.ndarray, errors: np.ndarray, level: float) -> float:
    """The step at which errors first come to a level, by interpolation in both logarithms.

    Not a number if they never do, or if they begin there.
    """
    there = np.flatnonzero(errors <= level)
    if not len(there) or there[0] == 0:
        return float("nan")
    before, after = there[0] - 1, there[0]
    if steps[before] == 0 or not np.isfinite(errors[before]):
        return float(steps[after])
    high, low = np.log(errors[before]), np.log(max(errors[after], np.finfo(float).tiny))
    share = (high - np.log(level)) / (high - low)
    return float(np.exp(np.interp(share, [0, 1], np.log(steps[[before, after]]))))


def exponent_of_slow_time(tables: Tables, problem: str, optimizer: str, time: str) -> list[float]:
    """The exponent of ``t1`` or ``t2`` against the weights that reach it, for each instance.

    Infinite where no weight reaches it, not a number where one alone does.
    """
    return [float(value) for value in _exponents(tables, problem, optimizer, time)]


def difference_of_slow_times(
    tables: Tables, problem: str, optimizer: str, other: str
) -> list[float]:
    """`exponent_of_slow_time` with an optimizer minus that with another, for each instance.

    Not a number for an instance that one of them lacks.
    """
    difference = _exponents(tables, problem, optimizer) - _exponents(tables, problem, other)
    return [float(value) for value in difference]


def _exponents(tables: Tables, problem: str, optimizer: str, time: str = "t2") -> pd.Series:
    """As of `exponent_of_slow_time`, by instance."""
    seen = times(curves({problem: tables[problem]}))
    parts = seen[seen["optimizer"] == optimizer].groupby("instance")
    exponents = {key: statistics.slope(part["weight"], part[time]) for key, part in parts}
    never = parts[time].count() == 0
    return pd.Series(exponents, dtype="float64").mask(never, np.inf)


def spread_of_slow_times(tables: Tables) -> list[float]:
    """By gradient descent the largest slow time at t2 over the least: medians of each problem."""
    seen = times(curves(tables))
    middle = seen[seen["optimizer"] == "gd"].groupby("problem")["tau"].median().dropna()
    return [float(middle.max() / middle.min()) if len(middle) == len(PROBLEMS) else np.nan]
