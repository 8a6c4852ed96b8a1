"""Numbers of modular addition (figures 1 and 3, and the scaling images), one for each seed."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.papers.beyond_l2 import _quantities

Tables = Mapping[str, pd.DataFrame]

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


def norm_after_memorisation(tables: Tables, case: str) -> list[float]:
    """The l2 norm of figure 1 at step 2 t1 over that at t1, for each seed."""
    rows = _addition(tables, case)
    found = []
    for (_, part), t1 in zip(rows.groupby("seed"), addition_time(tables, case, "t1"), strict=True):
        norm = part.set_index("step")["l2_norm"]
        memorised = 2 * t1 <= norm.index.max()
        found.append(norm[: 2 * t1].iloc[-1] / norm[:t1].iloc[-1] if memorised else np.nan)
    return found


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
    tables: Tables, panel: str, curve: str, column: str, digitised_points: list[dict[str, Any]]
) -> list[float]:
    """How far a curve of figure 1 is from the published one, for each seed.

    It is the largest distance over the points that were read off the picture, relative to the
    height of the panel: the largest of these points, or 1 for an accuracy.

    Args:
        tables: of figure 1.
        panel: of the published figure.
        curve: in that panel.
        column: our column.
        digitised_points: points of the published curves.
    """
    points = [each for each in digitised_points if (each["panel"], each["curve"]) == (panel, curve)]
    steps, heights = [each["x"] for each in points], [each["y"] for each in points]
    whole = 1.0 if column.endswith("accuracy") else max(heights)
    found = []
    for _, part in _addition(tables, "published").groupby("seed"):
        ours = np.interp(steps, part["step"], part[column])
        found.append(float(np.abs(ours - heights).max() / whole))
    return found


def regularised_time(
    tables: Tables, experiment: str, case: str, rate: float, weight: float, time: str
) -> list[float]:
    """``t1`` or ``t2`` in regularised addition for one step size and weight, for each seed."""
    keywords = {"case": case, "optimizer__lr": rate, "penalties__0__weight": weight}
    rows = statistics.record(tables[experiment], "grokking_times", **keywords)
    return statistics.times(rows, time)


def order_of_generalisation(tables: Tables, experiment: str, case: str, rate: float) -> list[float]:
    """Spearman's correlation of weight and t2 in regularised addition, by step size and seed.

    Args:
        tables: of a figure of regularised addition.
        experiment: its.
        case: the regulariser.
        rate: the only step size; 0 for all.
    """
    rows = statistics.record(tables[experiment], "grokking_times", case=case)
    rows = rows[rows[RATE] == rate] if rate else rows
    rows = rows.assign(t2=statistics.times(rows, "t2"))
    parts = rows.groupby([RATE, "seed"])
    return [statistics.order(part[WEIGHT], part["t2"]) for _, part in parts]


def half_curve(weight: float) -> str:
    """The name of what was read off for one weight: where the test accuracy passes one half."""
    return f"test, one half, weight {weight:g}"


def distance_of_halves(
    tables: Tables, case: str, rate: float, digitised_points: list[dict[str, Any]]
) -> list[float]:
    """How far the steps of a test accuracy of one half are from the published ones, by seed.

    It is the largest distance over the weights that were read off one panel of a scaling image,
    relative to the latest of these steps; infinite where one half is not reached.

    Args:
        tables: of a scaling image.
        case: the regulariser.
        rate: the panel's step size.
        digitised_points: points of the published curves.
    """
    points = [each for each in digitised_points if each["panel"] == _quantities.rate_panel(rate)]
    published = {each["curve"]: each["x"] for each in points}
    rows = tables["regularised_addition"].query("record == 'history'")
    rows = rows[(rows["case"] == case) & (rows[RATE] == rate)]
    rows = rows.assign(half=rows["step"].where(rows["test_accuracy"] >= HALF, np.inf))
    ours = rows.groupby(["seed", WEIGHT], as_index=False)["half"].min()
    ours = ours.assign(published=ours[WEIGHT].map(half_curve).map(published))
    ours = ours.dropna(subset=["published"])
    far = (ours["half"] - ours["published"]).abs() / ours["published"].max()
    return [float(value) for value in far.groupby(ours["seed"]).max()]


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
    tables: Tables, case: str, digitised_points: list[dict[str, Any]]
) -> list[float]:
    """How far the times t2 of figure 3 are from the published ones, for each seed.

    It is the largest distance over the weights whose t2 was read off the picture, relative to the
    latest of these times; infinite where one of them is not reached.

    Args:
        tables: of figure 3.
        case: the regulariser.
        digitised_points: points of the published curves.
    """
    points = [each for each in digitised_points if each["panel"] == times_panel(case)]
    published = {each["curve"]: each["x"] for each in points}
    rows = _figure_3(tables, "grokking_times", case)
    rows = rows.assign(published=rows[WEIGHT].map(time_curve).map(published))
    rows = rows.dropna(subset=["published"])
    far = (rows["t2"].fillna(np.inf) - rows["published"]).abs() / rows["published"].max()
    return [float(value) for value in far.groupby(rows["seed"]).max()]


def distance_of_peak(tables: Tables, digitised_points: list[dict[str, Any]]) -> list[float]:
    """How far the peak of the l2 norm in figure 3 is from the published one, for each seed.

    It is that under l1 regularisation with the least weight; of the relative distances of its
    height and its step the larger one counts.

    Args:
        tables: of figure 3.
        digitised_points: points of the published curves; heights are in thousands.
    """
    (point,) = (each for each in digitised_points if each["panel"] == PEAK_PANEL)
    rows = _figure_3(tables, "history", "l1")
    found = []
    for _, part in rows[rows[WEIGHT] == rows[WEIGHT].min()].groupby("seed"):
        top = part.loc[part["l2_norm"].idxmax()]
        height, step = top["l2_norm"] / 1000 / point["y"], top["step"] / point["x"]
        found.append(float(max(abs(height - 1), abs(step - 1))))
    return found


def _addition(tables: Tables, case: str) -> pd.DataFrame:
    return statistics.history(tables["modular_addition"], case=case)


def _figure_3(tables: Tables, record: str, case: str) -> pd.DataFrame:
    keywords = {"case": case, "optimizer__lr": FIGURE_3_RATE}
    return statistics.record(tables[FIGURE_3], record, **keywords)
