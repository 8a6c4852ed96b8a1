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


def trained(case, memorised, generalised):
    """A training that is right on its data at an update, and on all at a later one."""
    train, test = [0.01, 1.0, 1.0], [0.01, 0.2, 1.0]
    return rows(case, [0, memorised, generalised], train_accuracy=train, test_accuracy=test)


def learnt(operation, times):
    """The update at which an operation is learnt, by the share of the data; None for never."""
    return pd.concat(
        rows(
            "numbers",
            [0, step or 100000],
            test_accuracy=[0.01, 1.0 if step else 0.2],
            **{"task.operation": operation, "task.train_fraction": fraction},
        )
        for fraction, step in times.items()
    )


TABLES = {
    "division": pd.concat([trained("no_decay", 800, 900000), trained("decay", 700, 20000)]),
    "fractions": pd.concat(
        [
            learnt("sum", {0.5: 2000, 0.8: 400}),
            learnt("difference", {0.5: None, 0.8: 900}),
            learnt("composition", {0.25: 60000, 0.3: 9000, 0.7: 600, 0.8: 550}),
            learnt("x^3+xy^2+y", {0.5: None, 0.8: None}),
        ]
    ),
}


@pytest.mark.parametrize("claim", claim_tests.of("algorithmic_data"), ids=lambda claim: claim.id)
def test_a_claim_is_met_as_published_and_not_by_its_control(claim):
    claim_tests.check("algorithmic_data", claim, TABLES)
