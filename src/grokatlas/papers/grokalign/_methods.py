"""Tables and rows of methods compared."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _methods_statistics
from grokatlas.papers.grokalign._jacobians import data_named
from grokatlas.plots import style

LOSSES = {"ce": "cross-entropy", "mse": "squared error"}
BUDGET = ("baseline", "grokalign", "adversarial")  # rows of table 2
METHODS = {"grokalign": "GrokAlign", "grokfast": "Grokfast", "adversarial": "adversarial"}
SERIES = {  # of two levels, in percent
    "steps": ("steps to {1:g} %", "fewer", "more"),
    "time": ("time to {1:g} %", "less", "more"),
    "phase": ("time from {0:g} to {1:g} %", "less", "more"),
}
WIDE = 0.12  # of a row: half of what the seeds of a method are spread over


def acceleration(
    table: pd.DataFrame, alone: pd.DataFrame, published: dict[str, str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ratios baseline / method of steps and times to a test accuracy: as text, and as data.

    Times are steps multiplied by the device time of an update of one member trained alone.

    Args:
        table: cases ``<loss>_<method>`` with the measure ``reached_steps``; some may be absent.
        alone: the same cases with the measure ``cost``, one member each.
        published: the paper's cells, ``<loss>_<method>_<series>``.
    """
    ratios, cells, cases = [], [], set(table["case"])
    reached = table.loc[table["record"] == "reached_steps", "level"]
    levels, data = [100 * reached.min(), 100 * reached.max()], data_named(table)
    for loss, method in ((loss, method) for loss in LOSSES for method in METHODS):
        quotients = _methods_statistics.ratios(table, alone, loss, method)
        cell: dict[str, str | None] = {
            "data": data,
            "loss": LOSSES[loss],
            "method": METHODS[method],
        }
        pair = [f"{loss}_baseline", f"{loss}_{method}"]
        reasons = {"time": _methods_statistics.untimed(alone, pair)}
        reasons["phase"] = reasons["time"] or "within one logged step"
        for series, values in quotients.items():
            title, less, more = SERIES[series]
            title = title.format(*levels)
            lacking = "not reached" if quotients["steps"].isna().all() else reasons.get(series)
            ours = factor(values, less, more) or lacking
            cell[f"{title}, ours"] = ours if set(pair) <= cases else "not run"
            cell[f"{title}, published"] = published.get(f"{loss}_{method}_{series}", "-")
            ratios.append(_tidy(values, loss, method, series))
        cell["seeds"] = f"{quotients['steps'].notna().sum()} of {len(quotients)}"
        cells.append(cell)
    return pd.DataFrame(cells), pd.concat(ratios, ignore_index=True)


def _tidy(values: pd.Series, loss: str, method: str, series: str) -> pd.DataFrame:
    frame = values.rename("ratio").reset_index()
    return frame.assign(loss=loss, method=method, series=series)


def factor(ratios: pd.Series, less: str, more: str) -> str:
    """Ratios as a factor of at least 1 and a word for its direction: ``x2.1 ± 0.3 fewer``.

    Empty if there is none.
    """
    ratios = ratios.dropna()
    if ratios.empty:
        return ""
    word = less
    if ratios.mean() < 1:
        ratios, word = 1 / ratios, more
    return f"x{spread(ratios, 2)} {word}"


def spread(values: Iterable[float], digits: int) -> str:
    """Mean and standard deviation over seeds (of a sample), or the one value, if all are finite."""
    values = np.asarray(list(values), dtype=float)
    if not np.isfinite(values).all():
        return "not finite"
    text = f"{values.mean():.{digits}f}"
    return f"{text} ± {values.std(ddof=1):.{digits}f}" if len(values) > 1 else text


def budget(table: pd.DataFrame, published: dict[str, str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Accuracy and alignment of Jacobian rows after a common number of updates: text and numbers.

    `published` has the paper's cells: of each case ``_accuracy``, ``_min`` and ``_max``.
    """
    numbers = _methods_statistics.budget(table)
    cells = []
    for loss, method in ((loss, method) for loss in LOSSES for method in BUDGET):
        case = f"{loss}_{method}"
        own = numbers[numbers["case"] == case]
        ours, steps = ("not run", "not run"), "-"
        if len(own):
            least, most = (spread(own[f"row_alignment_{end}"], 3) for end in ("min", "max"))
            ours = f"{spread(100 * own['test_accuracy'], 1)} %", f"{least} / {most}"
            steps = f"{own['step'].max():,.0f}"
        cells.append(
            {
                "data": data_named(table),
                "loss": LOSSES[loss],
                "method": METHODS.get(method, method),
                "test accuracy, ours": ours[0],
                "test accuracy, published": published[f"{case}_accuracy"],
                "row alignment (min / max), ours": ours[1],
                "row alignment, published": " / ".join(
                    published[f"{case}_{end}"] for end in ("min", "max")
                ),
                "steps": steps,
                "seeds": str(len(own)),
            }
        )
    return pd.DataFrame(cells), numbers


def compute(tables: Tables, published: dict[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The cost of figures and tables beside the published, as text, and that of every run."""
    costs = _methods_statistics.costs(tables)
    cells = []
    for row in published["rows"]:
        own = _methods_statistics.runs_of(costs, row["experiments"])
        processors = sorted(own["processor"].unique())
        cell: dict[str, Any] = {"figure or table": row["what"], "published": row["cost"]}
        cell |= {"ours, on": "; ".join(processors), "runs": str(len(own))}
        cell["hours"] = f"{own['hours'].sum():.3g}"
        cell["memory / MiB"] = f"{own['memory_mb'].max():,.0f}"
        cells.append(cell)
    return pd.DataFrame(cells), costs


def printed_factor(cell: str) -> tuple[float, float, float]:
    """A printed factor as baseline / method: its mean, and it one deviation either way.

    The reciprocal of a factor that says ``more``: ``x1.92 ± 0.29 more`` is 0.52 (0.45 to 0.61).
    """
    mean, deviation = map(float, re.findall(r"[\d.]+", cell))
    ends = [mean, mean - deviation, mean + deviation]
    if cell.endswith("more"):
        middle, most, least = (1 / end for end in ends)
        return middle, least, most
    return ends[0], ends[1], ends[2]


def seeds_in_row(axes: Axes, height: float, values: pd.Series, colour: str) -> None:
    """A point for each seed about a height, and a bar at their mean."""
    seen = values.dropna()
    look = style.Look(color=colour, zorder=3)
    heights = height + np.linspace(-WIDE, WIDE, len(seen))
    axes.plot(seen, heights, "o", ms=3, alpha=0.7, label="_", **look)
    axes.plot([seen.mean()], [height], "|", ms=11, mew=1.6, **look)


def published_in_row(axes: Axes, height: float, mean: float, low: float, high: float) -> None:
    """An open mark at a published mean, with its standard deviation."""
    open_mark = style.Look(mfc="white", mew=1, ms=4.5, elinewidth=0.8, color=style.GUIDE)
    axes.errorbar([mean], [height], xerr=[[mean - low], [high - mean]], fmt="o", **open_mark)


def key_of_rows(axes: Axes) -> None:
    """The entries of the legend for the marks of `seeds_in_row` and `published_in_row`."""
    axes.plot([], [], "o-", ms=3, color=style.GUIDE, label="each seed, and their mean")
    axes.plot([], [], "o-", mfc="white", color=style.GUIDE, label="published, mean and s.d.")
