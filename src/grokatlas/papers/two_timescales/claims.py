"""Numbers of the paper's statements, each from the tables of one figure, one for each run."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables
from grokatlas.papers.two_timescales import _quantities
from grokatlas.papers.two_timescales._controls import *
from grokatlas.papers.two_timescales._implicit_bias import *
from grokatlas.papers.two_timescales._kinks import *
from grokatlas.papers.two_timescales._published import *
from grokatlas.papers.two_timescales._slow_phase import *
from grokatlas.papers.two_timescales._theory import *

LEAST_LOSS = 1e-3  # of figure 1: the loss has fallen
KINK_GAP = 0.2  # two kinks of a student are at least so far apart


def fast_phase(tables: Tables) -> list[float]:
    """When the loss of figure 1 is at most `LEAST_LOSS`, over that time of the flow of F alone.

    One number for each trajectory. With ``p = w1 w2`` and ``c = w1^2 - w2^2``, which gradient flow
    keeps, ``p' = (1 - p) (c^2 + 4 p^2)^(1/2)``.
    """
    numbers = []
    for _, part in _quantities.toy(tables["toy"]).groupby("member"):
        reached = part["time"].where(part["loss"] <= LEAST_LOSS, np.inf).min()
        w1, w2 = part["w1"].iloc[0], part["w2"].iloc[0]
        start, end = w1 * w2 - 1, np.sqrt(2 * LEAST_LOSS)
        left = np.geomspace(end, max(abs(start), end), 2000)
        speed = np.sqrt((w1**2 - w2**2) ** 2 + 4 * (1 + np.sign(start) * left) ** 2)
        numbers.append(float(reached / np.trapezoid(1 / speed, np.log(left))))
    return numbers


def slow_phase(tables: Tables) -> list[float]:
    """When the squared norm of figure 1 is half-way from t = 1 to its end, over the theorem's time.

    One number for each trajectory. Along ``w1 w2 = 1`` the Riemannian flow of the norm has the
    squared norm ``s = 2 (1 + a exp(-4 tau))^(1/2)`` at the slow time tau, and ends at 2.
    """
    table = tables["toy"]
    rows = _quantities.toy(table)
    decay = 2 * float(table[_quantities.DECAY].iloc[0])
    numbers = []
    for _, part in rows[rows["time"] >= 1].groupby("member"):
        norm, first = part["squared_norm"].iloc[0], part["time"].iloc[0]
        middle = (norm + 2) / 2
        predicted = np.log((norm**2 / 4 - 1) / (middle**2 / 4 - 1)) / 4 if norm > 2 else np.nan
        numbers.append(float(decay * (_quantities.half_way(part) - first) / predicted))
    return numbers


def distance_from_least_norm(tables: Tables) -> list[float]:
    """The final distance of a trajectory of figure 1 from the nearer point of least norm."""
    rows = _quantities.toy(tables["toy"])
    final = rows[rows["time"] == rows["time"].max()]
    return [float(value) for value in np.sqrt(2 * final["test_like"])]


def singular_value_error(tables: Tables) -> list[float]:
    """The distance of leading singular values of figure 2 from those of least nuclear norm.

    The largest relative error over as many as the true matrix has, for each instance.
    """
    rank = int(tables["matrix_completion"]["task.rank"].iloc[0])
    rows = _minimisers(tables["matrix_completion"])
    pairs = [(rows[f"final.{k}"], rows[f"minimiser.{k}"]) for k in range(rank)]
    return _listed(pd.concat([(one / other - 1).abs() for one, other in pairs], axis=1).max(axis=1))


def next_singular_value(tables: Tables) -> list[float]:
    """The distance of the first singular value that is zero in truth from the minimiser's.

    Relative to the minimiser's largest one, for each instance.
    """
    rank = int(tables["matrix_completion"]["task.rank"].iloc[0])
    rows = _minimisers(tables["matrix_completion"])
    return _listed((rows[f"final.{rank}"] - rows[f"minimiser.{rank}"]).abs() / rows["minimiser.0"])


def distance_from_minimiser(tables: Tables, experiment: str) -> list[float]:
    """The relative distance of the end from the interpolator of least norm, for each seed."""
    return _listed(_minimisers(tables[experiment])["distance"])


def test_distance_from_minimiser(tables: Tables) -> list[float]:
    """The same on unobserved entries of figure 2: a mean of squares over the test error's plateau.

    For each instance.
    """
    rows = _minimisers(tables["matrix_completion"])
    return _quotients(_listed(rows["test_distance"]), completion_plateau(tables, "test_mse"))


def norm_over_minimiser(tables: Tables, experiment: str) -> list[float]:
    """The final squared norm of the weights over twice the least norm, for each seed."""
    table = tables[experiment]
    rows = _quantities.over_time(statistics.history(table))
    final = statistics.last(rows[rows[_quantities.DECAY] > 0], "squared_norm")
    return _quotients(final, _listed(2 * _minimisers(table)["minimiser_norm"]))


def completion_plateau(tables: Tables, column: str) -> list[float]:
    """The final value of a column without regularisation, for each instance of figure 2."""
    return completion_end(tables, column, regularised=False)


def completion_end(tables: Tables, column: str, *, regularised: bool = True) -> list[float]:
    """The final value of a column with regularisation or without, for each instance of figure 2."""
    rows = _completion(tables)
    return statistics.last(rows[rows["regularised"] == regularised], column)


def largest_completion_fall(tables: Tables, column: str) -> list[float]:
    """`completion_plateau` over `completion_end`, the largest of all instances: one number."""
    falls = _quotients(completion_plateau(tables, column), completion_end(tables, column))
    return [max(falls)] if falls else []


def norm_over_nuclear(tables: Tables) -> list[float]:
    """The final squared norm of figure 2 over twice the nuclear norm of the product then."""
    recovered = statistics.record(tables["matrix_completion"], "recovered_singular_values")
    regular = recovered[recovered[_quantities.DECAY] > 0]
    nuclear = regular.groupby("seed")["final_value"].sum()
    return _quotients(completion_end(tables, "squared_norm"), [2 * value for value in nuclear])


def share_of_plateau(tables: Tables, time: float) -> list[float]:
    """The test error of figure 2 at a time over its plateau, for each instance."""
    rows = _completion(tables)
    regular = rows[rows["regularised"]]
    parts = [part for _, part in regular.groupby("seed")]
    errors = [float(interpolated(part, "test_mse", [time])[0]) for part in parts]
    return _quotients(errors, completion_plateau(tables, "test_mse"))


def slow_time_of_norm(tables: Tables) -> list[float]:
    """When the squared norm of figure 2 is half-way from t = 1 to its end, for each instance.

    In units of 1 / lambda.
    """
    rows = _completion(tables)
    late = rows[rows["regularised"] & (rows["time"] >= 1)]
    return [
        float(part[_quantities.DECAY].iloc[0]) * _quantities.half_way(part)
        for _, part in late.groupby("seed")
    ]


def loss_fall(tables: Tables, experiment: str, time: float) -> list[float]:
    """The test loss of a network at a time, over that at the end, for each seed."""
    rows = _network(tables, experiment)
    return _quotients(_at(rows, "test_loss", time), statistics.last(rows, "test_loss"))


def value_at(tables: Tables, experiment: str, column: str, time: float) -> list[float]:
    """A column of a network's history at a time, for each seed."""
    return _at(_network(tables, experiment), column, time)


