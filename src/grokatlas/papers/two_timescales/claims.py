"""Numbers of the paper's statements, each from the tables of one figure, one for each run."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from grokatlas.claims import readings
from grokatlas.papers.two_timescales import _quantities

LEAST_LOSS = 1e-3  # of figure 1: the loss has fallen
KINK_GAP = 0.2  # two kinks of a student are at least so far apart

Tables = Mapping[str, pd.DataFrame]


def fast_phase(tables: Tables) -> list[float]:
    """The first time at which the loss of figure 1 is at most `LEAST_LOSS`, by trajectory."""
    rows = _quantities.toy(tables["toy"])
    reached = rows["time"].where(rows["loss"] <= LEAST_LOSS, np.inf)
    return [float(part.min()) for _, part in reached.groupby(rows["member"])]


def slow_phase(tables: Tables) -> list[float]:
    """When the squared norm of figure 1 is half-way from t = 1 to its end, for each trajectory.

    In units of 1 / lambda.
    """
    table = tables["toy"]
    rows = _quantities.toy(table)
    decay = 2 * float(table[_quantities.DECAY].iloc[0])
    parts = rows[rows["time"] >= 1].groupby("member")
    return [decay * _half_way(part) for _, part in parts]


def distance_from_least_norm(tables: Tables) -> list[float]:
    """The final distance of a trajectory of figure 1 from the nearer point of least norm."""
    rows = _quantities.toy(tables["toy"])
    final = rows[rows["time"] == rows["time"].max()]
    return [float(value) for value in np.sqrt(2 * final["test_like"])]


def singular_value_error(tables: Tables) -> list[float]:
    """The largest relative error of a nonzero singular value of figure 2, for each instance."""
    table = tables["matrix_completion"]
    recovered = readings.record(table, "recovered_singular_values")
    regular = recovered[recovered[_quantities.DECAY] > 0]
    errors = _quantities.singular_value_errors(regular, int(table["task.rank"].iloc[0]))
    return [float(value) for value in errors]


def next_singular_value(tables: Tables) -> list[float]:
    """The largest singular value at the end that is zero in truth, for each instance."""
    table = tables["matrix_completion"]
    recovered = readings.record(table, "recovered_singular_values")
    rank = int(table["task.rank"].iloc[0])
    kept = recovered[(recovered[_quantities.DECAY] > 0) & (recovered["place"] == rank)]
    return [float(value) for value in kept["final_value"]]


def completion_plateau(tables: Tables, column: str) -> list[float]:
    """The final value of a column without regularisation, for each instance of figure 2."""
    rows = _completion(tables)
    return readings.last(rows[~rows["regularised"]], column)


def completion_end(tables: Tables, column: str) -> list[float]:
    """The final value of a column with regularisation, for each instance of figure 2."""
    rows = _completion(tables)
    return readings.last(rows[rows["regularised"]], column)


def completion_fall(tables: Tables, column: str) -> list[float]:
    """Of a column of figure 2, `completion_plateau` over `completion_end`."""
    return _quotients(completion_plateau(tables, column), completion_end(tables, column))


def norm_over_nuclear(tables: Tables, column: str) -> list[float]:
    """The final squared norm of figure 2 over twice a nuclear norm.

    Args:
        tables: of figure 2.
        column: ``final_value``, of the product at the end, or ``true_value``, of the true matrix.
    """
    recovered = readings.record(tables["matrix_completion"], "recovered_singular_values")
    regular = recovered[recovered[_quantities.DECAY] > 0]
    nuclear = regular.groupby("seed")[column].sum()
    return _quotients(completion_end(tables, "squared_norm"), [2 * value for value in nuclear])


def onset_of_completion(tables: Tables, share: float) -> list[float]:
    """The first time at which the test error is at most a share of its plateau, by instance."""
    rows = _completion(tables)
    found = []
    levels = completion_plateau(tables, "test_mse")
    parts = rows[rows["regularised"]].groupby("seed")
    if len(parts) != len(levels):  # not the same seeds
        return [np.nan]
    for (_, part), level in zip(parts, levels, strict=True):
        late = part[part["time"] >= 1]  # the plateau is behind the fast phase
        found.append(float(late["time"].where(late["test_mse"] <= share * level, np.inf).min()))
    return found


def slow_time_of_norm(tables: Tables) -> list[float]:
    """When the squared norm of figure 2 is half-way from t = 1 to its end, for each instance.

    In units of 1 / lambda.
    """
    rows = _completion(tables)
    late = rows[rows["regularised"] & (rows["time"] >= 1)]
    return [
        float(part[_quantities.DECAY].iloc[0]) * _half_way(part) for _, part in late.groupby("seed")
    ]


def loss_fall(tables: Tables, experiment: str, time: float) -> list[float]:
    """The test loss of a network at a time, over that at the end, for each seed."""
    rows = _network(tables, experiment)
    return _quotients(_at(rows, "test_loss", time), readings.last(rows, "test_loss"))


def value_at(tables: Tables, experiment: str, column: str, time: float) -> list[float]:
    """A column of a network's history at a time, for each seed."""
    return _at(_network(tables, experiment), column, time)


