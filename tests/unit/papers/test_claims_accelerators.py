"""Numbers of plate 7 from tables whose answer is known."""

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.plates import _accelerators, accelerators, claims

SEEDS = (100, 0, 1)
# method -> times on seeds 100, 0 and 1 by weight, and operations of an update
METHODS = {
    "none": ({np.nan: (900, 1000, 2000)}, 10),
    "l2": ({0.1: (500, 250, 500), 0.2: (400, 500, 900)}, 10),  # 0.2 is chosen: 0.5 and 0.45
    "grokalign": ({0.1: (600, 100, 100), 0.2: (300, 200, 300)}, 30),  # 0.2: 0.2 and 0.15
    "grokfast_ema": ({0.1: (None, 900, 900), 0.2: (None, 1, 1)}, 11),  # 0.1: the smaller of ties
    "noise": ({0.1: (None, None, None), 0.2: (None, None, None)}, 12),
}


def table(task, methods=None):
    rows = []
    linear = task in ("sparse", "completion")
    for case, (times, operations) in (METHODS | (methods or {})).items():
        for weight, steps in times.items():
            for seed, t2 in zip(SEEDS, steps, strict=True):
                keys = {"case": case, "seed": seed, "task.modulus": 7.0, "task.name": "mnist"}
                if case in _accelerators.WEIGHTS:
                    keys[_accelerators.WEIGHTS[case]] = weight
                record = "recovery_times" if linear else "grokking_times"
                rows.append(keys | {"record": record, "t2": t2})
                rows.append(keys | {"record": "operations", "operations": operations})
    return pd.DataFrame(rows)


def every(**changed):
    """Tables of all tasks, with other methods in those that are named."""
    return {f"accelerators_{task}": table(task, changed.get(task)) for task in _accelerators.TASKS}


@pytest.mark.parametrize(
    ("method", "unit", "quotients"),
    [
        ("l2", "updates", [0.5, 0.45]),
        ("l2", "operations", [0.5, 0.45]),
        ("grokalign", "updates", [0.2, 0.15]),
        ("grokalign", "operations", [0.6, 0.45]),
        ("noise", "updates", [np.inf, np.inf]),
    ],
)
def test_times_over_those_of_the_baseline_on_the_same_seed(method, unit, quotients):
    found = claims.time_over_baseline(every(), "ce", method, unit)
    assert found == pytest.approx(quotients)


def test_where_the_baseline_never_generalises():
    never = {"none": ({np.nan: (None, None, None)}, 10)}
    tables = every(ce=never)
    assert claims.time_over_baseline(tables, "ce", "l2", "updates") == [0, 0]
    assert np.isnan(claims.time_over_baseline(tables, "ce", "noise", "updates")).all()
    figure, _ = accelerators.draw(tables)
    assert "baseline\nnever" in [text.get_text() for text in figure.axes[0].texts]


def test_without_the_seed_of_choice_nothing_is_judged():
    figure, data = accelerators.draw({k: t[t["seed"] == 0] for k, t in every().items()})
    assert data.empty
    assert list(figure.axes[0].patches) == []
    assert not any(text.get_text() for text in figure.axes[0].texts)


def test_a_lead_is_over_the_best_other_method():
    assert claims.lead(every(), "ce", "grokalign", "updates") == pytest.approx([500 / 200, 3])
    # 500 updates of 10 over 200 of 30; 900 of 11 are more than 900 of 10
    assert claims.lead(every(), "ce", "grokalign", "operations") == pytest.approx([5 / 6, 1])
    assert claims.lead(every(), "ce", "noise", "updates") == [0, 0]


def test_the_largest_share_of_tasks_that_a_method_leads():
    assert claims.largest_share_led(every(), "updates") == [1]
    sooner = {"l2": ({0.1: (90, 100, 400)}, 10)}  # 0.1 and 0.2: not apart from 0.2 and 0.15
    led = dict.fromkeys(("addition", "mse", "xor", "sparse"), sooner)
    assert claims.largest_share_led(every(**led), "updates") == [4 / 7]
