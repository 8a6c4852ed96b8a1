"""Numbers of the paper's statements, each from the tables of one figure, one for each run.

Those of modular addition and of students are imported.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.papers.beyond_l2 import _quantities
from grokatlas.papers.beyond_l2._addition_numbers import (
    addition_at,
    addition_peak,
    addition_peak_step,
    addition_time,
    distance_from_points,
    distance_of_halves,
    distance_of_peak,
    distance_of_times,
    first_perfect,
    norm_after_memorisation,
    order_of_generalisation,
    regularised_time,
)
from grokatlas.papers.beyond_l2._rescaling import (
    distance_at_end,
    distance_before_transition,
    distance_from_hypentropy,
    exponent_of_weight,
    final_norm_over_least,
    slope_of_transition,
    spread_on_orbit,
)
from grokatlas.papers.beyond_l2._student_numbers import (
    distance_of_plateaus,
    factor_of_falls,
    fall_of_students,
    order_of_students,
)

PUBLISHED = 1  # the seed of the published instance of sparse recovery
SHARE = "task.leverage_share"
KEPT = 0.01  # of the largest singular value: what a larger one is counted for
WEIGHTS = {  # the column of the regulariser's weight, by experiment
    "sparse_scaling": "dynamics.l1",
    "matrix_scaling": "dynamics.weight",
}
ERRORS = {"sparse_scaling": "test_deviation", "matrix_scaling": "nuclear_distance"}

Tables = Mapping[str, pd.DataFrame]


def training_loss_of_small_norms(tables: Tables) -> list[float]:
    """The training loss of figure 2 at the initial norm over that at the least one, by seed."""
    found = []
    for _, part in _quantities.best_fits(tables["fixed_norm"]).groupby("seed"):
        loss = part.set_index(_quantities.NORM)["train_loss"].sort_index()
        found.append(float(loss[:1.0].iloc[-1] / loss.iloc[0]))
    return found


def test_loss_of_outer_norms(tables: Tables) -> list[float]:
    """The lower test loss of the least and the largest norm of figure 2 over the least, by seed."""
    found = []
    for _, part in _quantities.best_fits(tables["fixed_norm"]).groupby("seed"):
        loss = part.set_index(_quantities.NORM)["test_loss"].sort_index()
        found.append(float(min(loss.iloc[0], loss.iloc[-1]) / loss.min()))
    return found


def ridge_time(tables: Tables, time: str) -> list[float]:
    """``t1`` or ``t2`` of figure 4."""
    return statistics.times(statistics.record(tables["ridge_recovery"], "recovery_times"), time)


def ridge_at(tables: Tables, column: str, step: int) -> list[float]:
    """A column of figure 4 at a step."""
    return statistics.at(statistics.history(tables["ridge_recovery"]), column, step)


def ridge_fall(tables: Tables, plateau: int) -> list[float]:
    """The first step of figure 4 at which the test error is at most half that at `plateau`."""
    rows = statistics.history(tables["ridge_recovery"])
    levels = statistics.at(rows, "test_error", plateau)
    return [statistics.first(rows, "test_error", level / 2, below=True)[0] for level in levels]


def error_over_bound(tables: Tables, experiment: str, error: str, bound: str) -> list[float]:
    """The largest quotient of an error and its bound after the first step, for each instance."""
    keys = ["seed", "step"]
    bounds = statistics.record(tables[experiment], "descent_bounds")[[*keys, bound]]
    rows = statistics.history(tables[experiment])[[*keys, error]].merge(bounds, on=keys)
    quotient = (rows[error] / rows[bound])[rows["step"] > 0]
    return [float(value) for value in quotient.groupby(rows["seed"]).max()]


def final_error_over_bound(tables: Tables, experiment: str, error: str, bound: str) -> list[float]:
    """The quotient of an error and its bound at the last step, for each instance."""
    last = tables[experiment]["step"].max()
    rows = tables[experiment][tables[experiment]["step"] == last]
    return error_over_bound({experiment: rows}, experiment, error, bound)


def sparse_time(tables: Tables, time: str) -> list[float]:
    """``t1`` or ``t2`` of figure 5 on the published instance."""
    return statistics.times(_sparse(tables, "recovery_times"), time)


def sparse_times(tables: Tables, time: str) -> list[float]:
    """``t1`` or ``t2`` of figure 5, for each instance."""
    return statistics.times(statistics.record(tables["sparse_recovery"], "recovery_times"), time)


def spread_of_sparse_times(tables: Tables) -> list[float]:
    """The largest t2 of figure 5 over the least, over the instances that are recovered."""
    times = np.array(sparse_times(tables, "t2"))
    there = times[np.isfinite(times)]
    return [float(there.max() / there.min())] if len(there) > 1 else [np.nan]


def sparse_at(tables: Tables, column: str, step: int) -> list[float]:
    """A column of figure 5 at a step, on the published instance."""
    return statistics.at(_sparse(tables, "history"), column, step)


def sparse_truth_norm(tables: Tables) -> list[float]:
    """The l1 norm of the published a*."""
    return [float(value) for value in _sparse(tables, "truth")["truth_l1_norm"]]


def sparse_final_norm(tables: Tables) -> list[float]:
    """The l1 norm of a at the end of figure 5, on the published instance."""
    return statistics.last(_sparse(tables, "history"), "l1_norm")


def sparse_ratio(tables: Tables, phase: str) -> list[float]:
    """The gradient ratio of figure 5 on the published instance.

    Args:
        tables: of figure 5.
        phase: ``plateau``, its largest value from 10 t1 to t2, or ``after``, its median from t2 on.
    """
    rows = _sparse(tables, "history")
    step, ratio = rows["step"], rows["gradient_ratio"]
    found = []
    for t1, t2 in zip(sparse_time(tables, "t1"), sparse_time(tables, "t2"), strict=True):
        during, after = ratio[step.between(10 * t1, t2)], ratio[step >= t2]
        found.append(float(during.max() if phase == "plateau" else after.median()))
    return found


def scaling_slope(tables: Tables, experiment: str, column: str) -> list[float]:
    """The exponent of ``t2``, or of the ``error`` there, against step size times weight.

    For each instance, the published grid's first, over the runs that were not cut short and weights
    up to 1e-2.
    """
    weight = WEIGHTS[experiment]
    found = _quantities.scaling(tables[experiment], weight, ERRORS[experiment])
    own = found["case"] == "published"
    instances = [found[own], *(rows for _, rows in found[~own].groupby("seed"))]
    return [_quantities.scaling_slope(rows, weight, column) for rows in instances]


def scaled_time(tables: Tables, experiment: str, weight: float) -> list[float]:
    """t2 alpha beta, for each complete pair of the published grid with a weight up to `weight`."""
    found = _complete(tables, experiment, weight)
    return [float(value) for value in found["t2"] * found["product"]]


def share_of_scaled_times(
    tables: Tables, experiment: str, weight: float, level: float
) -> list[float]:
    """The share of instances whose t2 alpha beta is below a level.

    Of each instance the median over its complete pairs with a weight up to `weight` counts.
    """
    found = _quantities.scaling(tables[experiment], WEIGHTS[experiment], ERRORS[experiment])
    found = found[found["complete"] & (found[WEIGHTS[experiment]] <= weight)]
    scaled = (found["t2"] * found["product"]).groupby(found["seed"]).median()
    return [float((scaled < level).mean())] if len(scaled) else []


def scaled_time_over_distance(tables: Tables, experiment: str, weight: float) -> list[float]:
    """`scaled_time` over the distance of the least squares solution, for each pair."""
    found = _complete(tables, experiment, weight)
    constant = found["t2"] * found["product"] / found["least_squares_distance"]
    return [float(value) for value in constant]


def final_error_over_weight(tables: Tables, weight: float) -> list[float]:
    """The final relative error of figure 7 over its weight, for weights up to `weight`."""
    found = _complete(tables, "sparse_scaling", weight)
    return [float(value) for value in found["final_test_error"] / found[WEIGHTS["sparse_scaling"]]]


def memorisation_times(tables: Tables, weight: float) -> list[float]:
    """t1 of figure 7 with one weight, for each step size."""
    keywords = {"case": "published", "dynamics__l1": weight}
    rows = statistics.record(tables["sparse_scaling"], "recovery_times", **keywords)
    return statistics.times(rows, "t1")


def matrix_time(tables: Tables, case: str, weight: float, time: str) -> list[float]:
    """``t1`` or ``t2`` of figure 5 for matrices in one setting."""
    return statistics.times(_matrix(tables, "recovery_times", case, weight), time)


def matrix_at(tables: Tables, case: str, weight: float, column: str, step: int) -> list[float]:
    """A column of figure 5 for matrices at a step, in one setting."""
    return statistics.at(_matrix(tables, "history", case, weight), column, step)


def share_of_plateaus(tables: Tables, level: float, step: int) -> list[float]:
    """The share of instances of figure 5 for matrices with a test error below a level at a step."""
    rows = statistics.history(tables["matrix_recovery"], case="instances")
    values = np.array(statistics.at(rows, "test_error", step)) if len(rows) else np.array([])
    return [float((values < level).mean())] if len(values) else []


def singular_values_kept(tables: Tables) -> list[float]:
    """How many singular values are above `KEPT` of the largest at the end, for each setting."""
    rows = statistics.history(tables["matrix_recovery"])
    rows = rows[rows["case"] != "instances"]  # which end on the plateau
    final = rows.groupby(["case", "dynamics.weight"]).tail(1)
    named = [column for column in rows if column.startswith("singular_values.")]
    values = final[named].to_numpy()
    return [float(count) for count in (values > KEPT * values.max(axis=1, keepdims=True)).sum(1)]


def full_selection(tables: Tables) -> list[float]:
    """t2 with tau = 1 over the least t2 with any other tau, for each instance."""
    return [
        float(times[1.0] / times.drop(1.0).min()) if np.isfinite(times[1.0]) else np.inf
        for times in _selected(tables, 1.0)
    ]


def no_selection(tables: Tables) -> list[float]:
    """The largest t2 with any tau above 0 over t2 with tau = 0, for each instance.

    It is 0 where tau = 0 never recovers the matrix.
    """
    return [
        float(times.drop(0.0).max() / times[0.0]) if np.isfinite(times[0.0]) else 0.0
        for times in _selected(tables, 0.0)
    ]


def order_of_selection(tables: Tables) -> list[float]:
    """Spearman's correlation of tau and t2, for each instance; a t2 never reached ranks last."""
    return [
        float(np.corrcoef(times.index.to_series().rank(), times.rank())[0, 1])
        for times in _selected(tables)
        if times.nunique() > 1
    ]


