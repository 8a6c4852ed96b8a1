"""Members of runs whose loss became no finite number: said in figures, left out of claims."""

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

# columns of a history that are finite as long as a member has not diverged; a test compares them
# with what observables declare
WATCHED = re.compile(r"(\w+_)?(loss|error|deviation|distance|accuracy)(\.\w+)?")


def lost(table: pd.DataFrame) -> set[tuple[str, int]]:
    """Run and member of every member whose last losses, errors or accuracies are not finite.

    The run's manifest names the same members (see `endings`). A column that a run has no number in
    is none that it logs.

    Args:
        table: of an experiment.
    """
    history = _history(table)
    watched = history[[name for name in history if WATCHED.fullmatch(name)]].astype("float64")
    logged = watched.groupby(history["run"]).transform("count") > 0
    spoilt = (logged & ~np.isfinite(watched)).any(axis=1)
    last = history.groupby(["run", "member"])["step"].transform("max") == history["step"]
    return _members(history[spoilt & last])


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


def _history(table: pd.DataFrame) -> pd.DataFrame:
    """The logged rows; none where a table does not name runs and members."""
    if not {"run", "member"} <= set(table):
        return pd.DataFrame(columns=["run", "member"])
    return table[table["record"] == "history"]


def _members(rows: pd.DataFrame) -> set[tuple[str, int]]:
    return set(rows[["run", "member"]].itertuples(index=False, name=None))
