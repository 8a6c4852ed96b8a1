"""Numbers of plate 2 from tables whose answer is known."""

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.plates import _slow_time, claims

WEIGHTS = (0.0, 0.001, 0.01)
ALONE = ("slow_time_hyperbola", "slow_time_factorisation", "slow_time_relu")  # without cases
COLUMN = {"slow_time_sparse": "dynamics.l1", "slow_time_nuclear": "dynamics.weight"}


def table(name, power=-1.0, slow=1.0, optimizer="gd", start=4.0, distance=None):
    """Two instances whose test error falls from 8 to 0.08 at ``slow * weight ** power`` updates.

    Training errors are 1 before training and 1e-3 from step 8 on.
    """
    columns = {"adam": "penalties.0.weight", "decoupled": "optimizer.weight_decay"}
    column = columns.get(optimizer, COLUMN.get(name, "penalties.0.weight"))
    rows = []
    for seed in (0, 1):
        for member, weight in enumerate(WEIGHTS):
            keys = {"run": f"{optimizer}{seed}", "member": member, "seed": seed, column: weight}
            keys |= {"case": "" if name in ALONE else optimizer}
            keys |= {"dynamics.rate" if "dynamics" in column else "optimizer.lr": 0.5}
            if distance:
                found = {"record": "truth", "least_squares_distance": distance * (seed + 1)}
                rows.append(keys | found)
            fall = slow * weight**power if weight else np.inf
            for step in (0, 8, *(2.0**k for k in range(4, 24))):
                error = 8 * min(1, (fall / step) ** 2) if step else start
                train = 1.0 if step == 0 else 1e-3
                seen = {"record": "history", "step": step, "train_loss": train, "test_loss": error}
                rows.append(keys | seen)
    return pd.DataFrame(rows)


def every(**changes):
    return {name: table(name, **changes.get(name, {})) for name in _slow_time.PROBLEMS}


@pytest.mark.parametrize("power", [-1.0, -0.3])
def test_exponents_are_those_of_one_optimizer(power):
    both = pd.concat([table("slow_time_sparse"), table("slow_time_sparse", power, 9.0, "adam")])
    tables = {"slow_time_sparse": both.reset_index(drop=True)}
    found = claims.exponent_of_slow_time(tables, "slow_time_sparse", "adam", "t2")
    assert found == pytest.approx([power] * 2)
    of_descent = claims.exponent_of_slow_time(tables, "slow_time_sparse", "gd", "t2")
    assert of_descent == pytest.approx([-1] * 2)
    of_fits = claims.exponent_of_slow_time(tables, "slow_time_sparse", "gd", "t1")
    assert of_fits == pytest.approx([0] * 2, abs=1e-9)
    apart = claims.difference_of_slow_times(tables, "slow_time_sparse", "adam", "gd")
    assert apart == pytest.approx([power + 1] * 2, abs=1e-9)


def test_a_difference_of_exponents_is_of_one_instance():
    both = pd.concat([table("slow_time_sparse"), table("slow_time_sparse", -0.3, 9.0, "adam")])
    lacking = (both["case"] == "adam") & (both["seed"] == 0)
    tables = {"slow_time_sparse": both[~lacking].reset_index(drop=True)}
    apart = claims.difference_of_slow_times(tables, "slow_time_sparse", "adam", "gd")
    assert apart == pytest.approx([np.nan, 0.7], nan_ok=True)


def test_weights_that_never_fall_or_begin_below_are_left_out():
    steps = np.array([0.0, 10.0, 1000.0])
    assert _slow_time.crossing(steps, np.array([1.0, 1.0, 0.01]), 0.1) == pytest.approx(100)
    assert _slow_time.crossing(steps, np.array([1.0, 0.01, 0.01]), 0.1) == 10
    assert np.isnan(_slow_time.crossing(steps, np.array([1.0, 1.0, 0.2]), 0.1))
    assert np.isnan(_slow_time.crossing(steps, np.array([0.1, 1.0, 0.01]), 0.1))


def test_the_spread_is_of_medians_of_all_problems():
    slower = every(slow_time_relu={"slow": 3.0}, slow_time_nuclear={"slow": 0.5})
    halved = every(slow_time_relu={"slow": 3.0})  # l1 and nuclear have half of the lambda of l2
    assert claims.spread_of_slow_times(slower) == pytest.approx([12.0])
    assert claims.spread_of_slow_times(halved) == pytest.approx([6.0])
    lost = every(slow_time_relu={"slow": 1e9})
    assert claims.exponent_of_slow_time(lost, "slow_time_relu", "gd", "t2") == [np.inf] * 2
    assert np.isnan(claims.spread_of_slow_times(lost)).all()
