"""Every claim on made tables: met by what is published, not by its control.

Run `python -m pytest` in this folder.
"""

from pathlib import Path

import pandas as pd
import pytest
import yaml
from grokatlas.papers.norm_cap import claims

FILE = Path(__file__).parents[1] / "config/papers/norm_cap/claims.yaml"
GROUPS = yaml.safe_load(FILE.read_text(encoding="utf-8"))
CLAIMS = {claim["id"]: claim for group in GROUPS.values() for claim in group["claims"]}


def rows(cap, reached, final):
    """The rows of a ceiling, of two seeds."""
    history = {"record": "history", "step": [0, 8000], "test_accuracy": [0.01, final]}
    times = {"record": "grokking_times", "t2": [reached]}
    made = pd.concat([pd.DataFrame(history), pd.DataFrame(times)])
    return pd.concat([made.assign(seed=seed, cap=cap) for seed in (0, 1)])


TABLES = {"s5": pd.concat([rows("1", 325, 1.0), rows("3", 700, 1.0), rows("none", 3525, 1.0)])}


def met(claim, tables, **control):
    """Values in the claim's interval, one truth for each seed."""
    values = getattr(claims, claim["value"])(tables, **claim.get("keywords", {}) | control)
    low, high = claim["expected"]
    return [(low is None or low <= value) and (high is None or value <= high) for value in values]


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_a_claim_is_met_as_published_and_not_by_its_control(claim):
    assert all(met(claim, TABLES))
    control = claim["fails_with"]
    if isinstance(control, str):
        assert not any(met(claim, getattr(claims, control)(TABLES)))
    else:
        assert not any(met(claim, TABLES, **control))
