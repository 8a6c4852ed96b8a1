"""Every claim on made tables: met by what is published, not by its control.

Run `python -m pytest` in this folder.
"""

import pandas as pd
import pytest

from grokatlas.study import claim_tests


def rows(cap, reached, final):
    """The rows of a ceiling, of two seeds."""
    history = {"record": "history", "step": [0, 8000], "test_accuracy": [0.01, final]}
    times = {"record": "grokking_times", "t2": [reached]}
    made = pd.concat([pd.DataFrame(history), pd.DataFrame(times)])
    return pd.concat([made.assign(seed=seed, cap=cap) for seed in (0, 1)])


TABLES = {"s5": pd.concat([rows("1", 325, 1.0), rows("3", 700, 1.0), rows("none", 3525, 1.0)])}


@pytest.mark.parametrize("claim", claim_tests.of("norm_cap"), ids=lambda claim: claim.id)
def test_a_claim_is_met_as_published_and_not_by_its_control(claim):
    claim_tests.check("norm_cap", claim, TABLES)
