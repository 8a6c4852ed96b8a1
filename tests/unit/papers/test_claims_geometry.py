"""Claims of `geometry` on synthetic tables that meet, miss and lack them."""

import numpy as np
import pytest

from tests.unit.claim_tables import MEETS_MISSES_LACKS, judged, rows, table, untested, verdicts

PAPER = "geometry"
FIVE = list(range(5))


def two_weights(train=10, test=500.0, slope=1000.0, first=0.0, far=0.0):
    """Figure 1: a training loss that is low from one step, a test loss from one over the decay."""

    def weight(row, start):
        rest = 2 / (2 + row["penalties.0.weight"]) + far
        return start if row["step"] <= 10 else rest

    return rows(
        penalties__0__weight=[0.01, 0.1, 0.2],
        step=[0, 10, 100, 150, 200, 500, 1000, 3000, 9000],
        train_loss=lambda row: 1e-3 if row["step"] >= train else 1.0,
        test_loss=lambda row: (
            0.01 if row["step"] >= test + slope * (0.1 - row["penalties.0.weight"]) else 1.0
        ),
        parameters__weight__0=lambda row: weight(row, first),
        parameters__weight__1=lambda row: weight(row, 2.0),
    )


def three_weights(aside=0.0):
    """Figure 2: from four points of the plane straight to (1, 1, 1), or past it."""

    def weight(place):
        start = np.array([2.0, -1.0, 2.0]) - 1
        across = np.cross(start, np.ones(3))

        def at(row):
            share = row["step"] / 2000
            return (1 + start * (1 - share) + aside * share * across)[place]

        return at

    places = {f"parameters__weight__{place}": weight(place) for place in range(3)}
    return rows(member=[0, 1, 2, 3], step=list(range(0, 1001, 100)), **places)


def curved(end=1.0):
    return rows(
        case=["curved"],
        member=FIVE,
        seed=0,
        step=[0, 100],
        parameters__factors__0=lambda row: -end if row["step"] else 2.0,
        parameters__factors__1=lambda row: -end if row["step"] else 0.5,
    )


def isolated(early=0.02, onset=1000, loss=0.0, norms=0.5, cosine=0.1):
    """Figure 4: accuracy from an onset on, and two Fourier features before and after."""
    history = rows(
        case=["own_split", "one_split"],
        seed=FIVE,
        step=[0, 500, onset, 2000, 5000],
        train_loss=loss,
        test_accuracy=lambda row: (
            early if row["step"] < onset else 0.5 if row["step"] < 2000 else 1
        ),
    )
    features = rows(
        "fourier_features",
        case="own_split",
        seed=FIVE,
        step=[0, 5000],
        feature=[0, 1],
        other=[0, 1],
        norm=lambda row: 1 + row["feature"] * (norms if row["step"] else 1.0),
        cosine=lambda row: cosine if row["step"] else 0.5,
    )
    return table(history, features)


def orthogonality(cosine=0.1):
    shared = {"case": ["hyperbola", "relu_network"], "distance": [0.1, np.nan]}
    return rows("orthogonality", cosine=cosine, bound=0.2, **shared)


CASES = [
    ("G1", two_weights, {}, {"train": 100}),
    ("G2", two_weights, {"test": 200.0}, {"test": 5000.0}),
    ("G2b", two_weights, {"test": 150.0}, {"slope": -1000.0}),
    ("G3", two_weights, {}, {"first": 0.3}),
    ("G4", two_weights, {}, {"far": 0.01}),
    ("G5", three_weights, {}, {"aside": 1.0}),
    ("G5b", curved, {}, {"end": 1.1}),
    ("G6", isolated, {}, {"early": 0.2}),
    ("G7", isolated, {}, {"onset": 1800}),
    ("G9", isolated, {}, {"loss": 1e-5}),
    ("G10", isolated, {}, {"norms": 3.0}),
    ("G10b", isolated, {}, {"cosine": 0.7}),
    ("G11", orthogonality, {}, {"cosine": 0.3}),
]


@pytest.mark.parametrize(("name", "make", "meets", "misses"), CASES, ids=[c[0] for c in CASES])
def test_a_claim_is_met_missed_and_lacked(name, make, meets, misses):
    assert verdicts(PAPER, name, make(**meets), make(**misses)) == MEETS_MISSES_LACKS


def test_every_function_is_tested():
    assert untested(PAPER, [case[0] for case in CASES]) == set()


def test_an_accuracy_that_is_never_reached_is_infinite():
    found = judged(PAPER, "G7", isolated(onset=9000).query("step < 2000"))
    assert (found["value"], found["verdict"]) == (np.inf, "not reproduced")
