"""Claims of `grokalign` on alignment as a cause and along training; and what controls change."""

import json

import numpy as np
import pandas as pd

from grokatlas.papers.grokalign import claims
from tests.tables import rows, table

PAPER = "grokalign"
THREE, FIVE = list(range(3)), list(range(5))
STEPS = list(range(1, 21))


def together(sign=1.0):
    """Two cases that rise with the step, of which the better aligned is the more accurate one.

    The order of the cases changes from step to step.
    """

    def ahead(row):
        better = (row["step"] % 2 == 0) == (row["case"] == "grokalign")
        return 3.0 if better else -3.0

    return rows(
        case=["weight_decay", "grokalign"],
        seed=THREE,
        step=[0, *STEPS],
        probe_alignment=lambda row: -(row["step"] + 10 + ahead(row)) / 100,
        centroid_alignment_mean=lambda row: (row["step"] + 10 + ahead(row)) / 100,
        test_accuracy=lambda row: row["step"] + sign * ahead(row),
        train_accuracy=lambda row: row["step"] + (row["step"] % 3),
        noisy_accuracy__0=lambda row: row["step"] + sign * ahead(row),
        noisy_accuracy__4=lambda row: row["step"] + (row["step"] % 3),
    )


def budgets(sign=1.0):
    """Table 2: at each budget the better aligned method is the more accurate, or the worse."""
    methods = ["baseline", "adversarial", "grokalign"]

    def ahead(row):
        place = methods.index(row["case"].partition("_")[2])
        return 0.1 * ((place + (row["step"] // 100_000) ** 2) % 3)

    shared = {"case": [f"{loss}_{each}" for loss in ("ce", "mse") for each in methods]}
    shared |= {"step": [100_000, 200_000, 300_000, 400_000], "seed": 0}
    aligned = rows("jacobian_rows", row_alignment_max=lambda row: 0.2 + ahead(row), **shared)
    history = rows(test_accuracy=lambda row: 0.5 + sign * ahead(row) + row["step"] / 4e6, **shared)
    return table(aligned, history)


def kernel(end=0.5, product=12.0):
    """A cosine that is largest at step 10, and a product that goes on."""
    return rows(
        seed=FIVE,
        step=[0, 10, 20],
        probe_alignment=lambda row: {0: 0.0, 10: -0.6, 20: -end}[row["step"]],
        probe_inner_product=lambda row: {0: 0.0, 10: -8.0, 20: -product}[row["step"]],
    )


def xor(largest=0.65, end=0.5, memorised=0.02, generalised=0.12, robust=0.15):
    """Figure 4: memorised at step 1, generalised at 2, robust at 3; another course in GrokAlign."""
    alignments = {0: 0.0, 1: memorised, 2: generalised, 3: robust, 4: 0.17}
    norms = {0: 0.2, 1: 0.2, 2: largest, 3: 0.5, 4: end}
    alone = rows(
        case="weight_decay",
        seed=THREE,
        step=[0, 1, 2, 3, 4],
        probe_alignment=lambda row: alignments[row["step"]],
        probe_norm=lambda row: norms[row["step"]],
        train_accuracy=lambda row: float(row["step"] >= 1),
        test_accuracy=lambda row: float(row["step"] >= 2),
        noisy_accuracy__0=lambda row: float(row["step"] >= 3),
    )
    other = alone.assign(
        case="grokalign",
        probe_norm=alone["probe_norm"] / 3,
        probe_alignment=alone["step"].ge(3) * 0.6 + 0.05 * alone["step"],
    )
    return table(alone, other)


def images(centroid=0.05, flat=0.5, end=0.5):
    """Seven planes of 20 by 20 pixels whose slope is 2, less at three points after memorisation.

    Under cross-entropy they are as steep as before.
    """
    found = []
    sizes = {"memorisation": 2.0, "generalisation": 2 * flat, "end": 2 * end}
    points = [[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5]]
    for case, share in (("cross_entropy", centroid), ("squared_error", 1.0)):
        for moment, size in (
            sizes if case == "squared_error" else dict.fromkeys(sizes, 2.0)
        ).items():
            window = np.full((20, 20), 2.0)
            for x, y in points:
                window[int((y + 1) * 10), int((x + 1) * 10)] = size
            for plane in range(7):
                shared = {"record": "linear_regions", "case": case, "seed": 0, "run": "a"}
                shared |= {"moment": moment, "plane": plane}
                for place, line in enumerate(window):
                    low, high = place / 10 - 1, (place + 1) / 10 - 1
                    corners = json.dumps([[-1, low], [1, low], [1, high], [-1, high]])
                    told = {"polygon": corners, "entries": json.dumps(line.tolist())}
                    found.append(shared | told | {"item": "line", "place": place})
                for place, point in enumerate(points):
                    told = {"place": place, "polygon": json.dumps([point])}
                    found.append(shared | told | {"item": "input", "entries": "[0, 1]"})
                    slope = json.dumps([0, share * size])
                    found.append(shared | told | {"item": "centroid", "entries": slope})
    return pd.DataFrame(found)


def named(*cases):
    return rows(case=list(cases), value=lambda row: row["case"])


def runs_by_case(frame):
    return {case: sorted(part["value"]) for case, part in frame.groupby("case")}


def test_without_grokalign_its_runs_are_those_with_weight_decay_alone():
    cases = ("ce_baseline", "ce_grokalign", "ce_adversarial", "mse_baseline", "mse_grokalign")
    (made,) = claims.without_grokalign({"one": named(*cases)}).values()
    assert runs_by_case(made) == {case: [case] for case in cases} | {
        "ce_grokalign": ["ce_baseline"],
        "mse_grokalign": ["mse_baseline"],
    }
    (made,) = claims.without_grokalign({"one": named("weight_decay", "grokalign")}).values()
    assert runs_by_case(made) == {"weight_decay": ["weight_decay"], "grokalign": ["weight_decay"]}


def test_methods_are_turned_within_each_loss():
    cases = [f"{loss}_{each}" for loss in ("ce", "mse") for each in ("baseline", "grokalign")]
    (made,) = claims.methods_turned({"one": named(*cases, "ce_grokfast")}).values()
    assert runs_by_case(made) == {
        "ce_baseline": ["ce_grokalign"],
        "ce_grokalign": ["ce_baseline"],
        "mse_baseline": ["mse_grokalign"],
        "mse_grokalign": ["mse_baseline"],
        "ce_grokfast": ["ce_grokfast"],
    }


def test_steps_that_are_doubled_are_those_of_a_slower_run():
    (made,) = claims.steps_doubled({"one": rows(step=[0, 10])}).values()
    assert made["step"].tolist() == [0, 20]


def test_a_learning_rate_that_is_doubled_is_twice_as_large():
    (made,) = claims.learning_rate_doubled({"one": rows(optimizer__lr=0.1)}).values()
    assert made["optimizer.lr"].tolist() == [0.2]


def test_a_moment_that_is_never_reached_is_no_number():
    tables = {"xor": xor().assign(train_accuracy=0.5)}
    for first, last in (("start", "train_accuracy"), ("train_accuracy", "test_accuracy")):
        found = claims.alignment_gone(tables, "weight_decay", first, last, 1.0)
        assert np.isnan(found).tolist() == [True] * 3
