"""The curves of a table, as the pages of the atlas hold them."""

import json

import numpy as np
import pandas as pd
import pytest

from grokatlas.atlas import curves
from grokatlas.plots import style


def series(**columns) -> pd.DataFrame:
    return pd.DataFrame({"step": np.arange(30), **columns})


def test_time_seeds_and_hyperparameters_are_told_apart_from_what_is_drawn():
    part = series(test_loss=np.arange(30.0), seed=0)
    parts = [
        part.assign(seed=seed, case=case, **{"optimizer.lr": lr})
        for seed in (0, 1)
        for case in ("a", "b")
        for lr in (0.1, 0.2)
    ]
    found = curves.layout(pd.concat(parts))
    assert found.x == "step"
    assert found.y == ("test_loss",)
    assert found.groups == ("case", "optimizer.lr", "seed")


def test_a_number_tells_curves_apart_only_where_points_would_coincide():
    parts = [series(loss=np.arange(30.0), decay=d, level=2.0) for d in (0.1, 0.2)]
    assert curves.layout(pd.concat(parts)).groups == ("decay",)
    alone = series(loss=np.arange(30.0), phase=np.repeat([1.0, 2.0], 15))
    found = curves.layout(alone)
    assert found.groups == ()
    assert found.y == ("loss", "phase")


def test_a_hyperparameter_with_many_values_is_an_abscissa():
    frame = pd.DataFrame({"dynamics.norm": np.geomspace(0.1, 10, 8), "median": np.arange(8.0)})
    assert curves.layout(frame.assign(series="loss")).x == "dynamics.norm"


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"feature": [0, 0, 1], "other": [0, 1, 1], "cosine": [1, 0, 1]}),
        pd.DataFrame({"polygon": ["[[0, 1], [2, 3]]" * 9] * 30, "size": range(30)}),
        pd.DataFrame({"step": [0, 100], "loss": [1.0, 0.1]}),
        pd.DataFrame({"step": range(30), "note": ["x"] * 30}),
        pd.DataFrame({"step": []}),
    ],
    ids=["matrix", "polygons", "two steps", "no ordinate", "empty"],
)
def test_what_is_no_curve_has_none(frame):
    assert curves.data(frame) is None


def test_curves_hold_the_numbers_of_each_group_by_rising_step():
    part = series(loss=np.arange(30.0))[::-1]
    frame = pd.concat([part.assign(seed=seed, loss=part["loss"] + seed) for seed in (10, 9)])
    frame.loc[frame["step"] == 3, "loss"] = np.inf
    made = curves.data(frame)
    assert [curve["group"] for curve in made["curves"]] == [["9"], ["10"]]
    columns = made["curves"][0]["columns"]
    assert columns["step"] == [float(step) for step in range(30)]
    assert columns["loss"][:5] == [9.0, 10.0, 11.0, None, 13.0]
    assert json.dumps(made, allow_nan=False)


def test_a_long_curve_is_thinned_evenly_and_keeps_its_ends():
    steps = np.arange(30_000)
    parts = [
        pd.DataFrame({"step": steps, "loss": 1.0 / (steps + s + 1), "seed": s}) for s in (0, 1)
    ]
    made = curves.data(pd.concat([parts[0], parts[1][:3000]]))
    assert made["of"] == 33_000
    assert made["points"] <= curves.MOST_POINTS
    long, short = (curve["columns"]["step"] for curve in made["curves"])
    assert (long[0], long[-1]) == (0, 29_999)
    assert (short[0], short[-1]) == (0, 2999)
    assert set(np.diff(long)) == {1, 2}
    assert len(long) / len(short) == pytest.approx(10, rel=0.01)


def test_many_columns_leave_room_for_fewer_points():
    frame = pd.DataFrame({f"weight.{k}": np.arange(9000.0) + k for k in range(100)})
    made = curves.data(frame.assign(step=range(9000)))
    assert made["points"] * 101 <= curves.MOST_NUMBERS
    assert made["y"] == [{"label": "weight.*", "columns": [f"weight.{k}" for k in range(100)]}]


def test_train_and_test_are_drawn_together_first():
    found = curves.choices(["norm", "train_loss", "test_loss"])
    assert found[0] == {"label": "train and test loss", "columns": ["train_loss", "test_loss"]}
    assert [choice["label"] for choice in found[1:]] == ["norm", "train_loss", "test_loss"]


def test_colours_are_the_projects():
    assert curves.colours(["train_loss", "test_loss"]) == [
        style.COLOURS["train"],
        style.COLOURS["test"],
    ]
    both = curves.colours(["fixed_grokalign", "learned_grokalign"])
    assert len(set(both)) == 2
    shades = curves.colours(["0.1", "0.01", ""])
    assert len(set(shades)) == 3
    many = curves.colours([f"case {k}" for k in range(99)])
    assert all(colour.startswith("#") and len(colour) == 7 for colour in [*both, *shades, *many])


@pytest.mark.parametrize(("seeds", "shown"), [(1, True), (2, False), (3, False), (4, True)])
def test_a_median_of_few_seeds_is_no_curve(seeds, shown):
    frame = pd.DataFrame({"step": range(9), "median": 0.5, "low": 0.0, "high": 1.0})
    (curve,) = curves.data(frame.assign(seeds=seeds, median=np.linspace(0, 1, 9)))["curves"]
    assert (curve["columns"]["median"] != [None] * 9) == shown
    assert curve["columns"]["low"] == [0.0] * 9


def test_series_of_one_kind_are_shown_at_first():
    parts = [series(median=np.arange(30.0), series=s) for s in ("l2_norm", "test_accuracy")]
    (group,) = curves.data(pd.concat(parts))["groups"]
    assert group["values"] == ["l2_norm", "test_accuracy"]
    assert group["shown"] == ["test_accuracy"]
