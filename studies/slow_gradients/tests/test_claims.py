"""Every claim on made tables: met by what is published, not by its control.

Run `python -m pytest` in this folder.
"""

from pathlib import Path

import pandas as pd
import pytest
import yaml
from grokatlas.papers.slow_gradients import claims

FILE = Path(__file__).parents[1] / "config/papers/slow_gradients/claims.yaml"
GROUPS = yaml.safe_load(FILE.read_text(encoding="utf-8"))
CLAIMS = {claim["id"]: claim for group in GROUPS.values() for claim in group["claims"]}


def trained(case, memorised, generalised):
    """The logged rows of a case, of two seeds: right on its data at an update, later on all."""
    given = {"record": "history", "case": case, "step": [0, memorised, generalised]}
    given |= {"train_accuracy": [0.01, 1.0, 1.0], "test_accuracy": [0.01, 0.2, 0.96]}
    return pd.concat([pd.DataFrame(given).assign(seed=seed) for seed in (0, 1)])


TABLES = {
    "multiplication": pd.concat(
        [
            trained("baseline", 400, 39890),
            trained("decay", 400, 5000),
            trained("ema", 300, 910),
            trained("ma", 300, 790),
        ]
    ),
    "mnist": pd.concat(
        [
            trained("baseline", 500, 44022),
            trained("decay", 500, 2200),
            trained("ema", 500, 2001),
        ]
    ),
}


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
