"""Numbers of modular addition (figures 1 and 3, and the scaling images), one for each seed."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Points, Tables
from grokatlas.papers.beyond_l2 import _quantities

RATE, WEIGHT = "optimizer.lr", "penalties.0.weight"
FIGURE_3 = "addition_at_one_rate"
FIGURE_3_RATE = 1e-2
HALF = 0.5  # the accuracy at which the scaling images were read off
PEAK_PANEL = "norm l2"  # of the digitised points of figure 3, under l1 regularisation


def addition_time(tables: Tables, case: str, time: str) -> list[float]:
    """``t1`` or ``t2`` of figure 1, for each seed."""
    rows = statistics.record(tables["modular_addition"], "grokking_times", case=case)
    return statistics.times(rows, time)


def first_perfect(tables: Tables, case: str) -> list[float]:
    """The first step of figure 1 with a test accuracy of 1, for each seed."""
    return statistics.first(_addition(tables, case), "test_accuracy", 1.0)


def norm_after_generalisation(tables: Tables, case: str, after: int) -> list[float]:
    """The l2 norm of figure 1 some steps after t2, for each seed; infinite without a t2."""
    numbers = []
    parts = _addition(tables, case).groupby("seed")
    for (_, part), t2 in zip(parts, addition_time(tables, case, "t2"), strict=True):
        known = t2 + after <= part["step"].max()
        norm = np.interp(t2 + after, part["step"], part["l2_norm"]) if known else np.inf
        numbers.append(float(norm))
    return numbers


def addition_peak(tables: Tables, case: str, column: str) -> list[float]:
    """The largest value of a column of figure 1 in the whole run, for each seed."""
    return [float(part[column].max()) for _, part in _addition(tables, case).groupby("seed")]


def addition_peak_step(tables: Tables, case: str, column: str) -> list[float]:
    """The step of `addition_peak`, for each seed."""
    parts = _addition(tables, case).groupby("seed")
    return [float(part["step"][part[column].idxmax()]) for _, part in parts]


def addition_at(tables: Tables, case: str, column: str, step: int) -> list[float]:
    """A column of figure 1 at a step, for each seed."""
    return statistics.at(_addition(tables, case), column, step)


def distance_from_points(
    tables: Tables, panel: str, curve: str, column: str, digitised_points: Points
) -> list[float]:
    """The distance of a curve of figure 1 from the published one, for each seed.

    It is the largest distance over the points that were read off the picture, relative to the
    height of the panel: the largest of these points, or 1 for an accuracy. A point from the
    published t2 on is compared as long after our t2; infinite where a seed has none.

    Args:
        tables: of figure 1.
        panel: of the published figure.
        curve: in that panel.
        column: our column.
        digitised_points: points of the published curves, and the published t2.
    """
    points = [each for each in digitised_points if (each["panel"], each["curve"]) == (panel, curve)]
    (published,) = (each["x"] for each in digitised_points if each["curve"] == "t2")
    steps = np.array([each["x"] for each in points])
    heights = np.array([each["y"] for each in points])
    whole = 1.0 if column.endswith("accuracy") else heights.max()
    numbers = []
    parts = _addition(tables, "published").groupby("seed")
    for (_, part), t2 in zip(parts, addition_time(tables, "published", "t2"), strict=True):
        late = steps >= published
        at = np.where(late, steps + (t2 - published), steps) if late.any() else steps
        ours = np.interp(at, part["step"], part[column])
        far = np.abs(ours - heights).max() if np.isfinite(at).all() else np.inf
        numbers.append(float(far / whole))
    return numbers


def regularised_time(
    tables: Tables, experiment: str, case: str, rate: float, weight: float, time: str
) -> list[float]:
    """``t1`` or ``t2`` in regularised addition for one step size and weight, for each seed."""
    keywords = {"case": case, "optimizer__lr": rate, "penalties__0__weight": weight}
    rows = statistics.record(tables[experiment], "grokking_times", **keywords)
    return statistics.times(rows, time)


def order_of_times(
    tables: Tables, experiment: str, case: str, rate: float, time: str
) -> list[float]:
    """Spearman's correlation of weight and a time in regularised addition, by step size and seed.

    Args:
        tables: of a figure of regularised addition.
        experiment: its.
        case: the regulariser.
        rate: the only step size; 0 for all.
        time: ``t1``, memorisation, or ``t2``, generalisation.
    """
    rows = statistics.record(tables[experiment], "grokking_times", case=case)
    rows = rows[rows[RATE] == rate] if rate else rows
    rows = rows.assign(reached=statistics.times(rows, time))
    parts = rows.groupby([RATE, "seed"])
    return [statistics.order(part[WEIGHT], part["reached"]) for _, part in parts]


def delay_of_generalisation(tables: Tables, case: str, weight: float) -> list[float]:
    """t2 over t1 of figure 3 with one weight, for each seed."""
    rows = _figure_3(tables, "grokking_times", case)
    rows = rows[rows[WEIGHT] == weight]
    pairs = zip(statistics.times(rows, "t2"), statistics.times(rows, "t1"), strict=True)
    return [t2 / t1 for t2, t1 in pairs]


def norm_since_generalisation(tables: Tables, case: str) -> list[float]:
    """The last l2 norm of figure 3 over that at t2, for each run that generalises."""
    times = _figure_3(tables, "grokking_times", case).set_index([WEIGHT, "seed"])["t2"]
    numbers = []
    for key, part in _figure_3(tables, "history", case).groupby([WEIGHT, "seed"]):
        if np.isfinite(times.get(key, np.nan)):
            norm = part.set_index("step")["l2_norm"]
            numbers.append(float(norm.iloc[-1] / norm[: times[key]].iloc[-1]))
    return numbers


def order_of_halves(tables: Tables, case: str, column: str) -> list[float]:
    """Spearman's correlation of weight and the step of an accuracy of one half.

    By step size and seed of the scaling images.

    Args:
        tables: of a scaling image.
        case: the regulariser.
        column: ``test_accuracy`` or ``train_accuracy``.
    """
    ours = _halves(tables, case, column)
    return [
        statistics.order(part[WEIGHT], part["half"]) for _, part in ours.groupby([RATE, "seed"])
    ]


def half_curve(weight: float) -> str:
    """The name of what was read off for one weight: where the test accuracy passes one half."""
    return f"test, one half, weight {weight:g}"


def distance_of_halves(
    tables: Tables, case: str, rate: float, digitised_points: Points
) -> list[float]:
    """The distance of the published steps of a test accuracy of one half from our range of seeds.

    It is the largest distance over the weights that were read off one panel of a scaling image,
    relative to the latest of these steps; infinite where no seed reaches one half.

    Args:
        tables: of a scaling image.
        case: the regulariser.
        rate: the panel's step size.
        digitised_points: points of the published curves.
    """
    points = [each for each in digitised_points if each["panel"] == _quantities.rate_panel(rate)]
    published = {each["curve"]: each["x"] for each in points}
    ours = _halves(tables, case, "test_accuracy")
    ours = ours[ours[RATE] == rate]
    return _distance(ours.assign(published=ours[WEIGHT].map(half_curve).map(published)), "half")


def times_panel(case: str) -> str:
    """The panel of figure 3 of which times were read off, by the regulariser."""
    return f"penalty {case}"


def time_curve(weight: float) -> str:
    """The name of what was read off for one weight."""
    return f"t2 at weight {weight:g}"


def peak_curve(weight: float) -> str:
    """The name of the peak that was read off for one weight."""
    return f"peak of l2 norm / 1000 at weight {weight:g}"


def distance_of_times(
    tables: Tables, experiment: str, case: str, digitised_points: Points
) -> list[float]:
    """The distance of the published times t2 of figure 3 from the range of our seeds.

    It is the largest distance over the weights whose t2 was read off the picture, relative to the
    latest of these times; infinite where no seed reaches one of them.

    Args:
        tables: of figure 3, or of a scaling image.
        experiment: its.
        case: the regulariser.
        digitised_points: points of the published curves.
    """
    points = [each for each in digitised_points if each["panel"] == times_panel(case)]
    published = {each["curve"]: each["x"] for each in points}
    rows = _at_figure_3_rate(tables[experiment], "grokking_times", case)
    rows = rows.assign(t2=rows["t2"].fillna(np.inf))
    return _distance(rows.assign(published=rows[WEIGHT].map(time_curve).map(published)), "t2")


def distance_of_peak(tables: Tables, weight: float, digitised_points: Points) -> list[float]:
    """The distance of the peak of the l2 norm in figure 3 from the published one, for each seed.

    It is that under l1 regularisation; of the relative distances of its height and its step the
    larger one counts. The published one is of the least weight.

    Args:
        tables: of figure 3.
        weight: of the l1 norm.
        digitised_points: points of the published curves; heights are in thousands.
    """
    (point,) = (each for each in digitised_points if each["panel"] == PEAK_PANEL)
    rows = _figure_3(tables, "history", "l1")
    numbers = []
    for _, part in rows[rows[WEIGHT] == weight].groupby("seed"):
        top = part.loc[part["l2_norm"].idxmax()]
        height, step = top["l2_norm"] / 1000 / point["y"], top["step"] / point["x"]
        numbers.append(float(max(abs(height - 1), abs(step - 1))))
    return numbers


def _addition(tables: Tables, case: str) -> pd.DataFrame:
    return statistics.history(tables["modular_addition"], case=case)


def _figure_3(tables: Tables, record: str, case: str) -> pd.DataFrame:
    return _at_figure_3_rate(tables[FIGURE_3], record, case)


def _at_figure_3_rate(table: pd.DataFrame, record: str, case: str) -> pd.DataFrame:
    return statistics.record(table, record, case=case, optimizer__lr=FIGURE_3_RATE)


def _halves(tables: Tables, case: str, column: str) -> pd.DataFrame:
    """The first step of an accuracy of one half, by step size, seed and weight."""
    rows = statistics.history(tables["regularised_addition"], case=case)
    rows = rows.assign(half=rows["step"].where(rows[column] >= HALF, np.inf))
    return rows.groupby([RATE, "seed", WEIGHT], as_index=False)["half"].min()


def _distance(rows: pd.DataFrame, column: str) -> list[float]:
    """The largest distance of a published step from the range of ours, relative to the latest."""
    known = rows.dropna(subset=["published"])
    far = [
        statistics.beyond(part["published"].iloc[0], part[column])
        for _, part in known.groupby(WEIGHT)
    ]
    return [float(max(far) / known["published"].max())] if far else []
