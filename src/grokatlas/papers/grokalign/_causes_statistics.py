"""Numbers of claims on alignment as a cause, and on how it goes along with training."""

import json

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _jacobians_statistics

METHODS = ("baseline", "adversarial", "grokalign")


def aligned_and_accurate(
    tables: Tables, experiment: str, alignment: str, outcome: str
) -> list[float]:
    """The correlation of alignment and accuracy at the same step, for each seed.

    It is the partial correlation of ranks, over all logged steps after the first and all cases of
    an experiment: of the size of an alignment and an outcome, given the step.

    Args:
        tables: of the figure.
        experiment: one of them.
        alignment: a column of its history.
        outcome: another one, such as an accuracy under noise.
    """
    rows = statistics.history(tables[experiment])
    rows = rows[rows["step"] > 0]
    rows = rows.assign(size=rows[alignment].abs())
    return [_partial(part, "size", outcome) for _, part in rows.groupby("seed")]


def rows_and_accuracy(tables: Tables, loss: str, of: str) -> list[float]:
    """The same of table 2: alignment of a Jacobian's rows and test accuracy, at nine budgets.

    Args:
        tables: of the table.
        loss: what its cases begin with.
        of: whose alignment is held against a method's accuracy: of the ``same`` method, or of the
            ``next`` one, which tells what the budget alone gives.
    """
    budgets = _budgets(tables["common_budget"], loss)
    if of == "next":
        turned = dict(zip(METHODS, (*METHODS[1:], METHODS[0]), strict=True))
        other = budgets.set_index(["seed", "step", "method"])["alignment"]
        keys = zip(budgets["seed"], budgets["step"], budgets["method"].map(turned), strict=True)
        budgets = budgets.assign(alignment=other.reindex(list(keys)).to_numpy())
    return [_partial(part, "alignment", "accuracy") for _, part in budgets.groupby("seed")]


def order_of_methods(tables: Tables, loss: str, step: int) -> list[float]:
    """Spearman's correlation of row alignment and test accuracy over methods at a budget."""
    budgets = _budgets(tables["common_budget"], loss)
    parts = budgets[budgets["step"] == step].groupby("seed")
    return [float(p["alignment"].corr(p["accuracy"], method="spearman")) for _, p in parts]


def _budgets(table: pd.DataFrame, loss: str) -> pd.DataFrame:
    """Row alignment and test accuracy at each snapshot: ``method``, ``seed``, ``step``, both.

    The accuracy is that of the last logged step that is not after the snapshot.
    """
    kept, history = statistics.record(table, "jacobian_rows"), statistics.history(table)
    records = []
    for method in METHODS:
        own = kept[(kept["case"] == f"{loss}_{method}") & (kept["step"] > 0)]
        log = history[history["case"] == f"{loss}_{method}"]
        for row in own.to_dict("records"):
            seen = log[(log["seed"] == row["seed"]) & (log["step"] <= row["step"])]
            (accuracy,) = statistics.last(seen, "test_accuracy")
            records.append((method, row["seed"], row["step"], row["row_alignment_max"], accuracy))
    return pd.DataFrame(records, columns=["method", "seed", "step", "alignment", "accuracy"])


def _partial(rows: pd.DataFrame, one: str, other: str) -> float:
    """The partial correlation of the ranks of two columns, given the step."""
    ranks = rows[[one, other, "step"]].rank().corr().to_numpy()
    left = (1 - ranks[0, 2] ** 2) * (1 - ranks[1, 2] ** 2)
    return float((ranks[0, 1] - ranks[0, 2] * ranks[1, 2]) / left**0.5) if left > 0 else np.nan


def end_over_extreme(tables: Tables, experiment: str, case: str, column: str) -> list[float]:
    """The last size of a column of the history over its largest one, for each seed."""
    rows = statistics.history(tables[experiment], case=case)
    parts = [part[column].abs() for _, part in rows.groupby("seed")]
    return [float(part.iloc[-1] / part.max()) for part in parts]