def final_value(tables: Tables, experiment: str, column: str) -> list[float]:
    """A column of a network's history at the end, for each seed."""
    return readings.last(_network(tables, experiment), column)


def initial_norm(tables: Tables, experiment: str) -> list[float]:
    """The squared norm of a network before training, for each seed."""
    rows = readings.history(tables[experiment], step=0)
    return [float(norm) ** 2 for norm in rows["l2_norm"]]


def decay_of_norm(tables: Tables, experiment: str, time: float) -> list[float]:
    """The squared norm of a network at a time, over that before training, for each seed."""
    later = value_at(tables, experiment, "squared_norm", time)
    return _quotients(later, initial_norm(tables, experiment))


def distance_from_kink(tables: Tables, place: int, kink: float) -> list[float]:
    """How far a kink of figure 3's final student is from the published place, for each seed.

    Its kinks are taken to be the three largest second differences of its curve that are at least
    `KINK_GAP` apart.

    Args:
        tables: of figure 3.
        place: of the kink, 0 for the leftmost of three.
        kink: its published place on the axis.
    """
    rows = readings.record(tables["two_layer_relu"], "predictor_curve", part="test")
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
    found = _quantities.difference(rows)
    return [float(value) for value in found.drop(columns="time").groupby("seed").max().max(axis=1)]


def slow_rate(tables: Tables) -> list[float]:
    """The rate at which the squared norm comes to rest, over 2 lambda, for each seed.

    By least squares of the logarithm of what is above the last value, from 0.1 to 0.3 of the run:
    after the fast phase, and where that value is as good as the limit.
    """
    rows = _quantities.regression(tables["linear_regression"])
    flow = rows[rows["case"] == "flow"]
    found = []
    for _, part in flow.groupby("seed"):
        over, end = _quantities.norm_excess(part), part["time"].max()
        early = over[over["time"].between(0.1 * end, 0.3 * end)]
        slope = np.polyfit(early["time"], np.log(early["norm_excess"]), 1)[0]
        found.append(float(-slope / (2 * part["decay"].iloc[0])))
    return found


def order_of_distances(tables: Tables, problem: str) -> list[float]:
    """Spearman's correlation of lambda and the largest distance to the Riemannian flow, by seed."""
    history = readings.history(tables[f"limit_{problem}"])
    largest = _quantities.largest_distances(_quantities.distances(history))
    return [readings.order(part["lambda"], part["distance"]) for _, part in largest.groupby("seed")]


def _half_way(rows: pd.DataFrame) -> float:
    """The first time at which the squared norm is half-way from its first to its last value."""
    norm = rows["squared_norm"]
    return float(rows["time"][norm <= (norm.iloc[0] + norm.iloc[-1]) / 2].min())


def _completion(tables: Tables) -> pd.DataFrame:
    return _quantities.completion(tables["matrix_completion"])


def _network(tables: Tables, experiment: str) -> pd.DataFrame:
    return _quantities.over_time(readings.history(tables[experiment]))


def _at(rows: pd.DataFrame, column: str, time: float) -> list[float]:
    """A column at the last logged step that is not after a time, for each seed."""
    return readings.last(rows[rows["time"] <= time * (1 + 1e-9)], column)


def _quotients(above: list[float], below: list[float]) -> list[float]:
    if len(above) != len(below):  # not the same seeds
        return [np.nan]
    return [first / second for first, second in zip(above, below, strict=True)]


def _kinks(curve: pd.DataFrame) -> list[float]:
    """Three places of a curve on an even grid where its slope changes most, from left to right."""
    places = curve["input"].to_numpy()[1:-1]
    bend = np.abs(np.diff(curve["output"].to_numpy(), 2))
    found: list[float] = []
    for index in np.argsort(-bend):
        if len(found) < 3 and all(abs(places[index] - other) >= KINK_GAP for other in found):
            found.append(float(places[index]))
    return sorted(found)
