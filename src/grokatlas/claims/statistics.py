"""Numbers read off the tables of a figure, one for each seed: what claims are made of.

A number that a run never reaches is infinite; one that a table does not hold is not a number.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

Tables = Mapping[str, pd.DataFrame]  # of a figure, by experiment
Points = list[dict[str, Any]]  # of published curves: panel, curve, x and y of each


def history(table: pd.DataFrame, **wanted: Hashable) -> pd.DataFrame:
    """The logged rows of the cells with these values, by seed and step.

    Args:
        table: of an experiment.
        wanted: columns and their values; a dot in a column's name is written ``__``.

    Raises:
        KeyError: the table has no such column.
    """
    return record(table, "history", **wanted)


def record(table: pd.DataFrame, name: str, **wanted: Hashable) -> pd.DataFrame:
    """The rows of a measure (or of the history), chosen and ordered as by `history`."""
    rows = table[table["record"] == name]
    for column, value in wanted.items():
        rows = rows[rows[column.replace("__", ".")] == value]
    return rows.sort_values([c for c in ("seed", "step") if c in rows], kind="stable")


def single(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Rows that `keys` tell apart.

    Raises:
        ValueError: two rows share them, as where members of a case differ in more than their seed.
    """
    twice = rows[rows.duplicated(keys, keep=False)]
    if twice.empty:
        return rows
    _, same = next(iter(twice.groupby(keys, dropna=False)))
    differ = [c for c in same if "." in c and same[c].nunique(dropna=False) > 1]
    where = ", ".join(f"{key} {same[key].iloc[0]!s}" for key in keys)
    said = f" (they differ in {', '.join(differ)}); make cases of them" if differ else ""
    raise ValueError(f"{len(same)} rows for {where}{said}")


def _parts(rows: pd.DataFrame, by: str) -> Iterator[pd.DataFrame]:
    """The rows of each seed (or other value), which its steps tell apart."""
    return (part for _, part in single(rows, [by, "step"]).groupby(by))


def first(
    rows: pd.DataFrame, column: str, level: float, *, below: bool = False, by: str = "seed"
) -> list[float]:
    """The first step at which a column reaches a level, for each seed; infinite for never.

    Args:
        rows: of one cell, from `history`.
        column: what is compared.
        level: the value to reach; reaching it exactly counts.
        below: whether to fall to the level instead of rising to it.
        by: the column whose values are told apart.
    """
    there = rows[column] <= level if below else rows[column] >= level
    rows = rows.assign(reached=rows["step"].where(there, np.inf))
    return [float(part["reached"].min()) for part in _parts(rows, by)]


def lasting(rows: pd.DataFrame, column: str, level: float, *, by: str = "seed") -> list[float]:
    """The logged step from which a column is at a level or above it to the end, for each seed.

    Infinite where the last value is below it or no number. What is reached and lost again does not
    count.
    """
    numbers = []
    for part in _parts(rows, by):
        lost = part.loc[~(part[column] >= level), "step"].max()  # not a number: there all along
        numbers.append(float(part.loc[~(part["step"] <= lost), "step"].min()))
    return [np.inf if np.isnan(step) else step for step in numbers]


def last(rows: pd.DataFrame, column: str, *, by: str = "seed") -> list[float]:
    """A column's value at the last step, for each seed."""
    return [float(part[column].iloc[-1]) for part in _parts(rows, by)]


def at(rows: pd.DataFrame, column: str, step: float, *, by: str = "seed") -> list[float]:
    """A column's value at the last logged step that is not after `step`, for each seed."""
    return last(rows[rows["step"] <= step], column, by=by)


def by_seed(rows: pd.DataFrame, values: list[float]) -> pd.Series:
    """Values of `first`, `last` or `at` for `rows`, by seed: cases then compare pair by pair."""
    return pd.Series(values, index=sorted(rows["seed"].unique()), dtype="float64")


def slope(x: pd.Series, y: pd.Series) -> float:
    """The exponent of a power law through points, by least squares of their logarithms."""
    good = np.isfinite(x) & np.isfinite(y) & (x > 0) & (y > 0)
    if x[good].nunique() < 2:
        return float("nan")
    return float(np.polyfit(np.log(x[good]), np.log(y[good]), 1)[0])


def beyond(value: float, draws: Sequence[float]) -> float:
    """The distance of a number from the range of some draws: 0 where it could be one of them.

    A draw that is never reached is infinite.
    """
    return max(min(draws) - value, value - max(draws), 0.0)


def times(rows: pd.DataFrame, column: str) -> list[float]:
    """A time that a measure holds, as its rows are ordered; infinite where it is missing there."""
    return [float(value) for value in rows[column].fillna(np.inf)]


def order(values: pd.Series, steps: pd.Series) -> float:
    """Spearman's correlation of a hyperparameter and the step at which something happens.

    A step that is never reached is infinite and ranks last. Of the values below the least one that
    reached it, only the largest counts: the others would come later still, in an unknown order.

    Returns:
        the correlation; not a number with fewer than three values, or if all steps are equal.
    """
    there = np.isfinite(steps)
    least = values[there].min()
    known = there | (values > least) | (values == values[values < least].max())
    if known.sum() < 3 or steps[known].nunique() < 2:
        return float("nan")
    return float(values[known].rank().corr(steps[known].rank()))
