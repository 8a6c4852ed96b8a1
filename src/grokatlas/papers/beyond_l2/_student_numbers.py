"""Numbers of students (with and without a Sobolev term), one for each seed."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Points, Tables, beyond
from grokatlas.papers.beyond_l2 import _quantities

RATE = "optimizer.lr"
WEIGHTS = {"teacher_student": "penalties.0.weight", "sobolev": "loss.weight"}  # by experiment
MEMORISED = 0.01  # of the first training loss
PLATEAU = "test, plateau"  # of the digitised_points, with the least weight


def order_of_students(tables: Tables, experiment: str, column: str) -> list[float]:
    """Spearman's correlation of weight and the step at which an error falls, for each seed.

    Of all step sizes the one where it is largest, that is least ordered.

    Args:
        tables: of a figure of students.
        experiment: its.
        column: ``test_squared_error`` or ``train_squared_error``.
    """
    rows = statistics.history(tables[experiment])
    numbers = []
    for _, own in rows.groupby("seed"):
        falls = [_falls(part, WEIGHTS[experiment], column) for _, part in own.groupby(RATE)]
        orders = [statistics.order(each.index.to_series(), each) for each in falls]
        numbers.append(float(np.max(orders)))  # not a number where one of them is none
    return numbers


def fall_of_students(tables: Tables, experiment: str, rate: float, weight: float) -> list[float]:
    """The step at which the test loss falls with one step size and weight, for each seed."""
    rows = statistics.history(tables[experiment], optimizer__lr=rate)
    seeds = [own for _, own in rows.groupby("seed")]
    falls = [_falls(own, WEIGHTS[experiment]) for own in seeds]
    return [float(each[weight]) for each in falls if weight in each.index]


def fall_curve(weight: float) -> str:
    """The name of what was read off for one weight: where the test loss has fallen to half."""
    return f"test, half of the plateau, weight {weight:g}"


def factor_of_falls(tables: Tables, experiment: str, digitised_points: Points) -> list[float]:
    """The distance of the steps at which test losses fall from the published ones, for each seed.

    It is the largest factor between the two, over the curves that were read off; infinite where a
    test loss does not fall to half of its plateau, not a number where a curve is missing.
    """
    published = {(each["panel"], each["curve"]): each["x"] for each in digitised_points}
    published = {key: step for key, step in published.items() if key[1] != PLATEAU}
    numbers = []
    for _, own in tables[experiment].query("record == 'history'").groupby("seed"):
        ours = {
            (_quantities.rate_panel(rate), fall_curve(weight)): step
            for rate, part in own.groupby(RATE)
            for weight, step in _falls(part, WEIGHTS[experiment]).items()
        }
        factors = [ours.get(key, np.nan) / step for key, step in published.items()]
        numbers.append(float(np.max(np.maximum(factors, np.reciprocal(factors)))))
    return numbers


def distance_of_plateaus(tables: Tables, experiment: str, digitised_points: Points) -> list[float]:
    """The distance of the published plateaus from the range of half our test errors.

    With the least weight: the largest distance over the points that were read off, relative to the
    highest of them; nothing where a step size is missing.
    """
    rows, weight = tables[experiment].query("record == 'history'"), WEIGHTS[experiment]
    rows = rows[rows[weight] == rows[weight].min()].sort_values("step")
    digitised_points = [each for each in digitised_points if each["curve"] == PLATEAU]
    far = []
    for each in digitised_points:
        own = rows[rows[RATE].map(_quantities.rate_panel) == each["panel"]]
        ours = [
            np.interp(each["x"], part["step"], part["test_squared_error"] / 2)
            for _, part in own.groupby("seed")
        ]
        if not ours:
            return []
        far.append(beyond(each["y"], ours))
    return [float(max(far) / max(each["y"] for each in digitised_points))]


def _falls(rows: pd.DataFrame, weight: str, column: str = "test_squared_error") -> pd.Series:
    """By weight, the first step at which an error has fallen; infinite for never.

    A training error has fallen at memorisation, when it is at most `MEMORISED` of the first. A test
    error has when it is at most half of what it is at memorisation with the least weight.
    """
    least = rows[rows[weight] == rows[weight].min()].sort_values("step")
    train = least["train_squared_error"]
    level = MEMORISED * train.iloc[0]
    if column != train.name:
        plateau = least.loc[train <= level, column]
        level = plateau.iloc[0] / 2 if len(plateau) else np.nan
    steps = statistics.first(rows, column, level, below=True, by=weight)
    return pd.Series(steps, index=sorted(rows[weight].unique()))
