"""Every claim on made tables: met by what is published, not by its control.

Run `python -m pytest` in this folder.
"""

from pathlib import Path

import pandas as pd
import pytest
import yaml
from grokatlas.papers.omnigrok import claims

FILE = Path(__file__).parents[1] / "config/papers/omnigrok/claims.yaml"
GROUPS = yaml.safe_load(FILE.read_text(encoding="utf-8"))
CLAIMS = {claim["id"]: claim for group in GROUPS.values() for claim in group["claims"]}


def rows(case, steps, **columns):
    """The logged rows of a case, of two seeds."""
    given = {"record": "history", "case": case, "step": steps, **columns}
    return pd.concat([pd.DataFrame(given).assign(seed=seed) for seed in (0, 1)])


NORM = "dynamics.relative_norm"
LEAST = {0.1: (0.08, 0.09), 1.0: (1e-3, 0.03), 10.0: (1e-3, 0.3)}  # training and test
TABLES = {
    "training": pd.concat(
        [
            rows(
                "large",
                [0, 1000, 50000],
                train_accuracy=[0.1, 1.0, 1.0],
                test_accuracy=[0.1, 0.3, 0.85],
            ),
            rows(
                "standard",
                [0, 200, 400],
                train_accuracy=[0.1, 0.8, 1.0],
                test_accuracy=[0.1, 0.75, 0.85],
            ),
        ]
    ),
    "landscape": pd.concat(
        rows("norm", [0, 10000], train_loss=[1.0, train], test_loss=[1.0, test], **{NORM: norm})
        for norm, (train, test) in LEAST.items()
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
