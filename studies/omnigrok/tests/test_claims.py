"""Every claim on made tables: met by what is published, not by its control.

Run `python -m pytest` in this folder.
"""

import pandas as pd
import pytest

from grokatlas.study import claim_tests


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


@pytest.mark.parametrize("claim", claim_tests.of("omnigrok"), ids=lambda claim: claim.id)
def test_a_claim_is_met_as_published_and_not_by_its_control(claim):
    claim_tests.check("omnigrok", claim, TABLES)