def final_value(tables: Tables, experiment: str, column: str) -> list[float]:
    """A column of a network's history at the end, for each seed."""
    return statistics.last(_network(tables, experiment), column)


def initial_norm(tables: Tables, experiment: str) -> list[float]:
    """The squared norm of a network before training, for each seed."""
    rows = statistics.history(tables[experiment], step=0)
    return [float(norm) ** 2 for norm in rows["l2_norm"]]


def decay_of_norm(tables: Tables, experiment: str, start: float, time: float) -> list[float]:
    """The squared norm of a network at a time, over that at an earlier one, for each seed."""
    later, early = (value_at(tables, experiment, "squared_norm", each) for each in (time, start))
    return _quotients(later, early)


def distance_from_kink(tables: Tables, place: int, kink: float) -> list[float]:
    """The distance of a kink of figure 3's final student from the published place, for each seed.

    Its kinks are taken to be the three largest second differences of its curve that are at least
    `KINK_GAP` apart.

    Args:
        tables: of figure 3.
        place: of the kink, 0 for the leftmost of three.
        kink: its published place on the axis.
    """
    rows = statistics.record(tables["two_layer_relu"], "predictor_curve", part="test")
    final = rows[rows["step"] == rows["step"].max()].sort_values(["seed", "input"])
    return [abs(_kinks(part)[place] - kink) for _, part in final.groupby("seed")]


