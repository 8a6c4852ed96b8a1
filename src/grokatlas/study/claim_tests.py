"""Claims on made tables, for the tests of a study: each is met, and not by its control."""

import importlib
import math
from collections.abc import Mapping

import pandas as pd

from grokatlas.declare.claim_models import Claim
from grokatlas.declare.names import PAPERS
from grokatlas.declare.papers import load_papers

Tables = Mapping[str, pd.DataFrame]


def of(paper: str) -> list[Claim]:
    """The declared claims of a paper of the working directory."""
    return load_papers(PAPERS, [paper])[paper].claims


def check(paper: str, claim: Claim, tables: Tables) -> None:
    """Check that every seed's number meets a claim, and none under its control.

    Args:
        paper: its paper.
        claim: with ``fails_with``: keywords, or a function of the paper's claims from tables to
            tables.
        tables: as the paper publishes it, by experiment; the claim gets those that it reads.

    Raises:
        AssertionError: a seed misses the claim, or meets its control; it has the numbers.
    """
    functions = importlib.import_module(f"grokatlas.papers.{paper}.claims")
    tables = {name: tables[name] for name in claim.read(tables)}
    control, changed = claim.fails_with, tables
    if not isinstance(control, dict):
        control, changed = {}, getattr(functions, str(control))(tables)
    value = getattr(functions, claim.value)
    low, high = claim.expected
    low, high = -math.inf if low is None else low, math.inf if high is None else high
    numbers = value(tables, **claim.keywords)
    assert [low <= number <= high for number in numbers] == [True] * max(1, len(numbers)), numbers
    others = value(changed, **claim.keywords | control)
    assert [low <= each <= high for each in others] == [False] * max(1, len(others)), others
