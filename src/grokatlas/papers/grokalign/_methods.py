"""Tables of methods compared, which `grokalign` and its workshop version share."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from grokatlas.papers.grokalign import _methods_readings
from grokatlas.papers.grokalign._jacobians import data_named

LOSSES = {"ce": "cross-entropy", "mse": "squared error"}
METHODS = {"grokalign": "GrokAlign", "grokfast": "Grokfast", "adversarial": "adversarial"}
SERIES = {  # of two levels, in percent
    "steps": ("steps to {1:g} %", "fewer", "more"),
    "time": ("time to {1:g} %", "less", "more"),
    "phase": ("time from {0:g} to {1:g} %", "less", "more"),
}

# table 1 of both documents: (loss, method, series) -> its text
ACCELERATION = {
    ("ce", "grokalign", "steps"): "x7.56 ± 0.82 fewer",
    ("ce", "grokalign", "time"): "x6.41 ± 0.69 less",
    ("ce", "grokfast", "steps"): "x1.01 ± 0.04 more",
    ("ce", "grokfast", "time"): "x1.03 ± 0.04 more",
    ("ce", "adversarial", "steps"): "x1.32 ± 0.18 fewer",
    ("ce", "adversarial", "time"): "x1.92 ± 0.29 more",
    ("mse", "grokalign", "steps"): "x1.69 ± 0.31 fewer",
    ("mse", "grokalign", "time"): "x1.46 ± 0.30 less",
    ("mse", "grokalign", "phase"): "x1.77 ± 0.53 less",
    ("mse", "grokfast", "steps"): "x1.08 ± 0.17 fewer",
    ("mse", "grokfast", "time"): "x1.05 ± 0.23 less",
    ("mse", "grokfast", "phase"): "x1.05 ± 0.27 less",
    ("mse", "adversarial", "steps"): "x1.23 ± 0.26 fewer",
    ("mse", "adversarial", "time"): "x1.92 ± 0.29 more",
    ("mse", "adversarial", "phase"): "x2.02 ± 0.37 more",
}

# table 2 of both: (loss, method) -> test accuracy, and alignment (min / max)
BUDGET = {
    ("ce", "baseline"): ("88.9 %", "-0.254 / 0.283"),
    ("ce", "grokalign"): ("91.8 %", "-0.509 / 0.478"),
    ("ce", "adversarial"): ("88.0 %", "-0.253 / 0.274"),
    ("mse", "baseline"): ("86.8 %", "-0.170 / 0.272"),
    ("mse", "grokalign"): ("88.2 %", "-0.638 / 0.709"),
    ("mse", "adversarial"): ("87.8 %", "-0.263 / 0.376"),
}


def acceleration(table: pd.DataFrame, alone: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """How much sooner each method reaches a test accuracy than the baseline, seed by seed.

    Times are steps multiplied by the device time of an update of one member trained alone.

    Args:
        table: cases ``<loss>_<method>`` with the measure ``reached_steps`` at two levels; some may
            be absent.
        alone: the same cases with the measure ``cost``, one member each.

    Returns:
        the table's cells as text beside the published, and the ratios baseline / method of every
        seed that reached the level under both.
    """
    ratios, cells, cases = [], [], set(table["case"])
    reached = table.loc[table["record"] == "reached_steps", "level"]
    levels, data = [100 * reached.min(), 100 * reached.max()], data_named(table)
    for loss, method in ((loss, method) for loss in LOSSES for method in METHODS):
        found = _methods_readings.ratios(table, alone, loss, method)
        cell = {"data": data, "loss": LOSSES[loss], "method": METHODS[method]}
        pair = [f"{loss}_baseline", f"{loss}_{method}"]
        reasons = {"time": _methods_readings.untimed(alone, pair)}
        reasons["phase"] = reasons["time"] or "within one logged step"
        for series, values in found.items():
            title, less, more = SERIES[series]
            title = title.format(*levels)
            lacking = "not reached" if found["steps"].isna().all() else reasons.get(series)
            ours = factor(values, less, more) or lacking
            cell[f"{title}, ours"] = ours if set(pair) <= cases else "not run"
            cell[f"{title}, published"] = ACCELERATION.get((loss, method, series), "-")
            ratios.append(_tidy(values, loss, method, series))
        cell["seeds"] = f"{found['steps'].notna().sum()} of {len(found)}"
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


def budget(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Test accuracy and alignment of Jacobian rows after a common number of updates.

    Args:
        table: cases ``<loss>_<method>`` with the measure ``jacobian_rows``; some may be absent.

    Returns:
        the table's cells as text beside the published, and the numbers of every seed.
    """
    numbers = _methods_readings.budget(table)
    cells = []
    for (loss, method), (accuracy, alignment) in BUDGET.items():
        own = numbers[numbers["case"] == f"{loss}_{method}"]
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
                "test accuracy, published": accuracy,
                "row alignment (min / max), ours": ours[1],
                "row alignment, published": alignment,
                "steps": steps,
                "seeds": str(len(own)),
            }
        )
    return pd.DataFrame(cells), numbers


def compute(
    tables: dict[str, pd.DataFrame], artefacts: list[tuple[str, list[str], str]]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What figures and tables cost, beside what is published.

    Args:
        tables: experiments with the measure ``cost``.
        artefacts: of each row: what it is, its experiments, the paper's text.

    Returns:
        the table's cells as text, and the cost of every run.
    """
    costs = _methods_readings.costs(tables)
    cells = []
    for title, experiments, published in artefacts:
        own = _methods_readings.runs_of(costs, experiments)
        processors = sorted(own["processor"].unique())
        cell: dict[str, Any] = {"figure or table": title, "published": published}
        cell |= {"ours, on": "; ".join(processors), "runs": str(len(own))}
        cell["hours"] = f"{own['hours'].sum():.3g}"
        cell["memory / MiB"] = f"{own['memory_mb'].max():,.0f}"
        cells.append(cell)
    return pd.DataFrame(cells), costs
