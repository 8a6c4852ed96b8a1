"""What a watched run is searched for at each log: values that are not finite, spikes, stagnation.

Each class looks at the columns of one log, ``[C, m]`` for the `m` members that still train, and
tells in which of these members its sign is there now. Its state follows from the rows that it has
seen, in arrays with a last axis ``M`` of all members, so that a resumed run finds what an
undisturbed one does.
"""

from typing import Protocol

import numpy as np

from grokatlas.engine.contracts import Spec

Arrays = dict[str, np.ndarray]
Places = np.ndarray | slice  # of the members that still train, among all; all of them are a slice
Found = tuple[np.ndarray, np.ndarray, np.ndarray] | None


class Sign(Protocol):
    """Something that may go wrong.

    Attributes:
        state: all that later looks depend on, ``[..., M]`` or ``[1]``.
    """

    state: Arrays

    def __init__(self, rule: Spec, steps: int, columns: int, members: int) -> None:
        """Before the first log.

        Args:
            rule: the numbers of the sign.
            steps: of the run.
            columns: ``C``.
            members: of the run, ``M``.
        """

    def look(self, step: int, at: Places, values: np.ndarray, /) -> Found:
        """Look at one log.

        Args:
            step: of the log.
            at: the members' places in the run.
            values: columns ``[C, m]``, in float64.

        Returns:
            whether the sign is there ``[m]``, the column that shows it, by its place among the
            columns ``[m]``, and a number that belongs to it ``[m]``; None if no member shows it.
        """


class NonFinite:
    """A column is infinite or not a number. The number is the value."""

    def __init__(self, rule: Spec, steps: int, columns: int, members: int) -> None:
        self.state: Arrays = {}

    def look(self, step: int, at: Places, values: np.ndarray) -> Found:
        """See `Sign`."""
        finite = np.isfinite(values)
        return None if finite.all() else _shown(~finite, values)


class Spike:
    """A column is above ``factor`` times its highest value of the last ``logs`` logs.

    So a rise over many logs is none, and nothing is in the first ``logs`` logs. It also has to be
    above ``floor`` times the first finite value of that column: at the level of rounding errors, a
    large factor says nothing. The number is the value.
    """

    def __init__(self, rule: Spec, steps: int, columns: int, members: int) -> None:
        self.factor, self.floor = rule["factor"], rule["floor"]
        self.state: Arrays = {
            "looks": np.zeros(1, dtype=np.int64),
            "recent": np.full((rule["logs"], columns, members), np.inf),  # until all are seen
            "first": np.full((columns, members), np.nan),
        }

    def look(self, step: int, at: Places, values: np.ndarray) -> Found:
        """See `Sign`."""
        recent, first = self.state["recent"], self.state["first"]
        high = values > self.factor * recent[:, :, at].max(axis=0)  # not for what is no number
        unknown = np.isnan(first[:, at])
        if unknown.any():
            known = np.where(np.isfinite(values), values, np.nan)
            first[:, at] = np.where(unknown, known, first[:, at])
        recent[int(self.state["looks"][0]) % len(recent)][:, at] = values
        self.state["looks"] += 1
        if not high.any():
            return None
        high &= (values > self.floor * np.abs(first[:, at])) & np.isfinite(values)
        return _shown(high, values)


class Stagnation:
    """No column has moved by more than ``tolerance`` of its value for a while.

    The while is ``share`` of the run's steps and ``logs`` logs, whichever is longer; the number is
    the step since when nothing moved. What is not finite has moved if it was finite before.
    """

    def __init__(self, rule: Spec, steps: int, columns: int, members: int) -> None:
        self.logs, self.tolerance = rule["logs"], rule["tolerance"]
        self.least = rule["share"] * steps
        self.state: Arrays = {
            "reference": np.full((columns, members), np.nan),
            "since": np.zeros(members, dtype=np.int64),
            "still": np.full(members, -1, dtype=np.int64),  # logs after `since` without a move
        }

    def look(self, step: int, at: Places, values: np.ndarray) -> Found:
        """See `Sign`."""
        state = self.state
        before = state["reference"][:, at]
        same = np.abs(values - before) <= self.tolerance * np.abs(before)
        same |= (values == before) | (np.isnan(values) & np.isnan(before))
        still = same.all(axis=0) & (state["still"][at] >= 0)
        state["reference"][:, at] = np.where(still, before, values)
        since = np.where(still, state["since"][at], step)
        logs = np.where(still, state["still"][at] + 1, 0)
        state["since"][at], state["still"][at] = since, logs
        long = (logs >= self.logs) & (step - since >= self.least)
        return (long, np.full(len(long), -1), since.astype(np.float64)) if long.any() else None


def _shown(there: np.ndarray, values: np.ndarray) -> Found:
    """A sign that is there in some columns ``[C, m]``: the first of them, and its value."""
    column = there.argmax(axis=0)
    shown = np.asarray(there.any(axis=0))
    return shown, column, values[column, np.arange(len(column))]


SIGNS: dict[str, type[Sign]] = {"nonfinite": NonFinite, "spike": Spike, "stagnation": Stagnation}
