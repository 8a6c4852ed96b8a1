"""Synthetic tables, and the verdicts that the declared claims of a paper reach on them."""

import itertools
from typing import Any

import pandas as pd

from grokatlas.claims import judging
from grokatlas.declare import versions
from grokatlas.results import layout
from tests.checkout import declared_papers


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
    """The row of a declared claim, where every experiment that it reads has the given table."""
    (claim,) = (claim for claim in declared_papers()[paper].claims if claim.id == name)
    declared = versions.declared_claim(declared_papers(), paper, claim)
    names = layout.table_stems("paper", paper, declared["read"])
    return judging.row(paper, declared, dict.fromkeys(names, made), "paper")
