"""Members whose loss or parameters are not finite: named in figures, left out of claims."""

import re
import weakref
from collections.abc import Iterable

import numpy as np
import pandas as pd

# columns of a history that are finite as long as a member has not diverged; a test compares them
# with what observables declare
WATCHED = re.compile(r"(\w+_)?(loss|error|deviation|distance|accuracy)(\.\d+)?|parameters\..*")


Members = set[tuple[str, int]]  # run and member of each

_FOUND: dict[int, tuple[Members, Members]] = {}  # of tables that are still there, by identity


def lost(table: pd.DataFrame) -> Members:
    """`diverged` of a table, looked for once, as many claims ask for it.

    Args:
        table: of an experiment; nobody changes it later.
    """
    return _looked_for(table)[0]


def _looked_for(table: pd.DataFrame) -> tuple[Members, Members]:
    key = id(table)
    if key not in _FOUND:
        _FOUND[key] = diverged(table), _members(_history(table))
        weakref.finalize(table, _FOUND.pop, key, None)
    return _FOUND[key]


def diverged(table: pd.DataFrame) -> Members:
    """Run and member of every member whose last losses, accuracies or parameters are not finite.

    The run's manifest names the same members (see `endings`). A column that a run has no number in
    is none that it logs. Of a run that logs none of these, a member counts if anything that it
    logged was finite at first and is not at last.

    Args:
        table: of an experiment.
    """
    history = _history(table)
    groups = history.groupby(["run", "member"])["step"]
    last = history[groups.transform("max") == history["step"]]
    first = history[groups.transform("min") == history["step"]].set_index(["run", "member"])
    watched = history[[name for name in history if WATCHED.fullmatch(name)]].astype("float64")
    logged = watched.groupby(history["run"]).transform("count") > 0
    spoilt = (logged & ~np.isfinite(watched)).any(axis=1)
    found = _members(last[spoilt.loc[last.index]])
    rest = last[~logged.loc[last.index].any(axis=1)].set_index(["run", "member"])
    values = rest.select_dtypes("float")
    began = np.isfinite(first.loc[rest.index, values.columns].astype("float64"))
    ended = np.isfinite(values.astype("float64"))
    return found | set(values.index[(began & ~ended).any(axis=1)])


def note(tables: Iterable[pd.DataFrame]) -> str:
    """How many members of some tables diverged, as text; empty if none."""
    found, known = set(), set()
    for table in tables:
        there = _looked_for(table)
        found |= there[0]
        known |= there[1]
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
    """The logged rows; none where a table does not name runs, members and steps."""
    if not {"run", "member", "step"} <= set(table):
        return pd.DataFrame(columns=["run", "member", "step"])
    return table[table["record"] == "history"]


def _members(rows: pd.DataFrame) -> Members:
    return set(rows[["run", "member"]].itertuples(index=False, name=None))
