"""Numbers of tables that compare methods: what they are made of, and what claims on them read."""

import re
from typing import Any

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables


def ratios(
    table: pd.DataFrame,
    alone: pd.DataFrame,
    loss: str,
    method: str,
    never: float = np.nan,
) -> pd.DataFrame:
    """The baseline's steps and times over a method's, by seed.

    Times are steps multiplied by the device time of an update of one member trained alone; there
    are none where `untimed` says why.

    Args:
        table: cases ``<loss>_<method>`` with the measure ``reached_steps`` at two levels.
        alone: the same cases with the measure ``cost``, one member each; of several runs of a case
            the mean counts.
        loss: what its cases begin with.
        method: what follows in its case.
        never: the step of a level that was never reached.

    Returns:
        columns ``steps`` and ``time`` to the higher level, and ``phase``, the time from the lower
        to the higher; a seed that only one of the two has is not a number, nor is a phase that
        begins and ends at one logged step.
    """
    reached = statistics.record(table, "reached_steps")
    cases = {name: f"{loss}_{name}" for name in ("baseline", method)}
    seconds = statistics.record(alone, "cost").groupby("case")["update_seconds"].mean()
    if untimed(alone, list(cases.values())):
        seconds = pd.Series(dtype="float64")
    found, times = {}, {}
    for name, case in cases.items():
        found[name] = _reached(reached, case, never)
        times[name] = found[name].mul(seconds.get(case, np.nan))
    return pd.DataFrame(
        {
            "steps": found["baseline"]["reached"] / found[method]["reached"],
            "time": times["baseline"]["reached"] / times[method]["reached"],
            "phase": times["baseline"]["phase"] / times[method]["phase"],
        }
    )


def steps(tables: Tables, loss: str, method: str, variant: str) -> pd.DataFrame:
    """The steps of the ``baseline`` and of a method to the higher level, by seed.

    Args:
        tables: of table 1; cases ``<loss>_<method><variant>`` of ``acceleration<variant>``,
            otherwise as for `ratios`.
        loss: as there.
        method: as there.
        variant: what the experiment and its cases end with, such as ``_float32``; empty: float64.
    """
    rows = statistics.record(tables[f"acceleration{variant}"], "reached_steps")
    cases = {name: f"{loss}_{name}{variant}" for name in ("baseline", method)}
    return pd.DataFrame(
        {name: _reached(rows, case, np.nan)["reached"] for name, case in cases.items()}
    )


def untimed(alone: pd.DataFrame, cases: list[str]) -> str:
    """Why times of cases cannot be compared: not measured, or not on one machine; else empty."""
    rows = statistics.record(alone, "cost")
    rows = rows[rows["case"].isin(cases) & rows["update_seconds"].notna()]
    if not set(cases) <= set(rows["case"]):
        return "not timed"
    alike = len(rows[["processor", "threads"]].drop_duplicates()) == 1
    return "" if alike else "timed on different machines"


def _reached(rows: pd.DataFrame, case: str, never: float) -> pd.DataFrame:
    """Of each seed: the step of the higher level, and the steps from the lower to it.

    The latter is `never` where the higher is, and not a number where both are one logged step.
    """
    own = statistics.single(rows[rows["case"] == case], ["case", "seed", "level"])
    own = own.assign(step=own["step"].fillna(never))
    steps = own.pivot(index="seed", columns="level", values="step")
    steps = steps.reindex(columns=[rows["level"].min(), rows["level"].max()])
    lower, higher = steps.iloc[:, 0], steps.iloc[:, 1]
    phase = (higher - lower).where(higher != lower).where(np.isfinite(higher), higher)
    return pd.DataFrame({"reached": higher, "phase": phase})


def budget(table: pd.DataFrame) -> pd.DataFrame:
    """Test accuracy and alignment of Jacobian rows after a common number of updates.

    Args:
        table: cases ``<loss>_<method>`` with the measure ``jacobian_rows``; its last snapshot
            counts, which is of a run's last log if the run stopped before it.

    Returns:
        ``case``, ``seed``, ``step``, ``row_alignment_min``, ``row_alignment_max`` and
        ``test_accuracy``.
    """
    columns = ["case", "seed", "step"]
    history = statistics.single(statistics.record(table, "history"), columns)
    rows = statistics.single(statistics.record(table, "jacobian_rows"), columns)
    rows = rows.groupby(["case", "seed"], as_index=False).tail(1)
    ends = history.groupby(["case", "seed"], as_index=False).tail(1)
    rows = rows.merge(ends[columns], on=["case", "seed"], suffixes=("", "_end"))
    rows = rows.assign(step=rows[["step", "step_end"]].min(axis=1))
    rows = rows[[*columns, "row_alignment_min", "row_alignment_max"]]
    return rows.merge(history[[*columns, "test_accuracy"]], on=columns, how="left")


