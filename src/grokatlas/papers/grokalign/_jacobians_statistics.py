"""Numbers of figures of Jacobians and centroids: what they draw, and what claims on them read."""

import json
import re
from typing import Any

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables

SHARE = 0.1  # of a kernel's way to its extreme: where feature learning begins, and 1 - SHARE: ends


def learning(history: pd.DataFrame) -> tuple[float, float]:
    """The steps between which the kernel goes from 10 to 90 percent of the way to its extreme.

    The kernel is the median over seeds, its extreme the value farthest from the first. Not numbers
    where it never moves.
    """
    kernel = history.groupby("step")["ntk_mean"].median()
    way = (kernel - kernel.iloc[0]).abs()
    if not way.max() > 0:
        return np.nan, np.nan
    share = way / way.max()
    return float(share.index[share >= SHARE][0]), float(share.index[share >= 1 - SHARE][0])


def over_scales(table: pd.DataFrame, case: str, path: str) -> pd.DataFrame:
    """For each member: scale, first rate of the inner product, and its largest alignment.

    Args:
        table: an experiment with the observables ``ntk`` and ``centroid``.
        case: one of its cases.
        path: of the scale.
    """
    history = table[(table["record"] == "history") & (table["case"] == case)]
    records = []
    for (scale, seed), rows in history.groupby([path, "seed"]):
        first = rows.loc[rows["step"].idxmin()]
        extreme = rows.loc[rows["probe_alignment"].abs().idxmax(), "probe_alignment"]
        rate = first["optimizer.lr"] * first["ntk_residual_mean"]
        norm = first["centroid_reciprocal_norm_mean"]
        records.append((case, scale, seed, rate, norm, extreme))
    columns = ["case", "scale", "seed", "rate", "reciprocal_norm", "alignment"]
    return pd.DataFrame(records, columns=columns)


def amplitudes(history: pd.DataFrame) -> dict[str, float]:
    """Column of a noisy accuracy -> its noise, from the observable's own columns of the spec."""
    by_column = {}
    for column in history:
        named = re.fullmatch(r"observables\.\d+\.amplitudes\.(\d+)", column)
        if named:
            by_column[f"noisy_accuracy.{named[1]}"] = float(history[column].iloc[0])
    return dict(sorted(by_column.items(), key=lambda item: item[1]))


def regions(table: pd.DataFrame, case: str) -> pd.DataFrame:
    """The rows of the measure ``linear_regions`` of a case, of its first seed."""
    rows = table[(table["record"] == "linear_regions") & (table["case"] == case)]
    return rows[rows["seed"] == rows["seed"].min()]


def centroids(rows: pd.DataFrame) -> dict[str, Any]:
    """Inputs and centroids in a plane, the centroids first scaled to the length of their inputs.

    So a centroid that is aligned with its input falls on it, however long it is. One that vanishes
    has no point and no cosine: NaN.

    Args:
        rows: of one plane and moment, from `regions`.

    Returns:
        by ``place``: the points ``input`` and ``centroid`` in the plane, and the cosine of the two,
        ``alignment``.
    """
    parts = {
        part: rows[rows["item"] == part].sort_values("place") for part in ("input", "centroid")
    }
    seen = np.array([json.loads(text)[0] for text in parts["input"]["polygon"]])
    inputs, slopes = (
        np.array([json.loads(text) for text in part["entries"]]) for part in parts.values()
    )
    origin = inputs.mean(axis=0)
    axes = np.linalg.pinv(seen) @ (inputs - origin)  # inputs = origin + seen @ axes
    lengths = np.linalg.norm(inputs, axis=1), np.linalg.norm(slopes, axis=1)
    factors = np.divide(*lengths, out=np.full(len(seen), np.nan), where=lengths[1] > 0)
    scaled = (slopes * factors[:, None] - origin) @ axes.T
    cosines = (inputs * slopes).sum(axis=1) * factors / np.maximum(lengths[0] ** 2, 1e-300)
    return {"input": seen, "centroid": scaled, "alignment": cosines}


