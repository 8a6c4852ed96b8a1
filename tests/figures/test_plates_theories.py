"""Plate 5 on synthetic tables, as data and marks."""

import math

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from grokatlas.papers.plates import _limits, _theories, theories
from grokatlas.papers.two_timescales import _theory

DECAYS = {"equal_1": 0.05, "equal_2": 0.02, "slow_1": 0.05}


def _run(case, rises, **values):
    """Two seeds, the second one half as late, that come to a test accuracy of 0.95, or never."""
    rows = []
    for seed in (0, 1):
        keys = {"record": "history", "case": case, "seed": seed, "run": case, "member": seed}
        keys |= {"task.modulus": 17} | {
            name.replace("__", "."): each for name, each in values.items()
        }
        for step in range(0, 201, 10):
            there = step >= rises / (1 + seed)
            rows.append(keys | {"step": step, "test_accuracy": 0.95 if there else 0.5})
    return rows


def _addition():
    """Slow time is 0.01 a step, but for a first layer ten times slower."""
    rows = []
    for case, rises in (("equal_1", 100), ("equal_2", math.inf), ("slow_1", 100)):
        factor = 0.1 if case == "slow_1" else np.nan
        lr = 0.005 / DECAYS[case] / (factor if factor == 0.1 else 1)
        settings = {_theories.DECAY: DECAYS[case], "optimizer.lr": lr, _theories.FACTOR: factor}
        rows += _run(case, rises, **settings)
    rows += _run("zero_loss", 40, dynamics__rate=0.01)
    rows += _run("ridge", math.inf, dynamics__rate=0.01, dynamics__weight_decay=0.05)
    rows += _run("joint", 80, dynamics__rate=0.01, dynamics__ratio=1.0)
    rows += _run("joint", 60, dynamics__rate=0.01, dynamics__ratio=10.0)
    return pd.DataFrame(rows)


def _product(gamma, half):
    keys = {"case": f"scaled_{gamma:g}", "seed": 0, _limits.DECAY: 0.5, "optimizer.lr": 0.1}
    first = {"parameters.factors.0": gamma, "parameters.factors.1": 0.0}
    first |= {"test_error": 1.0, "l2_norm": 1.0}
    rows = [keys | {"record": "history", "step": 0} | first]
    for step in range(0, 101, 10):
        path = {"distance_l1": 1.0 if 0.1 * step < half else 0.0, "between": 1.0}
        rows.append(keys | {"record": "hypentropy_path", "step": step} | path)
    return rows


def _distances():
    keys = {"record": "zero_loss_distance", "seed": 0, "step": 1, _limits.OTHER_DECAY: np.nan}
    return [
        keys | {"case": case, "member": member, _limits.DECAY: decay, "distance": decay * member}
        for case in ("hyperbola", "relu_network")
        for member in (1, 2, 3)
        for decay in (1e-3, 1e-2)
    ]


def _flows():
    return [
        {"record": "history", "case": "fast", "seed": 0, _limits.DECAY: decay, "optimizer.lr": 1.0}
        | {"step": step, "parameters.a": 1.0 + decay * step}
        for decay in (0.0, 0.01, 0.1)
        for step in (0, 1)
    ]


@pytest.fixture(scope="module")
def drawn():
    tables = {f"theory_{name}": pd.DataFrame(_flows()) for name in _theory.HORIZONS}
    tables |= {"addition_theories": _addition(), "theorem": pd.DataFrame(_distances())}
    product = _product(1.0, 0.5) + _product(math.e**4, 4.5)
    made, data = theories.draw(tables | {"rescaled_factors": pd.DataFrame(product)})
    return made.axes[:6], data


def _marks(axes):
    """Colour, whether it is filled, and height of each mark of panel c."""
    found = set()
    for line in axes.lines:
        if line.get_marker() in "v^os" and line.get_linestyle() == "None":
            filled = to_hex(line.get_markerfacecolor()) != "#ffffff"
            heights = np.round(np.asarray(line.get_ydata(), float), 3)
            found |= {(to_hex(line.get_color()).upper(), filled, float(y)) for y in heights}
    return found


def test_marks_are_quotients_and_ends_of_the_axis_are_never(drawn):
    axes, _ = drawn
    colours = {name: look[2].upper() for name, look in theories.THEORIES.items()}
    marks = _marks(axes[2])
    assert (colours["zero_loss"], True, 0.4) in marks
    assert (colours["joint"], True, 0.8) in marks
    assert (colours["joint"], False, 0.6) in marks
    assert (colours["ridge"], True, theories.HIGHEST) in marks  # theory never comes to it
    assert (colours["joint"], True, theories.LOWEST) in marks  # training at 0.02 does not
    assert (theories.PRODUCT[2].upper(), True, round(4 / 4.5, 3)) in marks


def test_curves_hold_training_and_the_flow_of_its_own_rates(drawn):
    _, data = drawn
    for letter, first in (("a", 0.6), ("b", 0.4)):  # where half of the seeds are there
        part = data[(data["panel"] == letter) & (data["kind"] == "joint")]
        assert part.loc[part["median"] > 0.9, "slow_time"].min() > first
        assert len(part) == part["slow_time"].nunique()
    trained = data[(data["panel"] == "a") & (data["kind"] == "equal")]
    assert set(trained["weight_decay"]) == {0.05, 0.02}
    assert set(data.loc[(data["panel"] == "b"), "kind"]) == {"slow", "zero_loss", "joint"}


def test_the_slope_is_told_and_distances_have_their_range(drawn):
    axes, data = drawn
    names = axes[3].get_legend_handles_labels()[1]
    assert "fitted: 1.00 log $\\gamma$ + 0.50" in names
    part = data[(data["panel"] == "e") & (data["weight_decay"] == 1e-2)]
    assert (
        part[["min", "median", "max"]].to_numpy().tolist()
        == [pytest.approx([0.01, 0.02, 0.03])] * 2
    )
    part = data[(data["panel"] == "f") & (data["problem"] == "diagonal_network")]
    assert part["median"].tolist() == pytest.approx([0.01, 0.1])