def norm_over_teacher(tables: Tables) -> list[float]:
    """The final squared norm of figure 4 over twice the teacher's l1 norm, for each seed."""
    table = tables["diagonal_network"]
    named = [column for column in table if "sine_coefficients." in column]
    teacher = float(table[named].iloc[0].abs().sum())
    final = final_value(tables, "diagonal_network", "squared_norm")
    return [norm / (2 * teacher) for norm in final]


def closed_form_difference(tables: Tables) -> list[float]:
    """The largest relative difference of simulation and closed form, for each seed."""
    rows = _quantities.regression(tables["linear_regression"])
    if not {"simulation", "closed_form"} <= set(rows["case"]):
        return []
    differences = _quantities.difference(rows)
    return [
        float(value) for value in differences.drop(columns="time").groupby("seed").max().max(axis=1)
    ]


def slow_rate(tables: Tables) -> list[float]:
    """The rate at which the squared norm comes to rest, over 2 lambda, for each seed.

    By least squares of the logarithm of what is above the last value, from 0.1 to 0.3 of the run:
    after the fast phase, and where that value is as good as the limit.
    """
    rows = _quantities.regression(tables["linear_regression"])
    flow = rows[rows["case"] == "flow"]
    numbers = []
    for _, part in flow.groupby("seed"):
        over, end = _quantities.norm_excess(part), part["time"].max()
        early = over[over["time"].between(0.1 * end, 0.3 * end)]
        slope = np.polyfit(early["time"], np.log(early["norm_excess"]), 1)[0]
        numbers.append(float(-slope / (2 * part["decay"].iloc[0])))
    return numbers


def fall_of_distances(tables: Tables, problem: str) -> list[float]:
    """The largest distance to the Riemannian flow at the least lambda over that at the largest.

    For each seed.
    """
    history = statistics.history(tables[f"limit_{problem}"])
    largest = _quantities.largest_distances(_quantities.distances(history)).sort_values("lambda")
    parts = [part["distance"] for _, part in largest.groupby("seed")]
    return [float(part.iloc[0] / part.iloc[-1]) for part in parts]


def _minimisers(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of measure ``convex_minimiser`` with weight decay, by seed."""
    rows = statistics.record(table, "convex_minimiser")
    return rows[rows[_quantities.DECAY] > 0]


def _listed(values: pd.Series) -> list[float]:
    return [float(value) for value in values]


def _completion(tables: Tables) -> pd.DataFrame:
    return _quantities.completion(tables["matrix_completion"])


def _network(tables: Tables, experiment: str) -> pd.DataFrame:
    return _quantities.over_time(statistics.history(tables[experiment]))


def _at(rows: pd.DataFrame, column: str, time: float) -> list[float]:
    """A column at the last logged step that is not after a time, for each seed."""
    return statistics.last(rows[rows["time"] <= time * (1 + 1e-9)], column)


def _quotients(above: list[float], below: list[float]) -> list[float]:
    if len(above) != len(below):  # not the same seeds
        return [np.nan]
    return [first / second for first, second in zip(above, below, strict=True)]


def _kinks(curve: pd.DataFrame) -> list[float]:
    """Three places of a curve on an even grid where its slope changes most, from left to right."""
    places = curve["input"].to_numpy()[1:-1]
    bend = np.abs(np.diff(curve["output"].to_numpy(), 2))
    numbers: list[float] = []
    for index in np.argsort(-bend):
        if len(numbers) < 3 and all(abs(places[index] - other) >= KINK_GAP for other in numbers):
            numbers.append(float(places[index]))
    return sorted(numbers)
