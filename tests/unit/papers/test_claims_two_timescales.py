"""Claims of `two_timescales` on synthetic tables that meet, miss and lack them."""

import numpy as np
import pandas as pd
import pytest

from tests.checkout import declared_papers
from tests.tables import judged, rows, table

PAPER = "two_timescales"
FIVE, TEN, THREE = list(range(5)), list(range(10)), list(range(3))
LAMBDA = 1e-3


def toy(speed=1.0, slow=1.0, end=1.0):
    """Five trajectories with the closed forms of both phases, each so many times as fast.

    Fast: from (1/2, 1/2) along w1 = w2 = p^(1/2), p' = 2 p (1 - p). Then, without the way there,
    on the hyperbola with s = 2 (1 + 3 exp(-4 tau))^(1/2).
    """
    times = [0.0, *np.geomspace(0.01, 1e4, 400)]

    def fast(row):
        return 1 / (1 + 3 * np.exp(-2 * speed * times[row["step"]]))

    def weights(row):
        time = times[row["step"]]
        if time < 0.99:
            return fast(row) ** 0.5, fast(row) ** 0.5
        half = (1 + 3 * np.exp(-4 * slow * LAMBDA * (time - 1))) ** 0.5  # s / 2
        w1 = (half + (half**2 - 1) ** 0.5) ** 0.5
        return end * w1, end / w1

    made = rows(
        member=FIVE,
        step=list(range(len(times))),
        penalties__0__weight=LAMBDA / 2,
        train_loss=lambda row: (1 - fast(row)) ** 2 / 2,
        parameters__factors__0=lambda row: weights(row)[0],
        parameters__factors__1=lambda row: weights(row)[1],
    )
    made["optimizer.lr"] = np.array(times)[made["step"]] / made["step"].clip(lower=1)
    return made


def completion(error=0.0, end=2e-3, plateau=7.4, norm=300.0, early=0.75, slow=0.19, rest=0.1):
    """Ten instances of rank 1 with singular value 50: test errors of 100 unobserved entries.

    The error falls to a share of its plateau at t = 71; the minimiser has 50 and 0.1.
    """
    shape = {"task__rank": 1, "task__rows": 20, "task__columns": 20, "task__train_points": 300}
    steps = [0, 1, 100, 1000, 7100, *(100_000 * np.array([slow * 0.999, slow * 1.001])), 1_000_000]
    steps = {"step": sorted({round(step) for step in steps}), "optimizer__lr": 0.01}
    shared = {"seed": TEN, "penalties__0__weight": [0.0, LAMBDA]} | shape

    def error_at(row):
        falls = {7100: early, 1_000_000: end / plateau}
        return plateau * (falls.get(row["step"], 1.0) if row["penalties.0.weight"] else 1.0)

    def norm_at(row):
        late = row["penalties.0.weight"] and row["step"] * 0.01 >= slow / LAMBDA
        return 100 + 2 * rest if late else norm

    history = rows(
        train_loss=lambda row: 300 * row["train"],
        train=0.01,
        test_loss=lambda row: 100 * error_at(row),
        l2_norm=lambda row: np.sqrt(norm_at(row)),
        **shared,
        **steps,
    )
    values = rows(
        "recovered_singular_values",
        place=[0, 1],
        true_value=lambda row: 0.0 if row["place"] else 50.0,
        final_value=lambda row: rest if row["place"] else 50.0 * (1 + error),
        **shared,
    )
    best = rows(
        "convex_minimiser",
        distance=error,
        test_distance=end - 2e-3,
        minimiser_norm=50.1 * (1 + 2 * error),
        minimiser__0=50.0,
        minimiser__1=0.1,
        final__0=50 * (1 + error),
        final__1=rest,
        **shared,
    )
    return table(history, values, best)


