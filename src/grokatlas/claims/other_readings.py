"""Claims under other readings of their paper: the same function on the cases that stand in.

A claim of which a number changes when the drawn cases are taken away reads them; no other claim has
anything to do with the reading. The cases that stand in then take the names of the drawn ones, and
the claim is judged as ever.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from grokatlas.claims import judging
from grokatlas.claims.judging import Tables
from grokatlas.claims.verdicts import NOT_RUN
from grokatlas.errors import UserError

JUDGED, ABSENT, UNDEFINED, OTHER_SCALE = "judged", "absent", "undefined", "other scale"
COMPARES = "it compares both readings"
LACKS = "its number needs runs that this reading does not have"
COLUMNS = (
    *("paper", "id", "reading", "state", "verdict", "reason", "value", "lowest", "highest"),
    *("count", "values", "same_as", "commit", "code", "runs", "forecast_seconds"),
)

Row = dict[str, Any]


@dataclass(frozen=True)
class Otherwise:
    """The tables of a figure under another reading.

    Attributes:
        drawn: the figure's own, by experiment.
        taken: by experiment, the table that stands in for it.
        cases: by experiment, each drawn case and the one that stands in; None: the whole table.
    """

    drawn: Tables
    taken: Tables
    cases: dict[str, dict[str, str] | None]

    @cached_property
    def tables(self) -> Tables:
        """What the claim's function gets: cases that stand in, under the names of the drawn."""
        return {**self.drawn, **{name: self._renamed(name) for name in self.taken}}

    @cached_property
    def without_drawn(self) -> Tables:
        """The figure's tables without the drawn cases for which others stand in."""
        return self._without({n: None if c is None else set(c) for n, c in self.cases.items()})

    @cached_property
    def without_others(self) -> Tables | None:
        """The figure's tables without the cases that stand in, where they are in the same table."""
        own = {
            name: set(cases.values()) - set(cases)
            for name, cases in self.cases.items()
            if cases and self.taken[name] is self.drawn[name]
        }
        return self._without(dict(own)) if own else None

    def _renamed(self, name: str) -> pd.DataFrame:
        table, cases = self.taken[name], self.cases[name]
        if cases is None:
            return table
        parts = [table[table["case"] == here].assign(case=drawn) for drawn, here in cases.items()]
        return pd.concat(parts, ignore_index=True)

    def _without(self, gone: dict[str, set[str] | None]) -> Tables:
        left = {
            name: table.iloc[:0] if cases is None else table[~table["case"].isin(cases)]
            for name, cases in gone.items()
            for table in [self.drawn[name]]
        }
        return {**self.drawn, **left}


def row(
    paper: str, claim: Row, judgement: Row, otherwise: Otherwise | None, scale: str
) -> Row | None:
    """A claim under another reading as a row; None where it reads nothing that is otherwise.

    Args:
        paper: its paper.
        claim: as in `judging.row`.
        judgement: what the plan tells of it: ``reading``, ``keywords``, ``same_as``, ``not_judged``
            and ``rejects``, see `grokatlas.declare.other_readings`.
        otherwise: its figure's tables; None where one is not made.
        scale: of these tables.
    """
    told = {"paper": paper, "id": claim["id"], "count": 0}
    told |= {key: judgement[key] for key in ("reading", "same_as")}
    if scale not in claim["scales"]:
        reason = f"judged at {' and '.join(claim['scales'])} scale"
        return told | {"state": OTHER_SCALE, "verdict": NOT_RUN, "reason": reason}
    if otherwise is None:
        return told | {"state": ABSENT, "verdict": NOT_RUN, "reason": "its tables are not made"}
    undefined = {**told, "state": UNDEFINED, "verdict": NOT_RUN}
    if otherwise.cases:
        drawn = _values(paper, claim, otherwise.drawn, scale)
        if drawn == _values(paper, claim, otherwise.without_drawn, scale):
            return None
        others = otherwise.without_others
        if others is not None and drawn != _values(paper, claim, others, scale):
            return undefined | {"reason": COMPARES}
    if judgement["not_judged"]:
        return undefined | {"reason": judgement["not_judged"]}
    changed = {key: judgement[key] for key in ("keywords", "rejects")}
    changed["so_far"] = judgement.get("so_far", "")
    try:
        found = judging.row(paper, claim | changed, otherwise.tables, scale)
    except UserError:
        return undefined | {"reason": LACKS}
    if found["verdict"] == NOT_RUN:
        return undefined | {"reason": found["reason"]}
    found = {key: value for key, value in found.items() if key in COLUMNS}
    return {**told, **found, "same_as": told["same_as"], "state": JUDGED}


def from_claim(paper: str, claim: Row, judgement: Row, other: Row, scale: str) -> Row:
    """A claim that another one judges under a reading, by another function: the row of that one.

    Args:
        paper: of both.
        claim: the one that is told.
        judgement: as in `row`; ``same_as`` is the other one.
        other: its row, as `judging.row` makes it.
        scale: of the tables.
    """
    told = {"paper": paper, "id": claim["id"]}
    told |= {key: judgement[key] for key in ("reading", "same_as")}
    state = JUDGED
    if other["verdict"] == NOT_RUN:
        made = other.get("runs")
        state = OTHER_SCALE if scale not in claim["scales"] else UNDEFINED if made else ABSENT
    return {**{key: other[key] for key in COLUMNS if key in other}, **told, "state": state}


def frame(rows: list[Row]) -> pd.DataFrame:
    """The rows as they are written: one order of columns, whole counts."""
    made = pd.DataFrame(rows, columns=list(COLUMNS))
    numbers = ["value", "lowest", "highest", "forecast_seconds"]
    made[numbers] = made[numbers].astype("float64")
    return made.astype({"count": "int64"})


def _values(paper: str, claim: Row, tables: Tables, scale: str) -> str:
    """A claim's numbers as text; empty where its function fails."""
    try:
        return str(judging.row(paper, claim, tables, scale)["values"])
    except UserError:
        return ""