def share_recovered(tables: Tables, experiment: str, points: int) -> list[float]:
    """The share of instances that are recovered from so many samples."""
    shares = _quantities.shares(tables[experiment])
    return [float(shares[points])] if points in shares.index else []


def half_recovered(tables: Tables) -> list[float]:
    """The number of measurements from which half of the instances are recovered, over theory's.

    Interpolated between the last number with less than half and the next one; infinite where it is
    never half, not a number where it always is.
    """
    table = tables["sparse_samples"]
    shares = _quantities.shares(table)
    if shares.empty:
        return []
    sizes = (int(table[f"task.{name}"].max()) for name in ("features", "nonzeros"))
    less = shares.index[shares < 0.5]
    if less.empty or less.max() == shares.index.max():
        return [float("nan") if less.empty else float("inf")]
    two = shares[shares.index >= less.max()].iloc[:2]
    points = np.interp(0.5, two, two.index)
    return [float(points / _quantities.l1_transition(*sizes))]


def share_by_depth(
    tables: Tables, depth: int, points: int, moment: Literal["last", "min"]
) -> list[float]:
    """The share of instances that come nearer to a* with so many factors than with one.

    By the distance of the last step, or the least of each run, as published (chosen with knowledge
    of a*).
    """
    found = _quantities.distances(statistics.history(tables["depth"]))
    kept = found[found[_quantities.POINTS] == points].set_index(["depth", "seed"])[moment]
    if not {1, depth} <= set(kept.index.get_level_values("depth")):
        return []
    return [float((kept[depth] <= kept[1]).mean())]


