import json

import pandas as pd
import pytest

from grokatlas.rules import tidy_table

SPEC = {
    "ensemble": {"optimizer.lr": [0.1, 0.2], "seed": [0, 5]},
    "task": {"name": "one_sample", "point": [1.0, 2.0]},
    "model": {"name": "linear", "init": "normal"},
    "optimizer": {"name": "gd"},
    "penalties": [{"name": "l2", "weight": 0.5, "squared": True}],
    "train": {"steps": 3, "log": {"every": 1, "first": 0}, "snapshots": [0, 3]},
}
CELL = {"case": "a", "run": "0123456789ab", "measures": []}
FRAME = {"paper": "geometry", "experiment": "toy", "scale": "smoke", "cells": []}


def _history(members=4):
    rows = [(m, step, m + step / 10) for step in (0, 3) for m in range(members)]
    return pd.DataFrame(rows, columns=["member", "step", "train_loss"])


def _join(*specs):
    parts = [tidy_table.cell_rows(CELL, spec, {"history": _history()}) for spec in specs]
    return tidy_table.join(parts, FRAME)


def test_each_row_carries_the_whole_spec_in_dotted_columns():
    row = _join(SPEC).iloc[0].to_dict()
    assert row == {
        "paper": "geometry",
        "experiment": "toy",
        "scale": "smoke",
        "record": "history",
        "case": "a",
        "run": "0123456789ab",
        "seed": 0,
        "optimizer.lr": 0.1,
        "task.name": "one_sample",
        "task.point.0": 1.0,
        "task.point.1": 2.0,
        "model.name": "linear",
        "model.init": "normal",
        "optimizer.name": "gd",
        "penalties.0.name": "l2",
        "penalties.0.weight": 0.5,
        "penalties.0.squared": True,
        "train.steps": 3,
        "train.log.every": 1,
        "train.log.first": 0,
        "train.snapshots.0": 0,
        "train.snapshots.1": 3,
        "member": 0,
        "step": 0,
        "train_loss": 0.0,
    }


def test_rows_carry_the_values_of_their_member():
    table = _join(SPEC)
    found = table[table["step"] == 3].sort_values("member")
    assert found["optimizer.lr"].tolist() == [0.1, 0.1, 0.2, 0.2]
    assert found["seed"].tolist() == [0, 5, 0, 5]
    assert found["train_loss"].tolist() == [0.3, 1.3, 2.3, 3.3]


def test_a_vector_axis_has_a_column_for_each_entry():
    table = _join(SPEC | {"ensemble": {"model.init": [[1.0, -1.0], [2.0, 0.5]], "seed": [0, 1]}})
    first = table[table["step"] == 0].sort_values("member")
    assert first["model.init.1"].tolist() == [-1.0, -1.0, 0.5, 0.5]


def test_measures_stand_below_the_history():
    times = pd.DataFrame({"member": [0, 1, 2, 3], "t1": [1.0, 2.0, float("nan"), 4.0]})
    part = tidy_table.cell_rows(CELL, SPEC, {"history": _history(), "grokking_times": times})
    found = part[part["record"] == "grokking_times"]
    assert found["t1"].tolist()[:2] == [1.0, 2.0]
    assert found["optimizer.lr"].tolist() == [0.1, 0.1, 0.2, 0.2]
    assert found["step"].isna().all()
    assert part[part["record"] == "history"]["t1"].isna().all()


def test_values_of_mixed_type_become_text():
    numbers = SPEC | {"model": {"name": "linear", "init": 0.5}}
    table = _join(SPEC, numbers)
    assert set(table["model.init"]) == {json.dumps("normal"), "0.5"}
    flags = _join(SPEC, SPEC | {"penalties": [{"name": "l2", "weight": 0.5, "squared": "no"}]})
    assert set(flags["penalties.0.squared"]) == {"true", '"no"'}


@pytest.mark.parametrize(
    "other",
    [
        SPEC,
        SPEC | {"model": {"name": "linear", "init": 0.5}},
        SPEC | {"penalties": []},
        SPEC | {"task": {"name": "one_sample", "point": [1.0]}},
        {key: value for key, value in SPEC.items() if key != "model"},
    ],
    ids=["same", "mixed", "no penalty", "shorter", "no model"],
)
def test_a_table_survives_parquet(other, tmp_path):
    table = _join(SPEC, other)
    table.to_parquet(tmp_path / "table.parquet", index=False)
    found = pd.read_parquet(tmp_path / "table.parquet")
    assert found.columns.tolist() == table.columns.tolist()
    for column in table:
        assert found[column].isna().tolist() == table[column].isna().tolist()
        assert found[column].dropna().tolist() == table[column].dropna().tolist()


def test_a_precision_of_the_loss_is_a_column_that_other_cells_lack(tmp_path):
    train = SPEC["train"] | {"dtype": "float32"}
    double = SPEC | {"train": train | {"loss_dtype": "float64"}}
    _join(SPEC | {"train": train}, double).to_parquet(tmp_path / "table.parquet")
    table = pd.read_parquet(tmp_path / "table.parquet")
    assert table["train.loss_dtype"].isna().tolist() == [True] * 8 + [False] * 8
    assert table["train.loss_dtype"].dropna().unique().tolist() == ["float64"]
    assert table["train.dtype"].unique().tolist() == ["float32"]