def costs(tables: Tables) -> pd.DataFrame:
    """The cost of every run of some experiments with the measure ``cost``, by ``experiment``."""
    columns = ["case", "run", "processor", "threads", "members", "hours", "memory_mb"]
    parts = []
    for name, table in tables.items():
        rows = table[table["record"] == "cost"].drop_duplicates("run")
        parts.append(rows[columns].assign(experiment=name))
    return pd.concat(parts, ignore_index=True)


def runs_of(taken: pd.DataFrame, experiments: list[str]) -> pd.DataFrame:
    """The rows of `costs` of some experiments, each run once."""
    return taken[taken["experiment"].isin(experiments)].drop_duplicates("run")


def hours_by_row(tables: Tables, published: dict[str, Any]) -> pd.DataFrame:
    """Hours of the rows of a table of costs whose published time is known.

    Args:
        tables: experiments with the measure ``cost``.
        published: the paper's ``rows``: ``what`` each is, its ``experiments``, and the ``cost`` as
            it is printed.

    Returns:
        ``published`` (``< 1 h`` counts as one hour) and ``ours``, by row.
    """
    taken = costs(tables)
    hours = {}
    for row in published["rows"]:
        named = re.search(r"(\d+) (h|day)", row["cost"])
        if named:
            stated = int(named[1]) * (24 if named[2] == "day" else 1)
            ours = runs_of(taken, row["experiments"])["hours"].sum(min_count=1)
            hours[row["what"]] = (stated, ours)
    return pd.DataFrame.from_dict(hours, orient="index", columns=["published", "ours"])


def correlation_of_hours(tables: Tables, published: dict[str, Any]) -> list[float]:
    """Spearman's correlation of published hours and ours, over the rows of a table of costs."""
    hours = hours_by_row(tables, published)
    return [float(hours["published"].corr(hours["ours"], method="spearman"))]


def costliest_over_next(tables: Tables, published: dict[str, Any]) -> list[float]:
    """Our hours of the row with the longest published time, over those of the longest other."""
    hours = hours_by_row(tables, published)
    most = hours["published"].idxmax()
    return [float(hours.loc[most, "ours"] / hours["ours"].drop(most).max(skipna=False))]


def times_fewer(tables: Tables, loss: str, method: str, series: str) -> list[float]:
    """The baseline's number over a method's, of ``steps``, ``time`` or ``phase`` (see `ratios`).

    Zero where the method alone never reaches the level, infinite where the baseline alone does
    not, not a number where neither does.
    """
    quotients = ratios(tables["acceleration"], tables["update_time"], loss, method, never=np.inf)
    return quotients[series].tolist()


def times_fewer_beyond_noise(
    tables: Tables, loss: str, method: str, series: str, seeds: int
) -> list[float]:
    """The mean of `times_fewer` over seeds minus twice its standard error: above 1 for an order.

    Nothing with fewer seeds than `seeds`, not a number where a factor is infinite or none.
    """
    factors = pd.Series(times_fewer(tables, loss, method, series), dtype="float64")
    if len(factors) < seeds:
        return []
    return [float(factors.mean(skipna=False) - 2 * factors.sem(skipna=False))]


def times_more(tables: Tables, loss: str, method: str, series: str) -> list[float]:
    """A method's number over the baseline's, the reciprocal of `times_fewer`."""
    return (1 / pd.Series(times_fewer(tables, loss, method, series), dtype="float64")).tolist()


def percent_right(tables: Tables, case: str) -> list[float]:
    """Test accuracy after the common budget, in percent."""
    return (100 * _after_budget(tables, case, "test_accuracy")).tolist()


def percent_ahead(tables: Tables, loss: str) -> list[float]:
    """By how many percent of the test points GrokAlign is ahead of the better other method."""
    own, *others = (
        _after_budget(tables, f"{loss}_{method}", "test_accuracy")
        for method in ("grokalign", "baseline", "adversarial")
    )
    best = pd.concat(others, axis=1).max(axis=1, skipna=False)
    return (100 * (own - best)).tolist()


def row_alignment(tables: Tables, case: str, end: str) -> list[float]:
    """The ``min`` or ``max`` cosine of a Jacobian's rows with their input, after the budget."""
    return _after_budget(tables, case, f"row_alignment_{end}").tolist()


def row_alignment_over_baseline(tables: Tables, loss: str, method: str) -> list[float]:
    """The largest row alignment after the budget, a method's over the baseline's."""
    own, base = (
        _after_budget(tables, f"{loss}_{each}", "row_alignment_max")
        for each in (method, "baseline")
    )
    return (own / base).tolist()


def _after_budget(tables: Tables, case: str, column: str) -> pd.Series:
    numbers = budget(tables["common_budget"])
    return numbers[numbers["case"] == case].set_index("seed")[column]
