"""Made tables of the networks of `beyond_l2`: modular addition, fixed norms, students."""

import numpy as np

from tests.tables import rows, table

FIVE, THREE, NAN = list(range(5)), list(range(3)), np.nan


def addition(t1=500.0, t2=9000.0, peak=40.0, peak_at=2200, perfect=9000, norm=50.0, start=13.0):
    """Figure 1: the norm is 50 from 2,200 on, the test loss peaks once."""
    norms = {0: start, 500: 50.0, 1000: 60.0}
    history = rows(
        case="published",
        seed=FIVE,
        step=[0, 500, 1000, peak_at, 9000, 10_000, 15_000],
        test_accuracy=lambda row: float(row["step"] >= perfect),
        test_loss=lambda row: peak if row["step"] == peak_at else 1.0,
        l2_norm=lambda row: norms.get(row["step"], norm),
    )
    return table(history, rows("grokking_times", case="published", seed=FIVE, t1=t1, t2=t2))


def published_curves(norm=1.0, loss=1.0, accuracy=0.012, t2=9150, late=0):
    """Figure 1 through the points that were read off it, those from t2 on some steps later."""
    norms = {0: 13, 1: 13, 2200: 93, 4000: 85, 9150 + late: 58, 10_000 + late: 50}
    losses = {2200: 41, 4000: 29.5}
    history = rows(
        case="published",
        seed=FIVE,
        step=[0, 1, 1000, 2200, 4000, 7000, 9150 + late, 10_000 + late],
        test_accuracy=lambda row: accuracy if row["step"] < 9000 else 1.0,
        test_loss=lambda row: loss * losses.get(row["step"], 1.0),
        l2_norm=lambda row: norm * norms.get(row["step"], 60),
    )
    return table(history, rows("grokking_times", case="published", seed=FIVE, t1=540.0, t2=t2))


def fixed_norm(rest=1e-4, large=1.0, least=0.02):
    """Figure 2: three norms, with a training and a test loss at the largest."""
    train, test = {0.1: 0.1, 1.0: 1e-4, 10.0: rest}, {0.1: 0.1, 1.0: least, 10.0: large}
    return rows(
        seed=THREE,
        dynamics__relative_norm=list(train),
        step=[0, 100],
        train_loss=lambda row: train[row["dynamics.relative_norm"]] + (row["step"] == 0),
        test_loss=lambda row: test[row["dynamics.relative_norm"]],
    )


def regularised(power=-0.2, time=1500.0):
    """Figure 3: t2 as a power of the weight, `time` with the largest."""
    return rows(
        "grokking_times",
        case="l1",
        optimizer__lr=[0.001, 0.01],
        penalties__0__weight=[1e-7, 1e-6, 1e-5],
        seed=FIVE,
        t1=70.0,
        t2=lambda row: time * (row["penalties.0.weight"] / 1e-5) ** power,
    )


def published_times(late=1.0, last=6030.0):
    """Figure 3 with the published times under l1 regularisation, all by a factor."""
    times = {1e-5: 1430, 5e-6: 1450, 1e-6: 1960, 1e-7: 2680, 1e-8: 4880, 5e-9: last}
    return rows(
        "grokking_times",
        case="l1",
        optimizer__lr=0.01,
        penalties__0__weight=list(times),
        t1=70.0,
        t2=lambda row: late * times[row["penalties.0.weight"]],
    )


def since_generalisation(last=80.0, never=False):
    """Figure 3: the l2 norm falls until t2, and is `last` at the end."""
    weights = [5e-9, 1e-8, 1e-7, 1e-6, 5e-6, 1e-5]
    shared = {"case": "l1", "optimizer__lr": 0.01, "penalties__0__weight": weights}
    history = rows(
        step=[0, 2000, 6500],
        l2_norm=lambda row: {0: 90.0, 2000: 60.0}.get(row["step"], last),
        **shared,
    )
    times = rows(
        "grokking_times",
        t1=70.0,
        t2=lambda row: NAN if never or row["penalties.0.weight"] < 1e-8 else 2000.0,
        **shared,
    )
    return table(history, times)


