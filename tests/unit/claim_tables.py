"""Synthetic tables, and the verdicts that the declared claims of a paper reach on them."""

import functools
import itertools
from pathlib import Path
from typing import Any

import pandas as pd

from grokatlas.claims import judging
from grokatlas.claims.verdicts import MISSED, NOT_RUN, REPRODUCED
from grokatlas.declare import versions
from grokatlas.declare.models import Paper
from grokatlas.declare.papers import load_papers
from grokatlas.results import layout

PAPERS = Path(__file__).parents[2] / "config" / "papers"


def rows(record: str = "history", **columns: Any) -> pd.DataFrame:
    """Rows of one record: lists are crossed, functions get the row made so far.

    A dot in a column's name is written ``__``.
    """
    columns = {"case": "", "run": "a" * 16, "seed": 0} | columns
    columns = {name.replace("__", "."): value for name, value in columns.items()}
    axes = {name: value for name, value in columns.items() if isinstance(value, list)}
    made = []
    for values in itertools.product(*axes.values()):
        row = {"record": record, **columns, **dict(zip(axes, values, strict=True))}
        for name, value in row.items():
            if callable(value):
                row[name] = value(row)
        made.append(row)
    return pd.DataFrame(made)


def table(*frames: pd.DataFrame) -> pd.DataFrame:
    """Several records as one table."""
    return pd.concat(frames, ignore_index=True)


def judged(paper: str, name: str, made: pd.DataFrame) -> dict[str, Any]:
    """The row of a declared claim, where every experiment of its figure has the given table."""
    (claim,) = (claim for claim in _papers()[paper].claims if claim.id == name)
    declared = versions.declared_claim(_papers(), paper, claim)
    names = layout.table_stems("paper", paper, declared["experiments"])
    return judging.row(paper, declared, dict.fromkeys(names, made), "paper")


@functools.cache
def _papers() -> dict[str, Paper]:
    return load_papers(PAPERS, "all")


def untested(paper: str, names: list[str]) -> set[str]:
    """The functions of a paper's claims that none of the named claims uses."""
    declared = _papers()[paper].claims
    return {c.value for c in declared} - {c.value for c in declared if c.id in names}


def verdicts(paper: str, name: str, meets: pd.DataFrame, misses: pd.DataFrame) -> list[str]:
    """The verdicts on a table that meets a claim, one that misses it, and one without its rows."""
    lacking = meets.assign(record="other")
    return [judged(paper, name, made)["verdict"] for made in (meets, misses, lacking)]


MEETS_MISSES_LACKS = [REPRODUCED, MISSED, NOT_RUN]
