"""Published statements as rows: what a claim's function finds in its tables, and the verdict."""

import importlib
import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from grokatlas.claims import divergence
from grokatlas.claims.published import asked_for
from grokatlas.claims.verdicts import (
    AFTERWARDS,
    NOT_DECISIVE,
    NOT_RUN,
    REJECTED,
    judge,
    middle,
    named,
)
from grokatlas.errors import UserError

GIVEN = (
    *("id", "statement", "place", "source", "figure", "published", "spread", "unit", "same_as"),
    "afterwards",
)
COLUMNS = (
    *("id", "paper", "verdict", "reason"),
    *GIVEN[1:],
    *("expected_low", "expected_high", "value", "lowest", "highest", "count", "values"),
    *("control", "control_value", "control_verdict"),
    *("commit", "code", "runs"),
)

Tables = Mapping[str, pd.DataFrame]


def row(paper: str, claim: dict[str, Any], tables: Tables | None, scale: str) -> dict[str, Any]:
    """One claim as a row of ``claims.csv``.

    Args:
        paper: its paper.
        claim: as the paper's YAML declares it, with the ``module`` of its function, what its figure
            has of the paper's numbers (``published_cells``) and points of its curves
            (``digitised_points``), the claim of another paper that has the same judgement
            (``same_as``), and of how many values its tables are (``so_far``), where they leave out
            some.
        tables: that the claim reads, by experiment; None where they are not made.
        scale: of these tables.

    Raises:
        UserError: the claim's function fails.
    """
    given = {key: claim.get(key, "") for key in GIVEN} | {"spread": _spread(claim["published"])}
    low, high = claim["expected"]
    given |= {"paper": paper, "expected_low": low, "expected_high": high}
    given["afterwards"] = AFTERWARDS if claim.get("afterwards") else ""
    if scale not in claim["scales"]:
        reason = f"judged at {' and '.join(claim['scales'])} scale"
        return given | {"verdict": NOT_RUN, "reason": reason, "count": 0}
    if tables is None:
        return given | {"verdict": NOT_RUN, "reason": "its tables are not made", "count": 0}
    lost = divergence.note(tables.values())
    converged = {name: divergence.without(table) for name, table in tables.items()}
    values, problem = _values(paper, claim, converged, lacking=bool(lost))
    seeds = 1 if scale == "quick" else claim["seeds"]  # small runs have fewer, as declared
    verdict, reason = judge(values, claim["expected"], claim["judged"], seeds)
    verdict = named(verdict, scale, claim["rejects"])
    if claim["rejects"] and verdict in (REJECTED, NOT_DECISIVE):
        reason = f"{claim['rejects']}; {reason}"
    if not values and (absent := _absent(claim["keywords"], converged)):
        reason += f"; no row has {absent}"
    reason += f"; {problem}" if problem else ""
    reason += f"; {lost} and left out" if lost else ""
    reason += f"; so far {claim['so_far']}" if claim.get("so_far") else ""
    known = [value for value in values if not math.isnan(value)]
    runs = sorted({str(run) for table in tables.values() for run in table["run"].unique()})
    outcome = {"verdict": verdict, "reason": reason, "count": len(known), "runs": " ".join(runs)}
    if known:
        outcome |= {
            "value": middle(known, claim["judged"]),
            "lowest": min(known),
            "highest": max(known),
        }
    return given | outcome | {"values": " ".join(repr(value) for value in values)}


def frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """The rows of all claims as they are written: one order of columns, whole counts."""
    made = pd.DataFrame(rows, columns=list(COLUMNS))
    numbers = ["expected_low", "expected_high", "value", "lowest", "highest", "spread"]
    numbers.append("control_value")
    made[numbers] = made[numbers].astype("float64")
    return made.astype({"count": "int64"})


def _spread(published: str) -> float | None:
    """The published standard deviation, if one is printed: 0.82 of ``x7.56 ± 0.82 fewer``."""
    printed = re.search(r"± ?([0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)", published)
    return float(printed[1]) if printed else None


def _absent(keywords: dict[str, Any], tables: Tables) -> str:
    """The first keyword whose value no table holds in the column of its name; empty if none."""
    for key, value in keywords.items():
        name = key.replace("__", ".")
        columns = [
            table[column].dropna()
            for table in tables.values()
            for column in table
            if column == name or column.endswith(f".{name}")
        ]
        held = {each for column in columns for each in column.unique()}
        if held and isinstance(value, Hashable) and value not in held:
            return f"{key}: {value} (there are {', '.join(sorted(map(str, held)))})"
    return ""


def _values(
    paper: str, claim: dict[str, Any], tables: Tables, lacking: bool
) -> tuple[list[float], str]:
    """The values of a claim's function, and its error where members are lacking.

    It may need the lacking ones, so that its error is no mistake; it has no number then.
    """
    module = importlib.import_module(claim["module"])
    function: Callable[..., Any] = getattr(module, claim["value"])
    keywords = claim["keywords"] | asked_for(
        function, claim["published_cells"], claim["digitised_points"]
    )
    place = f"claim {claim['id']} of {paper}"
    try:
        with np.errstate(all="ignore"):  # a quotient by 0 or of infinite steps is a value
            numbers = function(tables, **keywords)
        if isinstance(numbers, str | Mapping) or not isinstance(numbers, Iterable):
            kind = f"{type(numbers).__name__} is no list"
            raise TypeError(f"{kind}; return a number for each seed: [float, ...]")
        values = [float(value) for value in numbers]
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        problem = f"{claim['value']} cannot be computed: {type(error).__name__} {error}"
        if lacking:
            return [math.nan], problem
        raise UserError(place, problem) from error
    return values, ""
