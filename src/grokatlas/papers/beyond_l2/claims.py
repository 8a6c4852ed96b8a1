"""Numbers of the paper's statements, each from the tables of one figure, one for each run.

Those of modular addition, of students, of rescaled starts and of pairs of step size and weight are
imported, and so are the controls.
"""

from typing import Literal

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Points, Tables
from grokatlas.papers.beyond_l2 import _quantities
from grokatlas.papers.beyond_l2._addition_numbers import *
from grokatlas.papers.beyond_l2._controls import *
from grokatlas.papers.beyond_l2._rescaling import *
from grokatlas.papers.beyond_l2._scaling_numbers import *
from grokatlas.papers.beyond_l2._student_numbers import *

PUBLISHED = 1  # the seed of the published instance of sparse recovery
SHARE = "task.leverage_share"
KEPT = 0.01  # of the largest singular value: what a larger one is counted for


def loss_of_large_norms(tables: Tables, column: str) -> list[float]:
    """The largest loss of figure 2 from the initial norm on over that at the least norm, by seed.

    It is small where the loss is an L, and not where it is a U.
    """
    numbers = []
    for _, part in _quantities.best_fits(tables["fixed_norm"]).groupby("seed"):
        loss = part.set_index(_quantities.NORM)[column].sort_index()
        numbers.append(float(loss[1.0:].max() / loss.iloc[0]))
    return numbers


def least_loss(tables: Tables, column: str, norm: float) -> list[float]:
    """The least loss of figure 2 from a norm on over that at the first norm from there, by seed.

    It is 1 where the loss only rises.
    """
    numbers = []
    for _, part in _quantities.best_fits(tables["fixed_norm"]).groupby("seed"):
        loss = part.set_index(_quantities.NORM)[column].sort_index()[norm:]
        numbers.append(float(loss.min() / loss.iloc[0]) if len(loss) else float("nan"))
    return numbers


def recovery_time(
    tables: Tables, experiment: str, instance: int | Literal["all"], time: str
) -> list[float]:
    """``t1`` or ``t2`` of figure 4 or 5, on one instance (its seed) or for each."""
    return statistics.times(_recovery(tables, experiment, "recovery_times", instance), time)


def recovery_at(
    tables: Tables, experiment: str, instance: int | Literal["all"], column: str, step: int
) -> list[float]:
    """A column of figure 4 or 5 at a step, on one instance (its seed) or for each."""
    return statistics.at(_recovery(tables, experiment, "history", instance), column, step)


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


def spread_of_sparse_times(tables: Tables) -> list[float]:
    """The largest t2 of figure 5 over the least, over the instances that are recovered."""
    return _spread(np.array(recovery_time(tables, "sparse_recovery", "all", "t2")))


def spread_of_delays(tables: Tables, over: str) -> list[float]:
    """The largest t2 - t1 of figure 5, divided by a column of the truth, over the least.

    Args:
        tables: of figure 5.
        over: ``least_squares_distance``, the largest error of the least squares solution, or a
            column that all instances share.
    """
    rows = statistics.record(tables["sparse_recovery"], "recovery_times")
    truth = statistics.record(tables["sparse_recovery"], "truth").set_index("seed")
    return _spread(((rows["t2"] - rows["t1"]) / rows["seed"].map(truth[over])).to_numpy())


def sparse_truth_norm(tables: Tables) -> list[float]:
    """The l1 norm of the published a*."""
    rows = _recovery(tables, "sparse_recovery", "truth", PUBLISHED)
    return [float(value) for value in rows["truth_l1_norm"]]


def sparse_ratio(tables: Tables, phase: str) -> list[float]:
    """The gradient ratio of figure 5 on the published instance.

    Args:
        tables: of figure 5.
        phase: ``plateau``, its largest value from 10 t1 to t2, or ``after``, its median from t2 on.
    """
    rows = _recovery(tables, "sparse_recovery", "history", PUBLISHED)
    step, ratio = rows["step"], rows["gradient_ratio"]
    times = [recovery_time(tables, "sparse_recovery", PUBLISHED, time) for time in ("t1", "t2")]
    numbers = []
    for t1, t2 in zip(*times, strict=True):
        during, after = ratio[step.between(10 * t1, t2)], ratio[step >= t2]
        numbers.append(float(during.max() if phase == "plateau" else after.median()))
    return numbers


