"""Members whose loss or parameters are not finite: named in figures, left out of claims."""

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

LOGGED = re.compile(r"(\w+_)?(loss|error)|parameters\..*")  # columns of a history


def lost(table: pd.DataFrame) -> set[tuple[str, int]]:
    """Run and member of every member whose logged losses or parameters are not all finite.

    A column that a run has no number in is none that it logs. Of a run that logs none of these, a
    member counts if anything that it logged was finite at first and is not later.

    Args:
        table: of an experiment.
    """
    history = _history(table)
    losses = history[[name for name in history if LOGGED.fullmatch(name)]].astype("float64")
    logged = losses.groupby(history["run"]).transform("count") > 0
    spoilt = (logged & ~np.isfinite(losses)).any(axis=1)
    rest = history[~logged.any(axis=1)].select_dtypes("float")
    if len(rest):
        there = np.isfinite(rest)
        keys = [history.loc[rest.index, key] for key in ("run", "member")]
        began = there.groupby(keys).transform("first")
        spoilt = spoilt | (began & ~there).any(axis=1).reindex(history.index, fill_value=False)
    return _members(history[spoilt])


def note(tables: Iterable[pd.DataFrame]) -> str:
    """How many members of some tables diverged, as text; empty if none."""
    found, known = set(), set()
    for table in tables:
        found |= lost(table)
        known |= _members(_history(table))
    return f"{len(found)} of {len(known)} members diverged" if found else ""


def without(table: pd.DataFrame) -> pd.DataFrame:
    """A table without any row of the members that diverged."""
    found = lost(table)
    if not found:
        return table
    return table[~pd.MultiIndex.from_frame(table[["run", "member"]]).isin(found)]


def finite(table: pd.DataFrame) -> pd.DataFrame:
    """A table where no number of a member that diverged is infinite: it is missing instead."""
    found = lost(table)
    if not found:
        return table
    floats = table.select_dtypes("float")
    rows = pd.MultiIndex.from_frame(table[["run", "member"]]).isin(found)
    return table.assign(**floats.mask(np.isinf(floats) & rows[:, None])).copy()


def _history(table: pd.DataFrame) -> pd.DataFrame:
    """The logged rows; none where a table does not name runs and members."""
    if not {"run", "member"} <= set(table):
        return pd.DataFrame(columns=["run", "member"])
    return table[table["record"] == "history"]


def _members(rows: pd.DataFrame) -> set[tuple[str, int]]:
    return set(rows[["run", "member"]].itertuples(index=False, name=None))
