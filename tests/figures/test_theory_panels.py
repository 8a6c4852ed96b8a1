"""Figures on theory of `grokalign` and `beyond_l2` on synthetic tables, as data."""

import itertools

import numpy as np
import pandas as pd

from grokatlas.papers.beyond_l2 import rescaling
from grokatlas.papers.grokalign import radius
from grokatlas.plots import style


def attacked():
    """Two methods at two steps: as the radius grows fewer hold."""
    cases, steps, levels = ("ce_baseline", "ce_grokalign"), (10, 100), (0.5, 0.9, 1.1)
    made = []
    for case, step, level in itertools.product(cases, steps, levels):
        better = case == "ce_grokalign"
        row = {"record": "l2_radius", "case": case, "seed": 0, "step": step, "level": level}
        row["robust_share"] = (1.0 if better else 0.8) - level / 2 - (step == 10) / 4
        row["radius_share"] = step / 1000 * (2 if better else 1)
        made.append(row | {"task.name": "digits", "task.train_points": 200})
    return pd.DataFrame(made)


def test_the_attack_is_drawn_at_the_last_step_and_the_radius_at_all():
    figure, drawn = radius.draw({"radius": attacked()})
    left, right = figure.axes
    shares = {line.get_label(): line.get_ydata() for line in left.lines}
    np.testing.assert_allclose(shares["GrokAlign"], [0.75, 0.55, 0.45])
    np.testing.assert_allclose(shares["baseline"], [0.55, 0.35, 0.25])
    np.testing.assert_allclose(shares["theorem 3"], [0, 1])  # a vertical line
    radii = [line.get_ydata() for line in right.lines if len(line.get_xdata()) == 2]
    np.testing.assert_allclose(radii[:2], [[0.01, 0.1], [0.02, 0.2]])
    assert set(drawn["method"]) == {"baseline", "grokalign"}


def rescaled():
    """Starts of both kinds whose distance falls through half of the way at ``beta t`` = 2 + k."""
    made = []
    starts = {"scaled_1": (1.0, 0.0), "scaled_2": (2.0, 0.0), "orbit_8": (2.0, 1 / 32)}
    for k, (case, (first, second)) in enumerate(starts.items()):
        shared = {"case": case, "seed": 0, "penalties.0.weight": 0.05, "optimizer.lr": 0.1}
        factors = {"parameters.factors.0": first, "parameters.factors.1": second}
        start = {"record": "history", "step": 0, "test_error": 1.0, "l2_norm": 1.0}
        made.append(shared | factors | start)
        for step in range(0, 601, 100):
            row = {"record": "hypentropy_path", "step": step, "between": 0.6}
            row["distance_l1"] = 0.3 + 0.1 * (2 + k - step / 100)
            made.append(shared | row | {"predicted_l1": 0.5})
    return pd.DataFrame(made)


def test_times_are_those_of_half_of_the_way_by_start():
    figure, drawn = rescaling.draw({"rescaled_factors": rescaled()})
    times = drawn.dropna(subset=["time"]).set_index(["kind", "gamma"])["time"]
    assert times.round(9).to_dict() == {
        ("scaled", 1.0): 2.0,
        ("scaled", 2.0): 3.0,
        ("orbit", 8.0): 4.0,
    }
    left, middle, right = figure.axes
    assert sum(line.get_linestyle() == ":" for line in left.lines) == 2
    assert sum(line.get_linestyle() == ":" for line in middle.lines) == 1
    guide = [line for line in right.lines if line.get_color() == style.GUIDE]
    np.testing.assert_allclose(guide[0].get_ydata(), [0.0, np.log(8)])
