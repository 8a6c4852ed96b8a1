"""Negative controls: what has to fail a claim, judged by the claim's own function and interval.

A claim that its control meets as well tells nothing: it is *not decisive*.
"""

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from grokatlas.claims import judging
from grokatlas.claims.judging import Tables
from grokatlas.claims.verdicts import MISSED, NOT_DECISIVE, NOT_RUN, PARTLY, REJECTED, REPRODUCED
from grokatlas.errors import UserError

Row = dict[str, Any]
Under = Mapping[tuple[str, str, str], Row]  # rows by paper, claim and interpretation


def checked(paper: str, claim: Row, row: Row, tables: Tables | None, under: Under) -> Row:
    """A claim's row with its control, at paper scale.

    Args:
        paper: its paper.
        claim: as in `judging.row`, with ``fails_with``: keywords laid over its own, an
            interpretation of `under`, or a function of its module from tables to tables.
        row: what `judging.row` gave.
        tables: that it reads; None where they are not made.
        under: what was judged under interpretations.
    """
    named = claim.get("fails_with")
    if not named or tables is None or row["verdict"] == NOT_RUN:
        return row
    judged = _judged(paper, claim, named, tables, under)
    verdict = MISSED if judged["verdict"] == REJECTED else judged["verdict"]
    control = {"control": in_words(named), "control_verdict": verdict}
    control["control_value"] = judged.get("value")
    if row["verdict"] in (REPRODUCED, PARTLY) and verdict not in (MISSED, NOT_RUN):
        control["verdict"] = NOT_DECISIVE
        control["reason"] = f"its control meets it too ({control['control']}); {row['reason']}"
    return row | control


def in_words(named: str | dict[str, Any]) -> str:
    """A control as text: ``lambda halved``, ``case blog``."""
    if isinstance(named, str):
        return named.replace("_", " ")
    return ", ".join(f"{key} {value}" for key, value in named.items())


def _judged(
    paper: str, claim: Row, named: str | dict[str, Any], tables: Tables, under: Under
) -> Row:
    """The row of a claim under its control."""
    alone = claim | {"rejects": None}
    if isinstance(named, dict):
        alone |= {"keywords": claim["keywords"] | named}
        return judging.row(paper, alone, tables, "paper")
    owner, _, counted = claim["same_as"].partition("/")
    if row_under := under.get((owner or paper, counted or claim["id"], named)):
        return row_under
    change = getattr(importlib.import_module(claim["module"]), named, None)
    if change is None:  # an interpretation that was not judged
        return {"verdict": NOT_RUN}
    try:
        with np.errstate(all="ignore"):
            changed = change(tables)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        problem = f"{named} cannot be computed: {type(error).__name__} {error}"
        raise UserError(f"claim {claim['id']} of {paper}", problem) from error
    return judging.row(paper, alone, changed, "paper")
