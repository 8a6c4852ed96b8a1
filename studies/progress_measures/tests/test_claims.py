"""Every claim on made tables: met by what is published, not by its control.

Run `python -m pytest` in this folder.
"""

import pandas as pd
import pytest

from grokatlas.study import claim_tests


def rows(record, case, steps, **columns):
    """The rows of a case, of two seeds."""
    given = {"record": record, "case": case, "step": steps, "task.modulus": 113, **columns}
    return pd.concat([pd.DataFrame(given).assign(seed=seed) for seed in (0, 1)])


STEPS = [0, 1400, 9400, 14000, 40000]
TABLES = {
    "phases": pd.concat(
        [
            rows(
                "history",
                "published",
                STEPS,
                train_loss=[4.7, 1e-2, 1e-4, 1e-6, 1e-8],
                test_loss=[4.7, 15.0, 12.0, 0.05, 1e-7],
                test_accuracy=[0.01, 0.02, 0.1, 1.0, 1.0],
                l2_norm=[40.0, 60.0, 50.0, 32.0, 31.0],
            ),
            rows(
                "fourier_losses",
                "published",
                STEPS,
                restricted_loss=[4.7, 4.6, 1.0, 0.01, 1e-7],
                excluded_loss=[4.7, 0.1, 5.0, 5.3, 5.3],
                keys=5,
            ),
            rows(
                "history",
                "no_decay",
                STEPS,
                train_loss=[4.7, 1e-2, 1e-4, 1e-6, 1e-8],
                test_loss=[4.7, 15.0, 20.0, 25.0, 30.0],
                test_accuracy=0.02,
                l2_norm=[40.0, 60.0, 70.0, 75.0, 80.0],
            ),
            rows(
                "fourier_losses",
                "no_decay",
                STEPS,
                restricted_loss=4.7,
                excluded_loss=[4.7, 0.1, 1e-3, 1e-5, 1e-7],
                keys=0,
            ),
        ]
    )
}


@pytest.mark.parametrize("claim", claim_tests.of("progress_measures"), ids=lambda claim: claim.id)
def test_a_claim_is_met_as_published_and_not_by_its_control(claim):
    claim_tests.check("progress_measures", claim, TABLES)
