"""Plate 5: slow times of theories and of training, from tables whose answer is known."""

import math

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.plates import _theories, claims

NAMES = {"slow": {"gradients.0.factor": 0.1, "optimizer.lr": 0.1}, "equal": {"optimizer.lr": 0.1}}


def _run(case, rises, steps=100, seed=0, **values):
    """Members that come to a test accuracy of 0.9 at a step, or never."""
    keys = {"record": "history", "case": case, "seed": seed, "run": case, "member": seed}
    named = {name.replace("__", "."): value for name, value in values.items()}
    named |= NAMES.get(case.split("_")[0], {})
    return [
        keys | named | {"step": step, "test_accuracy": 0.95 if step >= rises else 0.5}
        for step in range(0, steps + 1, 10)
    ]


def _table(training=50, length=100, zero_loss=20, joint=40):
    """Slow times: training 0.01 and 0.001 a step, theories 0.01 a step."""
    rows = _run("equal_1", training, length, penalties__0__weight=0.05)
    rows += _run("slow_1", training, length, penalties__0__weight=0.05)
    rows += _run("zero_loss", zero_loss, dynamics__rate=0.01)
    rows += _run("ridge", 30, dynamics__rate=0.01, dynamics__weight_decay=0.05)
    rows += _run("ridge", 60, dynamics__rate=0.01, dynamics__weight_decay=0.07)
    rows += _run("joint", joint, dynamics__rate=0.01, dynamics__ratio=1.0)
    rows += _run("joint", 10, dynamics__rate=0.01, dynamics__ratio=10.0)
    return pd.DataFrame(rows)


def _quotient(table, theory, regime="equal", weight_decay=0.05):
    tables = {_theories.TABLE: table}
    (value,) = claims.predicted_over_measured(tables, theory, regime, weight_decay)
    return value


def test_training_is_compared_with_the_ridge_of_its_decay_and_the_flow_of_its_rates():
    table = _table()
    assert _quotient(table, "zero_loss") == pytest.approx(0.4)
    assert _quotient(table, "ridge") == pytest.approx(0.6)
    assert _quotient(table, "joint") == pytest.approx(0.8)
    assert _quotient(table, "joint", "slow") == pytest.approx(2.0)
    assert claims.predicted_over_measured({_theories.TABLE: table}, "ridge", "equal", 0.07) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"training": math.inf}, 0.0),  # training goes on for longer than the prediction
        ({"training": math.inf, "joint": 100, "length": 90}, math.nan),  # it does not
        ({"joint": math.inf}, math.inf),
        ({"joint": math.inf, "training": 110, "length": 120}, math.nan),
        ({"joint": math.inf, "training": math.inf}, math.nan),
    ],
)
def test_what_never_comes_is_a_quotient_of_0_or_infinite_and_unknown_if_not_awaited(
    changes, expected
):
    assert _quotient(_table(**changes), "joint") == pytest.approx(expected, nan_ok=True)


def test_the_error_of_a_theory_is_that_of_the_logarithm():
    tables = {_theories.TABLE: _table()}
    keywords = {"regime": "equal", "weight_decay": 0.05}
    (value,) = claims.error_beside(tables, theory="zero_loss", other="joint", **keywords)
    assert value == pytest.approx(math.log(0.8 / 0.4))
    tables = {_theories.TABLE: _table(joint=math.inf)}
    assert claims.error_beside(tables, "zero_loss", "joint", **keywords) == [-math.inf]


def test_a_member_that_diverged_has_no_time():
    table = _table()
    late = (table["case"] == "joint") & (table["step"] >= 60)
    table.loc[late, "test_accuracy"] = np.nan
    tables = {_theories.TABLE: table}
    assert claims.predicted_over_measured(tables, "joint", "equal", 0.05) == []
    assert _quotient(table, "zero_loss") == pytest.approx(0.4)
