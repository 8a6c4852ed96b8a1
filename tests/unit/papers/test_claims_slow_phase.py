"""Claims of `two_timescales` on the slow phase, on synthetic tables; and what controls change."""

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.two_timescales import claims
from tests.checkout import declared_papers
from tests.tables import judged, rows, table

PAPER = "two_timescales"
THREE, FIVE, TEN = list(range(3)), list(range(5)), list(range(10))
LAMBDA = 1e-3


def slow(power=-1.0):
    """Norms that are half-way at a power of lambda, training losses that are at once."""
    decays = [0.01, 0.003, 0.001]
    times = np.geomspace(0.1, 1e5, 300)

    def norm(row):
        half = 0.3 * (2 * row["penalties.0.weight"]) ** power
        return np.sqrt(0.1 + np.exp2(-row["step"] / half))

    frames = [
        rows(
            case=f"slow_{number}",
            seed=THREE,
            step=list(times),
            optimizer__lr=1.0,
            penalties__0__weight=decay / 2,
            l2_norm=norm,
            train_loss=lambda row: np.exp(-row["step"]),
        )
        for number, decay in enumerate(decays)
    ]
    return table(*frames)


def limits(end=0.4):
    """Runs that end at a share of the unregularised norm 4, at the least lambda alone."""
    free = rows(
        case="fast",
        seed=THREE,
        step=[0, 100],
        penalties__0__weight=0.0,
        optimizer__lr=1.0,
        parameters__w__0=lambda row: 2.0 if row["step"] else 9.0,
    )
    found = rows(
        case=["slow_1", "slow_2"],
        seed=THREE,
        step=[0, 50, 10_000],
        optimizer__lr=1.0,
        penalties__0__weight=lambda row: {"slow_1": 5e-3, "slow_2": 5e-4}[row["case"]],
        l2_norm=lambda row: 2.0 * (end**0.5 if row["case"] == "slow_2" and row["step"] > 50 else 1),
    )
    return table(free, found)


def phases(late=1e-5, early=1.0, end=0.1, rises=False, left=10):
    """Runs with weight decay and without, over the times 0 to 1e5, with ten singular values."""

    def of(row):
        return bool(row["penalties.0.weight"]), row["step"]

    def norm(row):
        decayed, step = of(row)
        return 100.0 + (step if rises or not decayed else -step) / 1e4

    def test(row):
        decayed, step = of(row)
        return 1.0 if not decayed or step <= 10 else end

    values = {
        f"singular_values__{place}": (
            lambda row, place=place: (
                20.0 if place < (left if not row["penalties.0.weight"] else 3) else 0.01
            )
        )
        for place in range(10)
    }
    return rows(
        seed=TEN,
        step=[0, 1, 10, 100, 1000, 10_000, 100_000],
        optimizer__lr=1.0,
        penalties__0__weight=[0.0, LAMBDA],
        l2_norm=norm,
        train_loss=lambda row: 1.0 if row["step"] == 0 else late,
        test_loss=lambda row: test(row) * (early if of(row)[0] else 1.0),
        task__rank=3,
        task__rows=20,
        task__columns=20,
        task__train_points=200,
        **values,
    )


def support(outside=1e-4):
    """Five ends of a diagonal network whose teacher has cos 2x, cos 5x and sin 3x."""
    sizes = {f"final__{place}": outside for place in range(13)}
    sizes |= {"final__2": 1.0, "final__5": -0.7, "final__9": 0.5}
    return rows(
        "convex_minimiser",
        seed=FIVE,
        penalties__0__weight=LAMBDA,
        task__frequencies=6,
        task__cosine_frequencies__0=2,
        task__cosine_frequencies__1=5,
        task__sine_frequencies__0=3,
        **sizes,
    )


def draws(share=0.5, count=20):
    """Training losses of draws of which a share is below the published points, at their times."""
    points = [
        point
        for point in declared_papers()[PAPER].digitised_points
        if (point.figure, point.panel, point.curve) == ("fig3", "losses", "train") and point.x < 7
    ]
    made = [
        {
            "record": "history",
            "case": "",
            "run": "a",
            "seed": seed,
            "step": step,
            "optimizer.lr": point.x / (step + 1),
            "penalties.0.weight": LAMBDA,
            "l2_norm": 1.0,
            "test_loss": 9.0,
            "train_loss": point.y * (0.5 if seed < share * count else 2.0),
        }
        for seed in range(count)
        for step, point in enumerate(sorted(points, key=lambda point: point.x))
    ]
    return pd.DataFrame(made)


def last(height=3.2e-4):
    return rows(
        seed=FIVE,
        step=[0, 8_520_000],
        optimizer__lr=1 / 300,
        penalties__0__weight=LAMBDA,
        l2_norm=1.0,
        train_loss=height,
    )


def test_fewer_draws_than_asked_for_have_no_share():
    assert judged(PAPER, "B34c", draws(count=19))["verdict"] == "not run at this scale"


def test_a_lambda_whose_slow_phase_begins_within_the_fast_one_does_not_count():
    fast = slow().query("case == 'slow_0'").assign(case="slow_9", l2_norm=1.0)
    early = fast.assign(**{"penalties.0.weight": 0.5})
    assert judged(PAPER, "B44", table(slow(), early))["value"] == pytest.approx(-1, abs=0.01)


def test_exchanged_runs_are_of_one_case_that_has_both():
    decays = {"fast": [0.0, 1e-3, 1e-2], "slow": [0.1]}
    frames = [rows(case=case, penalties__0__weight=found) for case, found in decays.items()]
    (made,) = claims.without_weight_decay({"one": table(*frames)}).values()
    assert made["penalties.0.weight"].tolist() == [1e-2, 1e-3, 0.0, 0.1]


def test_the_fast_phase_alone_ends_at_a_tenth_of_the_slow_time():
    frame = rows(penalties__0__weight=[0.0, 5e-4], step=[0, 100, 200], optimizer__lr=1.0)
    (made,) = claims.fast_phase_alone({"one": frame}).values()
    assert made.groupby("penalties.0.weight")["step"].max().tolist() == [200, 100]
    untouched = rows(step=[0, 1])
    assert claims.fast_phase_alone({"one": untouched})["one"] is untouched


def test_a_flow_at_rest_stays_where_its_slow_phase_begins():
    shared = {"seed": [0, 1], "step": [0, 5, 9], "dynamics__fast_steps": 5}
    moving = {"parameters__w": lambda row: float(10 * row["seed"] + row["step"])}
    flow = rows(case="riemannian_flow", **shared, **moving)
    other = rows(case="lambda_1", **shared, **moving)
    (made,) = claims.flow_at_rest({"one": table(flow, other)}).values()
    at_rest = made[made["case"] == "riemannian_flow"]["parameters.w"].tolist()
    assert at_rest == [0.0, 5.0, 5.0, 10.0, 15.0, 15.0]
    assert made[made["case"] == "lambda_1"]["parameters.w"].tolist() == [0, 5, 9, 10, 15, 19]
