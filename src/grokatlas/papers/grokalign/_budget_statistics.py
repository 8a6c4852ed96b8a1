"""Table 2 along a training: which budget gives a published row, and how near to it one comes."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables

LOSSES = ("ce", "mse")
METHODS = ("baseline", "grokalign", "adversarial")
CASES = tuple(f"{loss}_{method}" for loss in LOSSES for method in METHODS)
CELLS = {"test_accuracy": "accuracy", "row_alignment_min": "min", "row_alignment_max": "max"}
POINTS = 0.02  # tolerance of an accuracy
SHARE = 0.2  # tolerance of an alignment, of its published size
BUDGETS = 400  # between the first and the last snapshot, evenly in the logarithm of the step


def row(published: Mapping[str, str], case: str) -> dict[str, float]:
    """A published row by our columns, accuracy as a share of 1."""
    numbers = {
        column: float(published[f"{case}_{cell}"].removesuffix(" %"))
        for column, cell in CELLS.items()
    }
    return numbers | {"test_accuracy": numbers["test_accuracy"] / 100}


def trajectory(table: pd.DataFrame, case: str) -> pd.DataFrame:
    """Accuracy and row alignments of a case at every budget, for each seed.

    A budget is a number of updates. Between snapshots the alignments, and between logged steps the
    accuracies, go straight in the logarithm of the step.

    Args:
        table: of an experiment with the observable ``accuracies`` and, at several snapshots, the
            measure ``jacobian_rows``.
        case: one of its cases.

    Returns:
        ``seed``, ``step`` and the columns of `CELLS`; no row for a seed with less than two
        snapshots.
    """
    history = statistics.history(table, case=case)
    history = history[history["step"] > 0]
    parts = []
    kept = statistics.single(statistics.record(table, "jacobian_rows", case=case), ["seed", "step"])
    for seed, rows in kept[kept["step"] > 0].groupby("seed"):
        if len(rows) < 2:
            continue
        steps = np.geomspace(rows["step"].min(), rows["step"].max(), BUDGETS)
        own = history[history["seed"] == seed]
        columns = {"seed": seed, "step": steps}
        for column in CELLS:
            part = (own if column == "test_accuracy" else rows).dropna(subset=[column])
            places = np.log(part["step"].to_numpy(dtype=float))
            columns[column] = (
                np.interp(np.log(steps), places, part[column]) if len(part) else np.nan
            )
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["seed", "step"])


def distances(table: pd.DataFrame, case: str, published: Mapping[str, str]) -> pd.DataFrame:
    """The distance of a case from its published row at every budget, in units of the tolerance.

    The largest of three distances counts: of the accuracy over `POINTS`, of each alignment over
    `SHARE` of the published size. So a row is met where the distance is at most 1.

    Returns:
        ``seed``, ``step`` and ``distance``.
    """
    path = trajectory(table, case)
    if path.empty:
        return path.assign(distance=[])
    wanted = row(published, case)
    parts = []
    for column, value in wanted.items():
        tolerance = POINTS if column == "test_accuracy" else SHARE * abs(value)
        parts.append((path[column] - value).abs() / tolerance)
    return path[["seed", "step"]].assign(
        distance=pd.concat(parts, axis=1).max(axis=1, skipna=False)
    )


def passages(table: pd.DataFrame, published: Mapping[str, str]) -> pd.DataFrame:
    """The budget at which each case is nearest to its published row, for each seed.

    Returns:
        ``case``, ``seed``, ``step`` and ``distance`` (see `distances`).
    """
    parts = []
    for case in CASES:
        by_budget = distances(table, case, published).dropna()
        nearest = by_budget.loc[by_budget.groupby("seed")["distance"].idxmin()]
        parts.append(nearest.assign(case=case))
    return pd.concat(parts, ignore_index=True)[["case", "seed", "step", "distance"]]


def distance_from_row(tables: Tables, case: str, published: dict[str, str]) -> list[float]:
    """The least distance of a case from its published row, at its own best budget."""
    by_budget = distances(tables["common_budget"], case, published)
    return [float(each) for each in by_budget.groupby("seed")["distance"].min()]


def distance_at_one_budget(tables: Tables, published: dict[str, str]) -> list[float]:
    """The distance of all rows of table 2 from the published ones at one budget, the best for all.

    The largest distance of the six rows counts, at the budget where it is least, for each seed
    that all cases have.
    """
    parts = []
    for case in CASES:
        by_budget = distances(tables["common_budget"], case, published)
        parts.append(by_budget.set_index(["seed", "step"])["distance"].rename(case))
    both = pd.concat(parts, axis=1).dropna().max(axis=1)
    return [float(each) for each in both.groupby("seed").min()]
