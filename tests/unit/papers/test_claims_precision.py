"""Numbers of plate 6 from tables whose answer is known."""

import math

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.plates import _precision, claims

BETA2 = {"l2": (0.99, 0.999), "none": (0.99,), "baseline": (0.999,), "grokalign": (0.999,)}
BETA2 |= {"transformer": (0.98,)}
T2 = {  # of seed 0 by task; seed 1 takes twice as long
    "baseline": {"float64": 600.0, "float32": 300.0, "float64_loss": 630.0},
    "grokalign": {"float64": 100.0, "float32": 100.0, "float64_loss": 100.0},
    "l2": {"float64": 400.0, "float32": 500.0, "float64_loss": 400.0},
    "none": {"float64": np.nan, "float32": np.nan, "float64_loss": np.nan},
    "transformer": {"float64": 200.0, "float32": np.nan, "float64_loss": 200.0},
}
OF = {"precision_images": ("baseline", "grokalign"), "precision_addition": ("l2", "none")}
OF |= {"precision_transformer": ("transformer",)}
# logged at these steps; memorised at 20
STEPS = (0, 10, 20, 30, 40)
COLLAPSED = {"float64": (0, 0, 0, 0, 0), "float32": (0, 0, 0.2, 0.9, 0.4)}
GRADIENT = (1.0, 1e-2, 1e-4, 2e-8, 1e-9)
EPS = 1e-8


def table(name, changes=None):
    """Two seeds of every case of an experiment."""
    rows = []
    for task in OF[name]:
        for precision, t2 in (T2[task] | (changes or {}).get(task, {})).items():
            case = precision if task == "transformer" else f"{task}_{precision}"
            for beta2 in BETA2[task]:
                for seed in (0, 1):
                    keys = {"case": case, "run": case, "seed": seed, "optimizer.beta2": beta2}
                    keys |= {"optimizer.eps": EPS, "task.modulus": 7.0, "task.name": "mnist"}
                    end = 0.5 if precision == "float32" else 0.6
                    times = {"t1": 20.0, "t2": t2 * (seed + 1), "test_accuracy": end}
                    rows.append(keys | {"record": "grokking_times"} | times)
                    shares = COLLAPSED.get(precision, COLLAPSED["float64"])
                    for step, share, gradient in zip(STEPS, shares, GRADIENT, strict=True):
                        seen = {"step": step, "train_loss": gradient, "test_accuracy": 0.1}
                        seen |= {"collapsed_points": share, "largest_gradient": gradient}
                        seen |= {"largest_residual": gradient * (share < 0.9)}
                        rows.append(keys | {"record": "history"} | seen)
    return pd.DataFrame(rows)


def every(changes=None):
    return {name: table(name, changes) for name in OF}


@pytest.mark.parametrize(
    ("task", "precision", "beta2", "wanted"),
    [
        ("baseline", "float32", 0.999, [0.5, 0.5]),
        ("baseline", "float64_loss", 0.999, [1.05, 1.05]),
        ("addition_l2", "float32", 0.99, [1.25, 1.25]),
        ("addition_l2", "float32", 0.9, []),
        ("addition_none", "float32", 0.99, [math.nan, math.nan]),
        ("transformer", "float32", 0.98, [math.inf, math.inf]),
    ],
)
def test_times_are_compared_seed_by_seed(task, precision, beta2, wanted):
    found = claims.time_beside(every(), task, precision, beta2)
    assert found == pytest.approx(wanted, nan_ok=True)


def test_a_time_that_float64_alone_never_has_is_zero():
    tables = every({"transformer": {"float64": np.nan, "float32": 90.0}})
    assert claims.time_beside(tables, "transformer", "float32", 0.98) == [0, 0]


def test_the_factor_is_beside_that_of_float64_on_the_same_seed():
    assert claims.factor_beside(every(), "float32") == pytest.approx([-3, -3])
    assert claims.factor_beside(every(), "float64_loss") == pytest.approx([0.3, 0.3])
    lost = every({"grokalign": {"float32": np.nan}})
    assert np.isnan(claims.factor_beside(lost, "float32")).all()


def test_the_most_collapsed_points_are_of_any_logged_update():
    keys = {"task": "addition_none", "beta2": 0.99}
    assert claims.most_collapsed(every(), precision="float32", **keys) == [0.9, 0.9]
    assert claims.most_collapsed(every(), precision="float64", **keys) == [0, 0]


def test_accuracies_are_those_at_the_end():
    keys = {"task": "addition_none", "beta2": 0.99}
    assert claims.last_accuracy(every(), precision="float64_loss", **keys) == [0.6, 0.6]
    found = claims.accuracy_beside(every(), precision="float32", other="float64_loss", **keys)
    assert found == pytest.approx([-0.1, -0.1])


def test_members_that_diverged_have_no_times():
    tables = every()
    rows = tables["precision_images"]
    lost = (rows["record"] == "grokking_times") & (rows["seed"] == 1)
    tables["precision_images"] = rows.assign(
        test_accuracy=rows["test_accuracy"].mask(lost), t1=rows["t1"].mask(lost)
    )
    assert claims.time_beside(tables, "baseline", "float32", 0.999) == [0.5]
    assert set(_precision.silence(tables).query("task == 'baseline'")["seed"]) == {0}
