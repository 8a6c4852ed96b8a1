"""Numbers of plate 9 from tables whose answer is known."""

import math

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.plates import _jumps, claims

STEPS = range(0, 10000, 100)


def rows(case, seed, t2, *, jumps=(), gain=0.0, collapsed=0.2):
    """A run that memorises at 500 and gains test accuracy by each jump, right after it."""
    common = {"case": case, "run": case, "seed": seed}
    made = [common | {"record": "grokking_times", "t1": 500.0, "t2": t2}]
    for step in STEPS:
        since = [step - jump for jump in jumps if step >= jump]
        loss = 1e-2 if since and min(since) < 300 else 1e-6
        early = 1e-3 if step < 200 else 10.0  # a rise before memorisation is no jump
        seen = {"step": step, "train_loss": early if step < 500 else loss}
        seen |= {"test_accuracy": 0.5 + gain * len(since), "collapsed_points": collapsed}
        made.append(common | {"record": "history"} | seen)
    return made


@pytest.fixture
def tables():
    plain, new = [], []
    for seed in (0, 1):
        plain += rows("baseline_float64", seed, 8000.0)
        plain += rows("baseline_float32", seed, 6050.0, jumps=(3000, 6000), gain=0.1)
        plain += rows("grokalign_float32", seed, 1000.0, jumps=(2000,))
        new += rows("forced", seed, 4000.0 * (seed + 1), jumps=(2500,), gain=0.2)
        new += rows("emptied", seed, np.nan, collapsed=0.8)
    return {_jumps.PRECISION: pd.DataFrame(plain), _jumps.JUMPS: pd.DataFrame(new)}


def test_a_jump_is_counted_once_and_only_after_memorisation(tables):
    assert claims.number_of_jumps(tables, "baseline_float32", 9000) == [2, 2]
    assert claims.number_of_jumps(tables, "baseline_float32", 5000) == [1, 1]
    assert claims.number_of_jumps(tables, "emptied", 9000) == [0, 0]


def test_a_rise_right_after_a_jump_belongs_to_it():
    table = pd.DataFrame(rows("a", 0, 1.0, jumps=(3000, 3800, 5600)))
    seen = table[table["record"] == "history"].assign(t1=500.0)
    assert _jumps.jumps(seen)["step"].tolist() == [3000, 5600]


def test_the_gain_is_beside_that_of_another_case_in_the_same_updates(tables):
    forced = claims.gain_beside(tables, "forced", "baseline_float64", 2500, 2000)
    assert forced == pytest.approx([0.2, 0.2])
    assert claims.gain_beside(tables, "forced", "baseline_float64", 2600, 2000) == [0, 0]
    before = claims.gain_beside(tables, "forced", "baseline_float32", 2500, 2000)
    assert before == pytest.approx([0.1, 0.1])
    assert claims.gain_beside(tables, "emptied", "baseline_float64", 2500, 2000) == [0, 0]


def test_accuracies_are_compared_seed_by_seed(tables):
    after = claims.accuracy_beside_at(tables, "baseline_float32", "baseline_float64", 7000)
    assert after == pytest.approx([0.2, 0.2])


def test_generalisation_is_counted_from_the_last_jump_before_it(tables):
    assert claims.updates_since_jump(tables, "baseline_float32") == [50, 50]
    assert claims.updates_since_jump(tables, "baseline_float64") == [math.inf, math.inf]
    assert claims.updates_since_jump(tables, "emptied") == []


def test_the_largest_share_collapsed_is_that_from_an_update_on(tables):
    assert claims.largest_share_collapsed(tables, "emptied", 2000) == [0.8, 0.8]