def end_over_its_value(
    tables: Tables, experiment: str, case: str, column: str, turning: str
) -> list[float]:
    """The last size of a column over that where another column is largest, for each seed."""
    rows = statistics.history(tables[experiment], case=case)
    numbers = []
    for _, part in rows.groupby("seed"):
        turn = part[column].abs().loc[part[turning].abs().idxmax()]
        numbers.append(float(part[column].abs().iloc[-1] / turn))
    return numbers


def largest(tables: Tables, experiment: str, case: str, column: str) -> list[float]:
    """The largest value of a column of the history, for each seed."""
    rows = statistics.history(tables[experiment], case=case)
    return [float(part[column].max()) for _, part in rows.groupby("seed")]


def alignment_gone(tables: Tables, case: str, first: str, last: str, level: float) -> list[float]:
    """The share of figure 4's way of alignment that is gone between two moments, for each seed.

    The way is that from the start to the end. A moment is the first logged step at which a column
    of the history reaches a level. A seed where one is never reached has no number.

    Args:
        tables: of the figure.
        case: of its experiment.
        first: the column of the earlier moment; ``start`` for the first step.
        last: that of the later one.
        level: of both.
    """
    rows = statistics.history(tables["xor"], case=case)
    numbers = []
    for _, part in rows.groupby("seed"):
        early, late = (_size_at(part, column, level) for column in (first, last))
        start, end = part["probe_alignment"].abs().iloc[[0, -1]]
        numbers.append((late - early) / (end - start) if end != start else np.nan)
    return numbers


def _size_at(rows: pd.DataFrame, column: str, level: float) -> float:
    """The size of alignment at a moment; not a number where it is never reached."""
    sizes = rows["probe_alignment"].abs()
    there = sizes if column == "start" else sizes[rows[column] >= level]
    return float(there.iloc[0]) if len(there) else np.nan


def centroid_over_jacobian(
    tables: Tables, case: str, moment: str, first: int, last: int
) -> list[float]:
    """The mean norm of a plane's centroids over that of the Jacobian there, for each plane.

    The Jacobian's norm (Frobenius) is that of the pixel of the region image that the point is in,
    which is known to three digits. Aligned rows that add up give 1, independent ones of one size
    about 1 too, rows that cancel 0.

    Args:
        tables: of the figure.
        case: of `regions`.
        moment: one at which the planes have images.
        first: plane.
        last: plane.
    """
    rows = _jacobians_statistics.regions(tables["regions"], case)
    numbers = []
    for plane in range(first, last + 1):
        part = rows[(rows["plane"] == plane) & (rows["moment"] == moment)]
        image = _image(part)
        if image is None:
            numbers.append(np.nan)
            continue
        slopes = part[part["item"] == "centroid"].sort_values("place")["entries"]
        norms = np.array([np.linalg.norm(json.loads(text)) for text in slopes])
        numbers.append(float((norms / image[1]).mean()))
    return numbers


def flatness(tables: Tables, case: str, moment: str, over: str) -> list[float]:
    """The flatness of the network at plane 0's points beside its surroundings, over that before.

    The Jacobian's norm at each of the three points over the median of the window, divided by the
    same at another moment.
    """
    rows = _jacobians_statistics.regions(tables["regions"], case)
    rows = rows[rows["plane"] == 0]
    images = (_image(rows[rows["moment"] == each]) for each in (moment, over))
    ratios = [at / np.median(window) for window, at in filter(None, images)]
    if len(ratios) < 2:
        return [np.nan] * 3
    late, early = ratios
    return [float(each) for each in late / early]


def _image(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray] | None:
    """The Jacobian's norms in a plane's window ``[lines, pixels]``, and at its three points."""
    lines = rows[rows["item"] == "line"].sort_values("place")
    if lines.empty:
        return None
    window = np.array([json.loads(text) for text in lines["entries"]])
    corners = [np.array(json.loads(text)) for text in lines["polygon"]]
    low, high = corners[0].min(axis=0), corners[-1].max(axis=0)
    inputs = rows[rows["item"] == "input"].sort_values("place")["polygon"]
    points = np.array([json.loads(text)[0] for text in inputs])
    sides = np.array(window.shape[::-1])
    places = ((points - low) / (high - low) * sides).astype(int).clip(0, sides - 1)
    return window, window[places[:, 1], places[:, 0]]
