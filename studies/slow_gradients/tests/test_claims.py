"""Every claim on made tables: met by what is published, not by its control.

Run `python -m pytest` in this folder.
"""

import pandas as pd
import pytest

from grokatlas.study import claim_tests


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


@pytest.mark.parametrize("claim", claim_tests.of("slow_gradients"), ids=lambda claim: claim.id)
def test_a_claim_is_met_as_published_and_not_by_its_control(claim):
    claim_tests.check("slow_gradients", claim, TABLES)
