"""Claims of `two_timescales` on synthetic tables that meet, miss and lack them."""

import numpy as np
import pytest

from tests.unit.claim_tables import MEETS_MISSES_LACKS, judged, rows, table, untested, verdicts

PAPER = "two_timescales"
FIVE, TEN, THREE = list(range(5)), list(range(10)), list(range(3))
LAMBDA = 1e-3


def toy(fast=2.0, slow=0.5, end=1.0):
    """Five trajectories: the loss falls at `fast`, the weights from 2 to `end` at slow / lambda."""
    return rows(
        member=FIVE,
        step=[0, 1, 10, 100, 1000, 10_000, 100_000],
        optimizer__lr=0.5,
        penalties__0__weight=LAMBDA / 2,
        train_loss=lambda row: 1e-4 if row["step"] * 0.5 >= fast else 1.0,
        parameters__factors__0=lambda row: end if row["step"] * 0.5 >= slow / LAMBDA else 2.0,
        parameters__factors__1=lambda row: end if row["step"] * 0.5 >= slow / LAMBDA else 2.0,
    )


def completion(error=0.0, end=2e-3, plateau=7.4, norm=300.0, fall=100.0, slow=0.5, rest=0.1):
    """Ten instances of rank 1 with singular value 50: test errors of 100 unobserved entries."""
    shape = {"task__rank": 1, "task__rows": 20, "task__columns": 20, "task__train_points": 300}
    steps = {"step": [0, 100, 1000, 10_000, 100_000, 1_000_000], "optimizer__lr": 0.01}
    shared = {"seed": TEN, "penalties__0__weight": [0.0, LAMBDA]} | shape

    def regular(row, early, late, time):
        return late if row["penalties.0.weight"] and row["step"] * 0.01 >= time else early

    history = rows(
        train_loss=0.0,
        test_loss=lambda row: 100 * regular(row, plateau, end, fall),
        l2_norm=lambda row: np.sqrt(regular(row, norm, 100 + 2 * rest, slow / LAMBDA)),
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
    return table(history, values)


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


def diagonal(norm=4.4, late=1e-6, train=1e-4):
    return rows(
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


CASES = [
    ("B1", completion, {}, {"error": 0.03}),
    ("B2", completion, {}, {"end": 1.0}),
    ("B4", completion, {}, {"rest": 0.1, "error": 0.1}),
    ("B7", network, {}, {"plateau": 0.1}),
    ("B9", diagonal, {}, {"late": 1e-3}),
    ("B9b", diagonal, {}, {"norm": 5.0}),
    ("B13", completion, {}, {"plateau": 3.0}),
    ("B14", completion, {}, {"end": 1e-2}),
    ("B17", completion, {}, {"fall": 1000.0}),
    ("B18", completion, {}, {"slow": 0.01}),
    ("B19", completion, {}, {"rest": 3.0}),
    ("B20", network, {}, {"start": 700.0}),
    ("B21", network, {}, {"rate": LAMBDA}),
    ("B23", network, {}, {"end": 0.03}),
    ("B24", network, {}, {"kinks": (-0.8, 0.09, 0.97)}),
    ("B24c", network, {}, {"kinks": (-0.54, 0.09, 1.2)}),
    ("B26", toy, {}, {"fast": 40.0}),
    ("B27", toy, {}, {"slow": 0.01}),
    ("B28", toy, {}, {"end": 1.1}),
    ("B29", regression, {}, {"apart": 1e-6}),
    ("B30", regression, {}, {"rate": 2.2e-2}),
    ("B31", limit, {}, {"power": -1.0}),
]


@pytest.mark.parametrize(("name", "make", "meets", "misses"), CASES, ids=[c[0] for c in CASES])
def test_a_claim_is_met_missed_and_lacked(name, make, meets, misses):
    assert verdicts(PAPER, name, make(**meets), make(**misses)) == MEETS_MISSES_LACKS


def test_every_function_is_tested():
    assert untested(PAPER, [case[0] for case in CASES]) == set()


def test_one_of_ten_instances_is_not_reproduced_and_counted():
    some = completion(error=0.03)
    some.loc[(some["seed"] == 7) & (some["place"] == 0), "final_value"] = 50.1
    found = judged(PAPER, "B1", some)
    assert (found["verdict"], found["reason"]) == ("not reproduced", "1 of 10 in the interval")
    assert found["lowest"] == pytest.approx(0.002)


def test_missing_seeds_are_never_reproduced():
    made = network()
    found = judged(PAPER, "B20", made[made["seed"] < 3])
    assert (found["verdict"], found["count"]) == ("partly", 3)


def test_a_loss_that_never_falls_is_reached_at_infinity():
    assert judged(PAPER, "B26", toy(fast=np.inf))["value"] == np.inf
