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


def accuracies(case, decay, half, whole):
    """The test accuracy of a case that is half right at an update and right at another."""
    last = 1.0 if whole else 0.02
    given = {"test_accuracy": [0.01, 0.5 if half else 0.02, last]}
    return rows(case, [0, half or 100, whole or 300], **given, **{DECAY: decay})


DECAY = "optimizer.weight_decay"
COLLAPSED = {"float32_40": 1000, "float32_60": 5000, "float64_60": 20000}
TABLES = {
    "collapse": pd.concat(
        rows(case, [0, step], test_accuracy=0.02, collapsed_points=[0.0, 0.9])
        for case, step in COLLAPSED.items()
    ),
    "stablemax": rows("stablemax", [0, 80000], test_accuracy=[0.01, 1.0], collapsed_points=0.0),
    "decay": pd.concat(
        [
            accuracies("decay", 0.0, None, None),
            accuracies("decay", 8.0, 130, 200),
            accuracies("orthogonal", 0.0, 60, 120),
        ]
    ),
}


@pytest.mark.parametrize("claim", claim_tests.of("numerical_stability"), ids=lambda claim: claim.id)
def test_a_claim_is_met_as_published_and_not_by_its_control(claim):
    claim_tests.check("numerical_stability", claim, TABLES)
