"""Plate 5: slow times of theories and of training, from tables whose answer is known."""

import math

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.plates import _limits, _theories, claims
from grokatlas.papers.two_timescales import _theory

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


def test_slow_time_is_that_of_the_first_layer():
    found = _theories.times(_table()).set_index(["kind", "weight_decay", "ratio"])["time"]
    assert found["equal", 0.05, 1.0] == pytest.approx(0.5)
    assert found["slow", 0.05, 10.0] == pytest.approx(0.05)
    assert found["zero_loss", 0.0, math.inf] == pytest.approx(0.2)


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


def _factors(gamma, half, weight=0.5, case="scaled_1"):
    """A product whose distance from the least l1 norm falls through a half at a slow time."""
    keys = {"case": case, "seed": 0, _limits.DECAY: weight, "optimizer.lr": 0.1}
    first = {"parameters.factors.0": gamma, "parameters.factors.1": 0.0}
    first |= {"test_error": 1.0, "l2_norm": 1.0}
    rows = [keys | {"record": "history", "step": 0} | first]
    for step in range(0, 101, 10):
        left = 1.0 if 0.1 * step < half else 0.0
        path = {"record": "hypentropy_path", "distance_l1": left, "between": 1.0}
        rows.append(keys | {"step": step} | path)
    return rows


def test_a_change_is_half_way_and_its_slope_is_against_the_logarithm():
    rows = _factors(1.0, 0.5) + _factors(math.e**4, 4.5, case="scaled_2")
    rows += _factors(0.2, 0.5, case="orbit_8") + _factors(2.0, 99.0, case="weight_half")
    found = _limits.changes(pd.DataFrame(rows)).set_index("gamma")["time"]
    assert found.index.tolist() == pytest.approx([1.0, 2.0, math.e**4])
    assert found.tolist() == pytest.approx([0.5, np.nan, 4.5], nan_ok=True)
    both = _limits.changes(pd.DataFrame(rows))
    assert _limits.line(both) == pytest.approx((1.0, 0.5))


def test_the_largest_distance_counts_no_start_and_needs_every_snapshot():
    rows = [
        {"record": "zero_loss_distance", "case": "hyperbola", "member": member, "seed": 0}
        | {"step": step, "distance": value, _limits.OTHER_DECAY: 0.1, _limits.DECAY: np.nan}
        for member, values in enumerate([(9.0, 1.0, 2.0), (9.0, 1.0, np.nan)])
        for step, value in enumerate(values)
    ]
    found = _limits.distances(pd.DataFrame(rows))
    assert found["distance"].tolist() == pytest.approx([2.0, np.nan], nan_ok=True)
    assert found["weight_decay"].tolist() == [0.1, 0.1]


def test_departures_are_relative_to_the_start_and_end_at_the_horizon():
    rows = [
        {"record": "history", "case": "fast", "seed": 0, _limits.DECAY: decay, "optimizer.lr": 1.0}
        | {"step": step, "parameters.a.0": 3.0, "parameters.a.1": 4.0 + decay * step}
        for decay in (0.0, 0.1)
        for step in (0, 1, 10, 200)
    ]
    tables = {f"theory_{name}": pd.DataFrame(rows) for name in _theory.HORIZONS}
    found = _limits.departures(tables).set_index("problem")["departure"]
    expected = {"matrix_completion": 0.2, "two_layer_relu": 0.02, "diagonal_network": 0.2}
    assert found.to_dict() == pytest.approx(expected)
