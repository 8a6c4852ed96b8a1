"""Claims under other interpretations of their paper: the same function on the cases that stand in.

A claim of which a number changes when the drawn cases are taken away reads them; no other claim has
anything to do with the interpretation. The cases that stand in then take the names of the drawn
ones, and the claim is judged as ever.
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
COMPARES = "it compares both interpretations"
SAME = "at this scale its runs are those that are drawn"
LACKS = "its number needs runs that this interpretation does not have"
NUMBER = (
    "module",
    "value",
    "published_cells",
    "digitised_points",
)  # what a claim takes its number by
WHERE = ["paper", "experiment", "case"]  # columns of a table that say whose its rows are
COLUMNS = (
    *("paper", "id", "interpretation", "state", "verdict", "reason", "value", "lowest", "highest"),
    *("count", "values", "same_as", "commit", "code", "runs", "forecast_seconds"),
)

Row = dict[str, Any]


@dataclass(frozen=True)
class Otherwise:
    """The tables of a figure under another interpretation.

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
        """The tables of the claim's function: cases that stand in, under the names of the drawn."""
        return {**self.drawn, **{name: self._renamed(name) for name in self.taken}}

    @property
    def same(self) -> bool:
        """True if all that stands in holds what is drawn: small runs need not differ."""
        return not any(self._differing.values())

    @cached_property
    def without_drawn(self) -> Tables:
        """The figure's tables without the drawn cases for which others stand in.

        Where some of these hold the same, only the others are left out.
        """
        pairs = {name: self._pairs(name) for name in self.taken}
        return self._without({n: set(pairs[n] if self.same else self._differing[n]) for n in pairs})

    @cached_property
    def without_others(self) -> Tables | None:
        """The figure's tables without the cases that stand in, where they are in the same table."""
        own = {
            name: set(cases.values()) - set(cases)
            for name, cases in self.cases.items()
            if cases and self.taken[name] is self.drawn[name]
        }
        return self._without(own) if own else None

    @cached_property
    def _differing(self) -> dict[str, list[str]]:
        """By experiment, the drawn cases whose stand-in holds something else."""
        return {
            name: [
                drawn
                for drawn, here in self._pairs(name).items()
                if not _equal(_of_case(self.drawn[name], drawn), _of_case(self.taken[name], here))
            ]
            for name in self.taken
        }

    def _pairs(self, name: str) -> dict[str, str]:
        """Each drawn case of an experiment, and the one that stands in."""
        cases = self.cases[name]
        return {e: e for e in self.drawn[name]["case"].unique()} if cases is None else cases

    def _renamed(self, name: str) -> pd.DataFrame:
        table, cases = self.taken[name], self.cases[name]
        if cases is None:
            return table
        parts = [_of_case(table, here).assign(case=drawn) for drawn, here in cases.items()]
        return pd.concat(parts, ignore_index=True)

    def _without(self, gone: dict[str, set[str]]) -> Tables:
        left = {name: self.drawn[name] for name in gone}
        left = {name: table[~table["case"].isin(gone[name])] for name, table in left.items()}
        return {**self.drawn, **left}


def row(
    paper: str, claim: Row, judgement: Row, otherwise: Otherwise | None, scale: str
) -> Row | None:
    """A claim under another interpretation as a row; None where it reads nothing that is otherwise.

    Args:
        paper: its paper.
        claim: as in `judging.row`.
        judgement: what the plan tells of it: ``interpretation``, ``keywords``, ``same_as``,
            ``not_judged`` and ``rejects``, see `grokatlas.declare.interpretations`.
        otherwise: its figure's tables; None where one is not made.
        scale: of these tables.
    """
    known = {"paper": paper, "id": claim["id"], "count": 0}
    known |= {key: judgement[key] for key in ("interpretation", "same_as")}
    if scale not in claim["scales"]:
        reason = f"judged at {' and '.join(claim['scales'])} scale"
        return known | {"state": OTHER_SCALE, "verdict": NOT_RUN, "reason": reason}
    if otherwise is None:
        return known | {"state": ABSENT, "verdict": NOT_RUN, "reason": "its tables are not made"}
    undefined = {**known, "state": UNDEFINED, "verdict": NOT_RUN}
    as_drawn = judgement["keywords"] == claim["keywords"]
    if otherwise.cases:
        drawn = _values(paper, claim, otherwise.drawn, scale)
        if as_drawn and drawn == _values(paper, claim, otherwise.without_drawn, scale):
            return None  # nothing that it reads is otherwise
        if as_drawn and otherwise.same:
            return undefined | {"reason": SAME}
        others = otherwise.without_others
        if others is not None and drawn != _values(paper, claim, others, scale):
            return undefined | {"reason": COMPARES}
    if judgement["not_judged"]:
        return undefined | {"reason": judgement["not_judged"]}
    changed = {key: judgement[key] for key in ("keywords", "rejects")}
    changed["so_far"] = judgement.get("so_far", "")
    try:
        judged = judging.row(paper, claim | changed, otherwise.tables, scale)
    except UserError as error:
        lacks = f"{LACKS}: " if otherwise.taken else ""
        return undefined | {"reason": f"{lacks}{error.problem}"}
    if judged["verdict"] == NOT_RUN:
        return undefined | {"reason": judged["reason"]}
    judged = {key: value for key, value in judged.items() if key in COLUMNS}
    return {**known, **judged, "same_as": known["same_as"], "state": JUDGED}


def from_claim(
    paper: str, claim: Row, judgement: Row, other: Row, otherwise: Otherwise | None, scale: str
) -> Row | None:
    """A claim whose number is that of another one under an interpretation, by another function.

    It is judged by its own interval, and at scales that both have.

    Args:
        paper: of both.
        claim: as in `judging.row`.
        judgement: as in `row`; ``same_as`` is the other one.
        other: the other one, likewise.
        otherwise: the tables of the other one's figure; None where one is not made.
        scale: of these tables.
    """
    taken = {key: other[key] for key in NUMBER}
    if scale in claim["scales"]:
        taken["scales"] = other["scales"]
    changed = {"keywords": other["keywords"], "rejects": judgement["rejects"] or other["rejects"]}
    changed["so_far"] = other.get("so_far", "")
    return row(paper, claim | taken, judgement | changed, otherwise, scale)


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


def _of_case(table: pd.DataFrame, case: str) -> pd.DataFrame:
    return table[table["case"] == case]


def _equal(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    """True if two parts of tables hold the same, whosever they are; empty columns do not count."""
    parts = [
        table.drop(columns=WHERE, errors="ignore").dropna(axis="columns", how="all")
        for table in (one, other)
    ]
    return parts[0].reset_index(drop=True).equals(parts[1].reset_index(drop=True))