def distance_of_depths(tables: Tables, digitised_points: list[dict[str, Any]]) -> list[float]:
    """How far the least distances to a* are from the published ones, on the published instance.

    It is the largest relative distance over the points that were read off.
    """
    found = _quantities.distances(tables["depth"].query("record == 'history'"))
    own = found[found["seed"] == PUBLISHED]
    curves = own["depth"].map(_quantities.depth_curve)
    ours = own.assign(curve=curves).set_index(["curve", _quantities.POINTS])["min"]
    wanted = [((each["curve"], each["x"]), each["y"]) for each in digitised_points]
    if not all(place in ours.index for place, _ in wanted):
        return []
    return [float(max(abs(ours[place] / height - 1) for place, height in wanted))]


def _sparse(tables: Tables, name: str) -> pd.DataFrame:
    return statistics.record(tables["sparse_recovery"], name, seed=PUBLISHED)


def _matrix(tables: Tables, name: str, case: str, weight: float) -> pd.DataFrame:
    keywords = {"case": case, "dynamics__weight": weight}
    return statistics.record(tables["matrix_recovery"], name, **keywords)


def _grid(tables: Tables, experiment: str) -> pd.DataFrame:
    table = tables[experiment]
    found = _quantities.scaling(table, WEIGHTS[experiment], ERRORS[experiment])
    return found[found["case"] == "published"]


def _complete(tables: Tables, experiment: str, weight: float) -> pd.DataFrame:
    found = _grid(tables, experiment)
    return found[found["complete"] & (found[WEIGHTS[experiment]] <= weight)]


def _selected(tables: Tables, share: float | None = None) -> list[pd.Series]:
    """t2 by tau, for each instance with that `share`; infinite where never reached."""
    rows = statistics.record(tables["data_selection"], "recovery_times")
    rows = rows.assign(t2=statistics.times(rows, "t2"))
    found = [part.set_index(SHARE)["t2"].sort_index() for _, part in rows.groupby("seed")]
    return [times for times in found if share is None or share in times.index]
