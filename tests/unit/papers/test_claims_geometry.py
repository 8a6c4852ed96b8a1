"""Claims of `geometry` on synthetic tables that meet, miss and lack them."""

import numpy as np

from grokatlas.papers.geometry import claims
from tests.tables import judged, rows, table

PAPER = "geometry"
FIVE = list(range(5))


def two_weights(train=10, test=500.0, slope=1000.0, first=0.0, far=0.0, once=False):
    """Figure 1: a training loss that is low from one step, a test loss from one over the decay."""

    def weight(row, start):
        return start if row["step"] <= 10 else 2 / (2 + row["penalties.0.weight"]) + far

    def fit(row):
        low = at_once(row) if once else row["penalties.0.weight"] / 100
        return low if row["step"] >= train else 1.0

    return rows(
        penalties__0__weight=[0.01, 0.1, 0.2],
        step=[0, 10, 100, 150, 200, 500, 1000, 3000, 9000],
        train_loss=fit,
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


def fitted(fit=10):
    """Figure 2: straight to (1, 1, 1), with a training loss that falls at a step."""
    made = three_weights()
    return made.assign(step=made["step"] // 10, train_loss=(made["step"] < 10 * fit).astype(float))


def leaky(late=1000):
    """Figure 3, right: a training loss that is low at step 30, a test loss that is so later."""
    return rows(
        case="leaky_relu",
        member=list(range(6)),
        step=[0, 30, 40, 1000],
        train_loss=lambda row: float(row["step"] < 30),
        test_loss=lambda row: float(row["step"] < late),
    )


def kinks(share=0.0):
    """`isolation`: a share of activations that change, at its weight and rates alone."""

    def changed(row):
        right = (row["penalties.0.weight"], row["gradients.0.factor"]) == (0.01, 1.0)
        return share if right and row["step"] == 20 else 0.5

    return rows(
        "first_layer_drift",
        seed=[0, 1, 2],
        penalties__0__weight=[0.001, 0.01],
        gradients__0__factor=[1.0, 0.01],
        model__excess=0.0,
        prediction=["isolated", "joint"],
        step=[10, 20],
        kinked=changed,
    )


def curved(end=1.0):
    return rows(
        case=["curved"],
        member=FIVE,
        seed=0,
        step=[0, 100],
        parameters__factors__0=lambda row: -end if row["step"] else 2.0,
        parameters__factors__1=lambda row: -end if row["step"] else 0.5,
    )


def at_once(row):
    """Smaller weights are lower up to a step, and no longer after it."""
    decay = row["penalties.0.weight"]
    return decay if row["step"] < 3000 else 1 - decay


def isolated(early=0.02, onset=1000, loss=0.0, norms=0.3, cosine=0.01, train=1.0, **likeness):
    """Figure 4: accuracy from an onset on, and four Fourier features before and after."""
    likeness = {"same": 0.9, "different": 0.1} | likeness

    def absolute(row):
        same = row["feature"] // 2 == row["other"] // 2
        return likeness["same" if same else "different"] if row["step"] else 0.64

    history = rows(
        case=["own_split", "one_split"],
        seed=FIVE,
        step=[0, 500, onset, 2000, 5000],
        train_loss=loss,
        train_accuracy=train,
        test_accuracy=lambda row: (
            early if row["step"] < onset else 0.5 if row["step"] < 2000 else 1
        ),
    )
    features = rows(
        "fourier_features",
        case="own_split",
        seed=FIVE,
        step=[0, 5000],
        feature=[0, 1, 2, 3],
        other=[0, 1, 2, 3],
        norm=lambda row: 1 + row["feature"] % 2 * (norms if row["step"] else 1.0),
        cosine=lambda row: cosine if row["step"] else 0.5,
        absolute_cosine=absolute,
    )
    return table(history, features)


def orthogonality(share=0.5, exponent=1.0):
    """Points of both problems: a cosine that is a share of its bound, one of them not found."""
    return rows(
        "orthogonality",
        case=["hyperbola", "relu_network"],
        model__init__0=[1.0, 2.0, 3.0, 4.0],
        penalties__0__weight=[1e-6, 1e-5, 1e-4, 1e-3, 1e-2],
        seed=[0, 1, 2],
        distance=[1e-4, 1e-2, np.nan],
        cosine=lambda row: share * row["distance"] ** exponent,
        bound=lambda row: row["distance"] ** exponent,
    )


def drifts(difference=0.01, cosine=0.95, wrong=0.01):
    """`isolation`: what is compared at its weight, time and excess, and `wrong` elsewhere."""

    def value(row):
        right = row["penalties.0.weight"] == 1e-4 and row["step"] == 20 and row["model.excess"] == 0
        return difference if right else wrong

    made = rows(
        "first_layer_drift",
        seed=[0, 1],
        penalties__0__weight=[1e-4, 1e-3],
        gradients__0__factor=[1.0, 0.01],
        model__excess=[0.0, 1.0],
        prediction=["isolated", "joint"],
        step=[10, 20, 30],
        slow_time=lambda row: row["step"] / 10,
        difference=value,
        pull_cosine=cosine,
    )
    return made[(made["step"] < 30) | (made["penalties.0.weight"] == 1e-3)]


def flows(share=0.5, exponent=1.0):
    """`theorem`: a loss that is a share of its bound, a distance that is a power of the decay."""
    shared = {
        "case": ["hyperbola", "relu_network"],
        "model__init__0": [1.0, 2.0, 3.0, 4.0],
        "dynamics__weight_decay": [1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1],
        "member": lambda row: f"{row['model.init.0']}, {row['dynamics.weight_decay']}",
    }
    history = rows(
        **shared,
        step=[0, 1, 2],
        train_loss=lambda row: share * 4 * row["dynamics.weight_decay"] * (row["step"] == 1),
        l2_norm=2.0,
    )
    distances = rows(
        "zero_loss_distance",
        **shared,
        step=[1, 2],
        nearest=1.0,
        distance=lambda row: row["dynamics.weight_decay"] ** exponent * row["step"],
    )
    return table(history, distances)


def ridge(weak=1.0, middle=1.05, strong=2.0, trained=1.5):
    """`ridge`: each case generalises at a step, which is also its slow time."""
    onsets = {1e-6: weak, 1e-4: middle, 1e-2: strong}

    def accuracy(row):
        onset = {"zero_loss": 1.0, "training": trained}.get(row["case"])
        return float(row["step"] >= 100 * (onset or onsets[row["dynamics.weight_decay"]]))

    shared = {"seed": [0, 1, 2], "step": list(range(0, 1001, 5)), "test_accuracy": accuracy}
    shared |= {"optimizer__lr": 50.0, "penalties__0__weight": 0.01, "dynamics__rate": 1.0}
    return table(
        rows(case="zero_loss", dynamics__weight_decay=np.nan, **shared),
        rows(case="ridge", dynamics__weight_decay=[1e-6, 1e-4, 1e-2], **shared),
        rows(case="training", dynamics__weight_decay=np.nan, **shared),
    )


def test_likeness_without_centring_is_a_rejected_interpretation():
    found = [judged(PAPER, "G10c", isolated(same=same))["verdict"] for same in (0.64, 0.9)]
    assert found == ["interpretation rejected", "not decisive"]


def test_what_is_known_before_training_is_the_first_row_of_each_record():
    (made,) = claims.before_training({"one": isolated()}).values()
    assert set(made["step"]) == {0}
    assert set(made["record"]) == {"history", "fourier_features"}


def test_an_accuracy_that_is_never_reached_is_infinite():
    found = judged(PAPER, "G7", isolated(onset=9000).query("step < 2000"))
    assert (found["value"], found["verdict"]) == (np.inf, "not reproduced")