SQUARED = ("l2_norm", np.sqrt)
HEIGHTS = {  # the column of a claim on published points, and how a point's height is logged
    "B32": SQUARED,
    "B32b": ("test_loss", lambda value: 200 * value),
    "B32c": ("train_loss", lambda value: 200 * value),
    "B33": (None, float),
    "B34": SQUARED,
    "B34b": ("test_loss", float),
}


def published(name, shift=1.0, decades=0.0, outside=0.0):
    """A curve through its published points, or at a distance from them, and another seed's."""
    paper = declared_papers()[PAPER]
    (claim,) = [each for each in paper.claims if each.id == name]
    words = claim.keywords
    points = [p for p in paper.digitised_points if p.figure == claim.figure]
    heights = HEIGHTS[name]
    if name == "B33":
        points = [p for p in points if p.panel == "singular values" and p.x == 1]
        columns = {p.curve: f"singular_values.{int(p.curve[6:]) - 1}" for p in points}
    else:
        points = [p for p in points if (p.panel, p.curve) == (words["panel"], words["curve"])]
        columns = {words["curve"]: heights[0]}
    made = []
    times = sorted({p.x for p in points})
    for seed in range(10 if claim.figure == "fig2" else 5):
        for step, time in enumerate(times):
            row = {"record": "history", "seed": seed, "step": step, "case": "", "run": "a"}
            row |= {"optimizer.lr": time / (step + 1), "penalties.0.weight": LAMBDA}
            row |= {"task.rank": 3, "task.rows": 20, "task.columns": 20, "task.train_points": 200}
            row |= dict.fromkeys(("train_loss", "test_loss", "l2_norm"), 1.0)
            for point in points:
                if point.x == time:
                    value = point.y * shift * 10**decades + outside * seed + (outside > 0)
                    row[columns[point.curve]] = heights[1](value)
            made.append(row)
    return pd.DataFrame(made)


def network(start=1250.0, rate=2 * LAMBDA, plateau=0.51, end=0.0125, kinks=(-0.54, 0.09, 0.97)):
    """Five students: a norm that decays at a rate, a test loss that falls, curves with kinks."""
    history = rows(
        seed=FIVE,
        step=[0, 10, 1010, 100_000],
        optimizer__lr=0.1,
        train_loss=end,
        test_loss=lambda row: plateau if row["step"] <= 10 else end,
        l2_norm=lambda row: np.sqrt(start * np.exp(-rate * row["step"] * 0.1)),
    )
    curve = rows(
        "predictor_curve",
        seed=FIVE,
        step=[0, 100_000],
        part="test",
        input=list(np.linspace(-2, 2, 200)),
        output=lambda row: sum(max(row["input"] - kink, 0) for kink in kinks),
    )
    return table(history, curve)


def diagonal(norm=4.4, late=1e-6, train=1e-4, away=0.0):
    best = rows(
        "convex_minimiser",
        seed=FIVE,
        penalties__0__weight=LAMBDA,
        distance=away,
        minimiser_norm=2.2,
    )
    history = rows(
        penalties__0__weight=LAMBDA,
        seed=FIVE,
        step=[0, 2000, 2_000_000],
        optimizer__lr=0.05,
        train_loss=train,
        test_loss=lambda row: late if row["step"] > 2000 else 0.5,
        l2_norm=np.sqrt(norm),
        task__cosine_coefficients__0=1.0,
        task__cosine_coefficients__1=-0.7,
        task__sine_coefficients__0=0.5,
    )
    return table(history, best)


def regression(rate=2e-2, apart=0.0):
    """Norms that come to rest at a rate; simulation and closed form are relatively apart."""
    return rows(
        case=["simulation", "closed_form", "flow"],
        seed=FIVE,
        step=list(range(0, 1001, 20)),
        optimizer__lr=lambda row: 1.0 if row["case"] == "simulation" else np.nan,
        dynamics__rate=lambda row: np.nan if row["case"] == "simulation" else 1.0,
        dynamics__l2=0.01,
        penalties__0__weight=0.005,
        task__train_points=20,
        task__test_points=200,
        train_loss=1.0,
        test_loss=lambda row: 1.0 + apart * (row["case"] == "simulation"),
        l2_norm=lambda row: np.sqrt(1 + 3 * np.exp(-rate * row["step"])),
    )