def last_images(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the measure ``centroid_images`` at the last step."""
    rows = table[table["record"] == "centroid_images"]
    return rows[rows["step"] == rows["step"].max()]


def cosines(tables: Tables, case: str, plane: int, moment: str) -> list[float]:
    """The cosine of input and centroid at a moment, for each of a plane's three points."""
    return _cosines(tables["regions"], case, plane, moment).tolist()


def rise_of_cosines(tables: Tables, case: str, plane: int, moment: str) -> list[float]:
    """By how much each of `cosines` rises from memorisation to a later moment."""
    moments = (moment, "memorisation")
    late, early = (_cosines(tables["regions"], case, plane, each) for each in moments)
    return (late - early).tolist()


def mean_cosines(tables: Tables, case: str, moment: str, first: int, last: int) -> list[float]:
    """The mean of `cosines` of a plane, for each plane from `first` to `last`."""
    planes = range(first, last + 1)
    return [float(_cosines(tables["regions"], case, plane, moment).mean()) for plane in planes]


def _cosines(table: pd.DataFrame, case: str, plane: int, moment: str) -> np.ndarray:
    """Of the three points of a plane; not numbers where the moment never came."""
    rows = regions(table, case)
    rows = rows[(rows["plane"] == plane) & (rows["moment"] == moment)]
    return centroids(rows)["alignment"] if len(rows) else np.full(3, np.nan)


def final(tables: Tables, experiment: str, record: str, column: str, case: str) -> list[float]:
    """A column of the history, or of a measure, at the last step of a case, for each seed."""
    rows = statistics.record(tables[experiment], record, case=case)
    return statistics.last(rows, column)


def final_ratio(
    tables: Tables, experiment: str, record: str, column: str, case: str, other: str
) -> list[float]:
    """The size of `final` in one case over that in another, seed by seed."""
    sizes = []
    for each in (case, other):
        rows = statistics.record(tables[experiment], record, case=each)
        sizes.append(statistics.by_seed(rows, statistics.last(rows, column)).abs())
    return (sizes[0] / sizes[1]).tolist()


def final_over_step(
    tables: Tables, experiment: str, record: str, column: str, case: str, step: int
) -> list[float]:
    """`final` over the value at a step, for each seed; not a number where that is 0."""
    rows = statistics.record(tables[experiment], record, case=case)
    end = statistics.by_seed(rows, statistics.last(rows, column))
    early = rows[rows["step"] <= step]
    before = statistics.by_seed(early, statistics.at(rows, column, step)).reindex(end.index)
    return (end / before.where(before != 0)).tolist()


def trend(tables: Tables, experiment: str, column: str, case: str) -> list[float]:
    """Spearman's correlation of step and a column of the history, from step 1, for each seed."""
    rows = statistics.history(tables[experiment], case=case)
    parts = rows[rows["step"] > 0].groupby("seed")
    return [float(part["step"].corr(part[column], method="spearman")) for _, part in parts]


def rank_one_share(tables: Tables, case: str, step: int) -> list[float]:
    """PC1 at a step under a common budget, for each seed."""
    rows = statistics.history(tables["common_budget"], case=case)
    return statistics.at(rows, "jacobian_pc1", step)


def start_of_learning(tables: Tables) -> list[float]:
    """The step at which the kernel has gone a tenth of its way, for each seed."""
    parts = statistics.history(tables["kernel"]).groupby("seed")
    return [learning(part)[0] for _, part in parts]


def change_while_learning(tables: Tables, column: str) -> list[float]:
    """The share of a column's way from its first to its last value that it goes with the kernel.

    That is between the steps of `learning`, for each seed.
    """
    numbers = []
    for _, part in statistics.history(tables["kernel"]).groupby("seed"):
        values = part.set_index("step")[column]
        early, late = values.reindex(learning(part))
        way = values.iloc[-1] - values.iloc[0]
        numbers.append(float((late - early) / way))
    return numbers


def extreme_alignments(
    tables: Tables, case: str, path: str, least: float, most: float
) -> list[float]:
    """The extreme alignment during training, for each seed and scale from `least` to `most`."""
    members = over_scales(tables["scales"], case, path)
    return members.loc[members["scale"].between(least, most), "alignment"].tolist()


def alignment_against_scale(tables: Tables, case: str, path: str) -> list[float]:
    """Spearman's correlation of a scale and the size of the extreme alignment, for each seed.

    Not a number where one of the two does not vary.
    """
    members = over_scales(tables["scales"], case, path)
    members = members.assign(size=members["alignment"].abs())
    numbers = []
    for _, part in members.groupby("seed"):
        known = part[["scale", "size"]].dropna()
        varies = known.nunique().min() > 1
        correlation = known["scale"].corr(known["size"], method="spearman") if varies else np.nan
        numbers.append(float(correlation))
    return numbers


def robust_from(tables: Tables, case: str, noise: float, level: float) -> list[float]:
    """The step from which accuracy under noise of an amplitude stays at least `level`."""
    return _robust_from(tables["xor"], case, noise, level).tolist()


def robust_from_ratio(tables: Tables, noise: float, level: float) -> list[float]:
    """`robust_from` with weight decay alone over that with GrokAlign, seed by seed."""
    cases = ("weight_decay", "grokalign")
    alone, own = (_robust_from(tables["xor"], case, noise, level) for case in cases)
    return (alone / own).tolist()


def robust_after_right(tables: Tables, case: str, noise: float, level: float) -> list[float]:
    """`robust_from` over the step from which clean test accuracy stays at least `level`."""
    rows = statistics.history(tables["xor"], case=case)
    right = statistics.by_seed(rows, statistics.lasting(rows, "test_accuracy", level))
    return (_robust_from(tables["xor"], case, noise, level) / right).tolist()


def probe_alignment_ratio(tables: Tables, step: int) -> list[float]:
    """The size of the first point's alignment at a step, GrokAlign over weight decay alone."""
    sizes = []
    for case in ("grokalign", "weight_decay"):
        rows = statistics.history(tables["xor"], case=case)
        sizes.append(statistics.by_seed(rows, statistics.at(rows, "probe_alignment", step)).abs())
    return (sizes[0] / sizes[1]).tolist()


def _robust_from(table: pd.DataFrame, case: str, noise: float, level: float) -> pd.Series:
    rows = statistics.history(table, case=case)
    columns = {amplitude: column for column, amplitude in amplitudes(table).items()}
    return statistics.by_seed(rows, statistics.lasting(rows, columns[noise], level))


def generalisation(tables: Tables, experiment: str, case: str) -> list[float]:
    """The step at which test accuracy reaches the level of ``grokking_times``, for each seed."""
    return _generalisation(tables[experiment], case).tolist()


def generalisation_ratio(tables: Tables, experiment: str, case: str, other: str) -> list[float]:
    """`generalisation` in one case over that in another; no number if neither generalises."""
    steps = [_generalisation(tables[experiment], each) for each in (case, other)]
    return (steps[0] / steps[1]).tolist()


def _generalisation(table: pd.DataFrame, case: str) -> pd.Series:
    rows = statistics.record(table, "grokking_times", case=case)
    return rows.set_index("seed")["t2"].fillna(np.inf)
