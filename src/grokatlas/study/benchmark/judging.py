"""The judgement: from the times of trials to a method's row, its verdict and its rank.

Times are in updates or in counted operations; of a run that never generalises the time is the
budget. All comparisons are of logarithms, paired by seed.
"""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from grokatlas.study.benchmark.protocol import Grid, Protocol

UNITS = ("updates", "operations")
VERDICTS = {-1: "sooner", 0: "equal", 1: "later"}
COLUMNS = ["task", "method", "number", "value", "seed", "updates", "operations", "reached", "run"]
# the columns of `rows` that are compared or shown, and what they hold
KINDS: dict[str, type] = {
    **dict.fromkeys(("task", "method", "run"), str),
    **dict.fromkeys(("value", *UNITS), float),
    "seed": int,
    "reached": bool,
    "edge": bool,
}
Grids = dict[tuple[str, str], Grid]  # by task and method


def trials(table: pd.DataFrame, task: str, method: str, grid: Grid, times: str) -> pd.DataFrame:
    """A row for each trial and seed of a method: the columns `COLUMNS`.

    Args:
        table: of the experiment of the method on the task.
        task: its name.
        method: its name.
        grid: of its knob.
        times: the measure that has the time ``t2``, missing for never.
    """
    rows = table[table["record"] == times]
    counted = table[table["record"] == "operations"].groupby("case")["operations"].median()
    frames = []
    for number in grid.numbers:
        values = rows[grid.path].astype(float)
        part = rows[np.isclose(values, grid.value(number), rtol=1e-9, atol=0)]
        updates = part["t2"].fillna(part["train.steps"]).clip(lower=1)
        frames.append(
            pd.DataFrame(
                {
                    "task": task,
                    "method": method,
                    "number": number,
                    "value": grid.value(number),
                    "seed": part["seed"].astype(int),
                    "updates": updates.astype(float),
                    "operations": updates * part["case"].map(counted),
                    "reached": part["t2"].notna(),
                    "run": part["run"],
                }
            )
        )
    return pd.concat(frames, ignore_index=True)[COLUMNS]


def chosen(table: pd.DataFrame, seed: int) -> pd.Series:
    """The number of each (task, method) with the fewest updates on a seed; the smallest of equal.

    Args:
        table: from `trials`.
        seed: that of choice.
    """
    order = table[table["seed"] == seed].sort_values(["updates", "number"])
    return order.groupby(["task", "method"])["number"].first()


def extended(grids: Grids, table: pd.DataFrame, protocol: Protocol) -> Grids:
    """The grids, each with a further number if its best is at an end and it may have one more."""
    most = protocol.trials + protocol.extensions
    best = chosen(table, protocol.choose)
    return {
        key: grid.further(best.get(key, np.nan)) if len(grid.numbers) < most else grid
        for key, grid in grids.items()
    }


def rows(table: pd.DataFrame, grids: Grids, protocol: Protocol) -> pd.DataFrame:
    """The trials with the chosen number on the judged seeds, and ``edge``.

    ``edge`` is true where that number is still at an end of its grid.
    """
    best = chosen(table, protocol.choose)
    at_end = {key: best[key] in (g.numbers[0], g.numbers[-1]) for key, g in grids.items()}
    keys = pd.MultiIndex.from_frame(table[["task", "method"]])
    own = table["number"].to_numpy() == best.reindex(keys).to_numpy()
    judged = table[own & table["seed"].isin(protocol.judge).to_numpy()]
    edges = [at_end[key] for key in zip(judged["task"], judged["method"], strict=True)]
    return judged.assign(edge=edges).reset_index(drop=True)


def compared(every: pd.DataFrame, protocol: Protocol) -> pd.DataFrame:
    """The comparison of each method with the baseline and with all others, for each task and unit.

    Args:
        every: rows of all methods, from `rows`.
        protocol: its baseline, level and confidence.

    Returns:
        ``quotient``, the geometric mean over seeds of the time over the baseline's, with its
        interval ``low`` to ``high`` by bootstrap over seeds; ``p`` of an exact test that swaps the
        two on any seeds, and the ``verdict``; the ``rank`` among the methods with its interval
        ``first`` to ``last``; ``time``, the geometric mean, ``seeds`` and ``reached``.
    """
    cells = []
    for unit in UNITS:
        for _, part in every.groupby("task", sort=False):
            logs = np.log(part.pivot(index="seed", columns="method", values=unit)).dropna()
            base = logs[protocol.baseline]
            for method, own in part.groupby("method", sort=False):
                ratio = _against(logs[method] - base, protocol)
                rank = _rank(logs, str(method), protocol.confidence)
                cell = {key: own[key].iloc[0] for key in ("task", "method", "value", "edge")}
                counts = {"seeds": len(own), "reached": int(own["reached"].sum())}
                time = {"unit": unit, "time": float(np.exp(logs[method].mean()))}
                cells.append(cell | counts | time | ratio | rank)
    return pd.DataFrame(cells)


def _against(difference: pd.Series, protocol: Protocol) -> dict[str, Any]:
    """A method's quotient over the baseline's, from differences of logarithms by seed."""
    values = difference.to_numpy()
    mean = values.mean()
    low, high = _interval((values,), np.mean, protocol.confidence)
    p = 1.0
    if np.ptp(values) or mean:
        swapped = stats.permutation_test(
            (values, np.zeros_like(values)),
            _mean_difference,
            permutation_type="samples",
            vectorized=True,
            n_resamples=2**16,
            random_state=0,
        )
        p = float(swapped.pvalue)
    verdict = VERDICTS[int(np.sign(mean)) if p <= protocol.level else 0]
    ends = np.exp([mean, low, high])
    return dict(zip(("quotient", "low", "high"), map(float, ends), strict=True)) | {
        "p": p,
        "verdict": verdict,
    }


def _rank(logs: pd.DataFrame, method: str, confidence: float) -> dict[str, Any]:
    """The rank of a method by its mean, 1 for the least, among so many (``of``)."""
    others = logs.drop(columns=method)
    samples = (logs[method].to_numpy(), *(others[name].to_numpy() for name in others))

    def rank(own: np.ndarray, *rest: np.ndarray, axis: int = -1) -> np.ndarray:
        mean = own.mean(axis=axis)
        return 1.0 + sum((each.mean(axis=axis) < mean - 1e-12).astype(float) for each in rest)

    low, high = _interval(samples, rank, confidence) if len(samples) > 1 else (1, 1)
    first, last = int(np.floor(low)), int(np.ceil(high))
    return {"rank": int(rank(*samples)), "first": first, "last": last, "of": len(samples)}


def _interval(samples: Any, statistic: Any, confidence: float) -> tuple[float, float]:
    """Percentiles of a bootstrap over seeds, the same seeds of all samples."""
    interval = stats.bootstrap(
        samples,
        statistic,
        paired=True,
        vectorized=True,
        method="percentile",
        confidence_level=confidence,
        n_resamples=2000,
        random_state=0,
    ).confidence_interval
    return float(interval.low), float(interval.high)


def _mean_difference(first: np.ndarray, second: np.ndarray, axis: int = -1) -> np.ndarray:
    return (first - second).mean(axis=axis)