def matrix_time(tables: Tables, case: str, weight: float, time: str) -> list[float]:
    """``t1`` or ``t2`` of figure 5 for matrices in one setting."""
    return statistics.times(_matrix(tables, "recovery_times", case, weight), time)


def matrix_at(tables: Tables, case: str, weight: float, column: str, step: int) -> list[float]:
    """A column of figure 5 for matrices at a step, in one setting."""
    return statistics.at(_matrix(tables, "history", case, weight), column, step)


def matrix_norm_over_truth(tables: Tables, case: str, weight: float, step: int) -> list[float]:
    """The nuclear norm of A at a step of figure 5 for matrices over that of A*."""
    norms = matrix_at(tables, case, weight, "nuclear_norm", step)
    truth = _matrix(tables, "truth", case, weight)["truth_nuclear_norm"]
    return [float(norm / own) for norm, own in zip(norms, truth, strict=True)]


def share_of_plateaus(tables: Tables, level: float, step: int) -> list[float]:
    """The share of instances of figure 5 for matrices with a test error below a level at a step."""
    rows = statistics.history(tables["matrix_recovery"], case="instances")
    values = np.array(statistics.at(rows, "test_error", step)) if len(rows) else np.array([])
    return [float((values < level).mean())] if len(values) else []


def singular_values_kept(tables: Tables) -> list[float]:
    """The number of singular values above `KEPT` of the largest at the end, for each setting."""
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


def completed_by_few(tables: Tables, share: float, slow_time: float) -> list[float]:
    """The number of shares tau up to one that are completed by a slow time, for each instance."""
    rows = statistics.record(tables["data_selection"], "recovery_times")
    rows = rows[rows[SHARE] <= share]
    slow = rows["t2"] * rows["dynamics.rate"] * rows["dynamics.weight"]
    return [float(value) for value in (slow <= slow_time).groupby(rows["seed"]).sum()]


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
    distances = _quantities.distances(statistics.history(tables["depth"]))
    kept = distances[distances[_quantities.POINTS] == points].set_index(["depth", "seed"])[moment]
    if not {1, depth} <= set(kept.index.get_level_values("depth")):
        return []
    return [float((kept[depth] <= kept[1]).mean())]


def distance_of_depths(tables: Tables, digitised_points: Points) -> list[float]:
    """The distance of the least distances to a* from the published ones, on that instance.

    It is the largest relative distance over the points that were read off.
    """
    distances = _quantities.distances(tables["depth"].query("record == 'history'"))
    own = distances[distances["seed"] == PUBLISHED]
    curves = own["depth"].map(_quantities.depth_curve)
    ours = own.assign(curve=curves).set_index(["curve", _quantities.POINTS])["min"]
    wanted = [((each["curve"], each["x"]), each["y"]) for each in digitised_points]
    if not all(place in ours.index for place, _ in wanted):
        return []
    return [float(max(abs(ours[place] / height - 1) for place, height in wanted))]


def _spread(values: np.ndarray) -> list[float]:
    there = values[np.isfinite(values)]
    return [float(there.max() / there.min())] if len(there) > 1 else [np.nan]


def _recovery(
    tables: Tables, experiment: str, name: str, instance: int | Literal["all"]
) -> pd.DataFrame:
    chosen = {} if instance == "all" else {"seed": instance}
    return statistics.record(tables[experiment], name, **chosen)


def _matrix(tables: Tables, name: str, case: str, weight: float) -> pd.DataFrame:
    keywords = {"case": case, "dynamics__weight": weight}
    return statistics.record(tables["matrix_recovery"], name, **keywords)


def _selected(tables: Tables, share: float | None = None) -> list[pd.Series]:
    """t2 by tau, for each instance with that `share`; infinite where never reached."""
    rows = statistics.record(tables["data_selection"], "recovery_times")
    rows = rows.assign(t2=statistics.times(rows, "t2"))
    instances = [part.set_index(SHARE)["t2"].sort_index() for _, part in rows.groupby("seed")]
    return [times for times in instances if share is None or share in times.index]
