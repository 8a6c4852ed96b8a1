"""Distances of our curves from points that were read off the paper's pictures.

They are compared on the paper's clock, the step size times (number of updates + 1): the first
published point is that before training.
"""

from typing import Any

import numpy as np
import pandas as pd

from grokatlas.claims.statistics import Points, Tables
from grokatlas.papers.two_timescales import _quantities


def interpolated(rows: pd.DataFrame, column: str, times: list[float]) -> np.ndarray:
    """A column of one seed at some times, linear in log t between logged ones.

    Args:
        rows: over time, in order.
        column: what is wanted.
        times: within the run.
    """
    return np.interp(np.log(times), np.log(rows["time"]), rows[column])


def distance_from_points(
    tables: Tables,
    experiment: str,
    panel: str,
    curve: str,
    column: str,
    clock: float,
    relative_to: str,
    digitised_points: Points,
) -> list[float]:
    """The distance of a curve from the published one, for each seed.

    It is the largest distance over the points within the run.

    Args:
        tables: of the figure.
        experiment: whose table.
        panel: of the published figure.
        curve: in that panel.
        column: ours.
        clock: what published times are multiplied by; where the norm falls in slow time, 2 is as if
            lambda were doubled here.
        relative_to: ``largest`` of these points, or each distance to its ``own``.
        digitised_points: points of the published curves.
    """
    numbers = []
    for rows in _curves(tables, experiment):
        times, heights = map(np.array, _within(digitised_points, panel, curve, rows))
        ours = interpolated(rows, column, list(clock * times))
        scale = heights if relative_to == "own" else heights.max()
        numbers.append(float((np.abs(ours - heights) / scale).max()))
    return numbers


def decades_from_points(
    tables: Tables, experiment: str, panel: str, curve: str, column: str, digitised_points: Points
) -> list[float]:
    """The same on a logarithmic axis: the largest ``|log10|`` of a quotient of ours and theirs."""
    numbers = []
    for rows in _curves(tables, experiment):
        times, heights = _within(digitised_points, panel, curve, rows)
        ours = interpolated(rows, column, times)
        numbers.append(float(np.abs(np.log10(ours) - np.log10(heights)).max()))
    return numbers


def distance_of_singular_values(
    tables: Tables, time: float, digitised_points: Points
) -> list[float]:
    """The same for all published singular values of figure 2 at a time."""
    points = [p for p in digitised_points if (p["panel"], p["x"]) == ("singular values", time)]
    places = [int(point["curve"].removeprefix("sigma ")) - 1 for point in points]
    heights = np.array([point["y"] for point in points])
    numbers = []
    for rows in _curves(tables, "matrix_completion"):
        columns = [f"singular_values.{place}" for place in places]
        ours = np.array([interpolated(rows, column, [time])[0] for column in columns])
        numbers.append(float(np.abs(ours - heights).max() / heights.max()))
    return numbers


def distance_outside_seeds(
    tables: Tables, experiment: str, panel: str, curve: str, column: str, digitised_points: Points
) -> list[float]:
    """The distance of each published point from the range of all seeds, relative to the largest.

    One number for each point within the runs; 0 for one that is within the range.
    """
    curves = _curves(tables, experiment)
    if not curves:
        return []
    times, heights = _within(digitised_points, panel, curve, curves[0])
    ours = np.stack([interpolated(rows, column, times) for rows in curves])
    outside = np.maximum(ours.min(axis=0) - heights, heights - ours.max(axis=0))
    return [float(max(value, 0) / max(heights)) for value in outside]


def distance_at_last_point(
    tables: Tables, experiment: str, panel: str, curve: str, column: str, digitised_points: Points
) -> list[float]:
    """The distance of the last published point from the range of all seeds, relative to it."""
    last = max(
        (p for p in digitised_points if (p["panel"], p["curve"]) == (panel, curve)), key=_time
    )
    return distance_outside_seeds(tables, experiment, panel, curve, column, [last])


def _time(point: dict[str, Any]) -> float:
    return float(point["x"])


def share_of_draws_below(
    tables: Tables,
    experiment: str,
    panel: str,
    curve: str,
    column: str,
    draws: int,
    digitised_points: Points,
) -> list[float]:
    """The share of initialisations that are below the published curve, point by point.

    One number for each point within the runs, not a number with fewer seeds than `draws`.
    """
    curves = _curves(tables, experiment)
    if not curves:
        return []
    times, heights = _within(digitised_points, panel, curve, curves[0])
    ours = np.stack([interpolated(rows, column, times) for rows in curves])
    if len(curves) < draws:
        return [np.nan] * len(times)
    return [float(share) for share in (ours < heights).mean(axis=0)]


def _curves(tables: Tables, experiment: str) -> list[pd.DataFrame]:
    """The history of each seed with regularisation, from before training on, on that clock."""
    table = tables[experiment]
    rows = table[(table["record"] == "history") & (table[_quantities.DECAY] > 0)]
    rows = rows.sort_values(["seed", "step"]).assign(squared_norm=lambda each: each["l2_norm"] ** 2)
    rows["time"] = (rows["step"] + 1) * rows["optimizer.lr"]
    if experiment == "matrix_completion":
        rows = rows.assign(**_quantities.mean_squared_errors(rows))
    return [part for _, part in rows.groupby("seed")]


def _within(
    digitised_points: Points, panel: str, curve: str, rows: pd.DataFrame
) -> tuple[list[float], list[float]]:
    """Times and heights of the published points that are not after the run's end."""
    points = [p for p in digitised_points if (p["panel"], p["curve"]) == (panel, curve)]
    kept = [p for p in points if p["x"] <= rows["time"].max() * 1.001]
    return [p["x"] for p in kept], [p["y"] for p in kept]