def limit(power=1.0):
    """Flows whose distance to the Riemannian flow goes as a power of lambda."""
    shared = {"seed": THREE, "dynamics__rate": 0.01, "dynamics__fast_steps": 0}
    flow = rows(case="riemannian_flow", step=[0, 100], parameters__w=1.0, **shared)
    decays = [rows(
        case=f"lambda_{number}",
        step=[10, 100],
        optimizer__lr=0.01 / decay,
        penalties__0__weight=decay / 2,
        parameters__w=1 + decay**power,
        **shared,
    ) for number, decay in enumerate((0.1, 0.01, 0.001))]  # fmt: skip
    return table(flow, *decays)


def theory(power=1.0, late=10.0, share=1e-3, left=1.0, saturated=1.0):
    """Flows whose distance to the free one goes as a power of lambda, and slow runs' residuals.

    The free one is at rest at 1; with decay w = 1 + exp(-t / late) up to its junction.
    """
    shared = {"seed": THREE, "optimizer__lr": 1.0, "case": "fast"}
    decays = [0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2]

    def weight(row):
        if not row["penalties.0.weight"]:
            return 1.0
        decay = 2 * row["penalties.0.weight"]
        junction = late * np.log(1 / decay) if late else decay**-0.4
        return 1 + decay**power * (1 + abs(row["step"] - junction) / 100)

    fast = rows(step=list(range(1001)), penalties__0__weight=decays, parameters__w=weight, **shared)
    slow = rows(
        "kkt_residual",
        seed=THREE,
        case="slow",
        optimizer__lr=1.0,
        penalties__0__weight=[0.05, 0.005, 0.0005],
        step=[1, 100, 1000],
        tangential_share=lambda row: share if row["step"] >= 100 else 0.5,
        constraint=lambda row: (
            row["penalties.0.weight"] ** left
            * (saturated if row["penalties.0.weight"] > 0.02 else 1)
        ),
    )
    return table(fast, slow)


def plateau(level=0.51, seeds=20):
    """Test losses at t = 1 evenly around a level."""
    return rows(
        seed=list(range(seeds)),
        step=[0, 300],
        optimizer__lr=1 / 300,
        l2_norm=1.0,
        test_loss=lambda row: level * (0.5 + (row["seed"] + 0.5) / seeds),
    )


def control(fall=1.0):
    return rows(
        seed=FIVE,
        step=[0, 1, 100, 1000],
        penalties__0__weight=[0.0, LAMBDA],
        optimizer__lr=1.0,
        l2_norm=1.0,
        test_loss=lambda row: fall if row["step"] > 100 else 1.0,
    )


def small(power=1.0, later=-1.0):
    """Losses and times as powers of the variance."""
    return rows(
        seed=THREE,
        step=[0, *range(1, 10)],
        model__init_variance=[1e-8, 1e-6, 1e-4, 1e-2],
        optimizer__lr=1.0,
        l2_norm=1.0,
        test_loss=lambda row: row["model.init_variance"] ** power,
        train_loss=lambda row: float(
            row["step"] < 5 + later * (np.log10(row["model.init_variance"]) + 5)
        ),
    )


def test_points_after_the_end_of_a_run_are_not_compared():
    made = published("B32")
    short = made[(made["step"] + 1) * made["optimizer.lr"] <= 1001]
    assert judged(PAPER, "B32", short)["value"] == pytest.approx(0, abs=1e-9)


def test_fewer_draws_than_asked_for_have_no_share():
    assert judged(PAPER, "B22", plateau(seeds=19))["verdict"] == "not run at this scale"


def test_a_loss_that_never_falls_is_reached_at_infinity():
    assert judged(PAPER, "B26", toy(speed=0.0))["value"] == np.inf
