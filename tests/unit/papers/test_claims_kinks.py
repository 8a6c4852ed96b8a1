"""Claims of `two_timescales` on kinks, and what counts as one."""

import numpy as np

from grokatlas.papers.two_timescales import _kinks
from tests.tables import rows, table

PAPER = "two_timescales"
THREE, FIVE = [0, 1, 2], [0, 1, 2, 3, 4]


def test_kinks_that_are_near_are_one_and_opposite_ones_cancel():
    places = np.array([0.50, 0.0, 0.51, 0.54, 0.53, -1.0, 1.0, 1.01])
    changes = np.array([1.0, 2.0, 1.5, 0.5, 1.0, 0.0, 3.0, -3.0])
    found, shares = _kinks.counted(places, changes)
    np.testing.assert_allclose(found, [0.0, 0.51, 0.54])  # too far from 0.51, not from 0.53
    np.testing.assert_allclose(shares, np.array([2.0, 3.5, 0.5]) / 6)


def test_a_kink_below_the_share_does_not_count():
    found, shares = _kinks.counted(np.array([0.0, 1.0]), np.array([-1.0, 0.009]))
    assert found.tolist() == [0.0]
    np.testing.assert_allclose(shares, 1 / 1.009)
    assert len(_kinks.counted(np.zeros(0), np.zeros(0))[0]) == 0


def neurons(end=2, free=6):
    """Eight neurons, some with an output of 0 at the end: with weight decay, and without.

    Neuron k bends at k / 10, those from 6 on outside of the training points, and one never does.
    """

    def alive(row):
        kept = end if row["penalties.0.weight"] == 0.005 else free
        return 6 if row["step"] < 1000 else kept

    columns = {f"layers__0__weight__{k}": -2.0 if k % 2 else 2.0 for k in range(8)}
    columns |= {f"layers__0__bias__{k}": -columns[f"layers__0__weight__{k}"] * k / 10
                for k in range(8)}  # fmt: skip
    columns |= {
        f"layers__1__weight__{k}": lambda row, k=k: float(k < alive(row) or k > 5) for k in range(8)
    }
    columns |= {"layers__0__weight__8": 0.0, "layers__0__bias__8": 1.0, "layers__1__weight__8": 1.0}
    return rows(
        case="fast",
        seed=THREE,
        step=[0, 1, 10, 1000],
        optimizer__lr=0.1,
        penalties__0__weight=[0.0, 0.0005, 0.005],
        task__points__0=0.55,
        task__points__1=-0.05,
        task__points__2=0.3,
        **{f"parameters__{name}": value for name, value in columns.items()},
    )


def test_kinks_of_neurons_are_those_between_the_outermost_points():
    found = _kinks.of_weights(neurons())
    end = found[(found["lambda"] == 0.01) & (found["seed"] == 1) & (found["time"] == 100)]
    np.testing.assert_allclose(end["place"], [0.0, 0.1], atol=1e-12)
    np.testing.assert_allclose(end["share"], [0.5, 0.5])
    early = found[(found["lambda"] == 0.0) & (found["seed"] == 0) & (found["time"] == 1)]
    np.testing.assert_allclose(early["place"], np.arange(6) / 10, atol=1e-12)


def student(kinks=(-0.54, 0.09, 0.97), outside=(1.8, -1.7)):
    """Five students' curves, with kinks outside of the training points too."""
    bends = lambda x: sum(max(x - kink, 0) for kink in (*kinks, *outside))  # noqa: E731
    shared = {"seed": FIVE, "step": [0, 100]}
    output = {"output": lambda row: bends(row["input"]) if row["step"] else 0.0}
    test = rows("predictor_curve", part="test", input=list(np.linspace(-2, 2, 200)), **shared,
                **output)  # fmt: skip
    train = rows("predictor_curve", part="train", input=[1.68, -1.52], **shared, **output)
    return table(test, train)


def test_a_kink_between_two_points_of_a_curve_is_one():
    assert _kinks.kinks_of_curve({"two_layer_relu": student()}) == [3.0] * 5