def peak(height=97.0, step=1400):
    """Figure 3: the l2 norm has a peak, with the other weight a higher one elsewhere."""
    return rows(
        case="l1",
        optimizer__lr=0.01,
        penalties__0__weight=[5e-9, 1e-5],
        step=[0, step, 3000, 7000],
        l2_norm=lambda row: (
            {step: height}.get(row["step"], 50.0)
            if row["penalties.0.weight"] < 1e-6
            else {3000: 500.0}.get(row["step"], 20.0)
        ),
    )


def students(power=-0.5, other=-0.5, plateau=16.2, at=1000):
    """A test loss that falls at a power of the weight; last with the least weight.

    At one step size that power is `other`.
    """

    def fallen(row):
        own = other if row["optimizer.lr"] == 5.5e-3 else power
        return row["step"] >= at * (row["penalties.0.weight"] / 1e-4) ** own

    return rows(
        optimizer__lr=[1e-4, 1e-3, 5.5e-3],
        penalties__0__weight=[1e-7, 1e-6, 1e-5, 1e-4],
        seed=THREE,
        step=[0, *(round(10**power) for power in np.linspace(1, 5, 41))],
        train_squared_error=lambda row: float(row["step"] == 0),
        test_squared_error=lambda row: 0.1 if fallen(row) else plateau,
    )


def published_falls(late=1.0, by=None, own=1.0):
    """Students through the published steps, all by a factor, or one step size by another.

    Args:
        late: the factor of all, or of the others.
        by: the step size that has a factor of its own.
        own: that factor.
    """
    steps = {1e-4: {}, 1e-3: {1e-7: 39_900}, 5.5e-3: {1e-7: 2060, 1e-2: 29.9}}
    steps[1e-4] |= {1e-6: 46_300, 1e-5: 5350, 1e-4: 1320}
    steps[1e-3] |= {1e-6: 21_100, 1e-5: 4260, 1e-4: 804, 1e-3: 254, 1e-2: 73.4}
    steps[5.5e-3] |= {1e-6: 1840, 1e-5: 1370, 1e-4: 470, 1e-3: 129}
    falls = {
        (rate, weight): step * (own if rate == by else late)
        for rate, of_rate in steps.items()
        for weight, step in of_rate.items()
    }

    def loss(row):
        fall = falls.get((row["optimizer.lr"], row["penalties.0.weight"]), np.inf)
        return 0.1 if row["step"] >= fall else 16.2

    return rows(
        optimizer__lr=list(steps),
        penalties__0__weight=[10.0**power for power in range(-7, -1)],
        seed=THREE,
        step=[0, 1, *sorted(set(falls.values()))],
        train_squared_error=lambda row: float(row["step"] == 0),
        test_squared_error=loss,
    )


def published_halves(late=1.0, last=5950.0):
    """Test accuracies that pass one half at the published steps, all by a factor."""
    steps = {1e-7: last, 1e-6: 4340, 5e-6: 3700, 1e-5: 3240}
    return rows(
        case="l1",
        seed=THREE,
        optimizer__lr=1e-3,
        penalties__0__weight=[5e-9, *steps],
        step=[0, *sorted(late * step for step in steps.values())],
        test_accuracy=lambda row: (
            0.5 if row["step"] >= late * steps.get(row["penalties.0.weight"], np.inf) else 0.49
        ),
    )


def halves(power=-0.5, rates=(1e-3, 1e-2, 1e-1)):
    """Test accuracies that pass one half at a power of the weight."""
    return rows(
        case="l1",
        seed=[0, 1],
        optimizer__lr=list(rates),
        penalties__0__weight=[1e-7, 1e-6, 1e-5],
        step=[0, 100, 200, 400, 800],
        test_accuracy=lambda row: float(
            row["step"] >= 200 * (row["penalties.0.weight"] / 1e-6) ** power
        ),
    )
