"""Every claim on made tables: met by what is published, not by its control.

Run `python -m pytest` in this folder.
"""

import pandas as pd
import pytest

from grokatlas.study import claim_tests


def logged(case, train, test, corrupted):
    """The logged rows of a case, of two seeds."""
    given = {"train_accuracy": [0.0, train], "test_accuracy": [0.0, test]}
    given |= {"record": "history", "case": case, "step": [0, 1000]}
    made = pd.DataFrame(given | {"corrupted_accuracy": [0.0, corrupted]})
    return pd.concat([made.assign(seed=seed) for seed in (0, 1)])


def pruned(case, order, corrupted, test, ratio):
    """The rows of the measure for three units, of two seeds."""
    given = {"record": "pruning", "case": case, "order": order, "pruned": range(3), "ratio": ratio}
    made = pd.DataFrame(given | {"corrupted_accuracy": corrupted, "test_accuracy": test})
    return pd.concat([made.assign(seed=seed) for seed in (0, 1)])


TABLES = {
    "phases": pd.concat(
        [
            logged("coexistence", 0.98, 0.98, 0.94),
            logged("partial_inversion", 0.79, 1.0, 0.4),
            logged("full_inversion", 0.654, 1.0, 0.01),
            logged("forgetting", 0.01, 0.01, 0.01),
            logged("dropout", 0.66, 1.0, 0.02),
            pruned("coexistence", "low", [0.94, 0.3, 0.1], [0.98, 1.0, 0.7], [0.2, 0.5, 0.7]),
            pruned("coexistence", "high", [0.94, 0.8, 0.6], [0.98, 0.8, 0.2], [0.7, 0.5, 0.2]),
            pruned("full_inversion", "low", [0.0, 0.0, 0.0], [1.0, 1.0, 0.8], [0.8, 0.9, 0.9]),
        ]
    )
}


@pytest.mark.parametrize("claim", claim_tests.of("corrupted_labels"), ids=lambda claim: claim.id)
def test_a_claim_is_met_as_published_and_not_by_its_control(claim):
    claim_tests.check("corrupted_labels", claim, TABLES)
