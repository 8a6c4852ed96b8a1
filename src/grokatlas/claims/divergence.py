"""Members that diverged, or that the watch stopped: named in figures, left out of claims."""

import re
import weakref
from collections.abc import Iterable

import numpy as np
import pandas as pd

# columns of a history that are finite as long as a member has not diverged; a test compares them
# with what observables declare
WATCHED = re.compile(r"(\w+_)?(loss|error|deviation|distance|accuracy)(\.\d+)?|parameters\..*")


STOPPED = "stopped"  # column of a history: whether the watch stopped the member at this row

Members = set[tuple[str, int]]  # run and member

# members that diverged, that were stopped, and all, of tables that are still there, by identity
_FOUND: dict[int, tuple[Members, Members, Members]] = {}


def lost(table: pd.DataFrame) -> Members:
    """The members of a table whose last row is not what its run declares: diverged or stopped."""
    return set.union(*_members_of(table)[:2])


def _members_of(table: pd.DataFrame) -> tuple[Members, Members, Members]:
    """`diverged`, `stopped` and all members of a table, looked for once, as many claims ask for it.

    Args:
        table: of an experiment; nobody changes it later.
    """
    key = id(table)
    if key not in _FOUND:
        _FOUND[key] = diverged(table), stopped(table), _members(_history(table))
        weakref.finalize(table, _FOUND.pop, key, None)
    return _FOUND[key]


def stopped(table: pd.DataFrame) -> Members:
    """Run and member of every member that the watch stopped, by the mark in its last row.

    A member that reached its levels of ``train.stop`` is none: it ended as its run declares.

    Args:
        table: of an experiment.
    """
    if STOPPED not in table:
        return set()
    history = _history(table)
    return _members(history[history[STOPPED].eq(True)])


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
    spoilt_members = _members(last[spoilt.loc[last.index]])
    rest = last[~logged.loc[last.index].any(axis=1)].set_index(["run", "member"])
    values = rest.select_dtypes("float")
    began = np.isfinite(first.loc[rest.index, values.columns].astype("float64"))
    ended = np.isfinite(values.astype("float64"))
    return spoilt_members | set(values.index[(began & ~ended).any(axis=1)])


def note(tables: Iterable[pd.DataFrame]) -> str:
    """The number of members that diverged or were stopped, as text; empty if none."""
    known, nonfinite, ended = Members(), Members(), Members()
    for table in tables:
        for members, own in zip((nonfinite, ended, known), _members_of(table), strict=True):
            members |= own
    kinds = ((nonfinite, "diverged"), (ended, "stopped by the watch"))
    parts = [f"{len(members)} of {len(known)} members {how}" for members, how in kinds if members]
    return ", ".join(parts)


def without(table: pd.DataFrame) -> pd.DataFrame:
    """A table without any row of the members that diverged or were stopped."""
    left_out = lost(table)
    if not left_out:
        return table
    return table[~pd.MultiIndex.from_frame(table[["run", "member"]]).isin(left_out)]


def finite(table: pd.DataFrame) -> pd.DataFrame:
    """A table where no number of a member that diverged is infinite: it is missing instead."""
    members = lost(table)
    if not members:
        return table
    floats = table.select_dtypes("float")
    rows = pd.MultiIndex.from_frame(table[["run", "member"]]).isin(members)
    return table.assign(**floats.mask(np.isinf(floats) & rows[:, None])).copy()


def _history(table: pd.DataFrame) -> pd.DataFrame:
    """The logged rows; none where a table does not name runs, members and steps."""
    if not {"run", "member", "step"} <= set(table):
        return pd.DataFrame(columns=["run", "member", "step"])
    return table[table["record"] == "history"]


def _members(rows: pd.DataFrame) -> Members:
    return set(rows[["run", "member"]].itertuples(index=False, name=None))
