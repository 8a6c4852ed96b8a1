"""An experiment whose members do not share one run: its table, and what hangs on that."""

import pytest

from grokatlas.declare.models import Paper
from grokatlas.plan.graph import make_plan
from tests.unit.declare.test_cells import BASE, paper

TIMES = {"name": "grokking_times", "train_accuracy": 0.9, "test_accuracy": 0.9}
FEATURES = {"name": "fourier_features", "parameter": "layers.0.weight"}
DEFAULTS = BASE | {"observables": [{"name": "accuracies"}], "measures": [TIMES, FEATURES]}
SEEDS = {"ensemble": {"seed": 4}}
ONE_BY_ONE = {**SEEDS, "members_per_run": {"seed": 1}}


def plan(**experiments):
    return make_plan({"geometry": paper(DEFAULTS, **experiments)}, "paper")


def table(experiment):
    return plan(one=experiment).tables["geometry", "one"]


def test_a_split_that_splits_nothing_changes_nothing():
    plain, split = (table(e) for e in (SEEDS, {**SEEDS, "members_per_run": {"seed": 4}}))
    assert plain.spec == split.spec
    assert plain.digest == split.digest
    assert "part" not in plain.spec["cells"][0]
    assert "so_far" not in plain.spec


def test_the_table_lists_each_run_with_the_measures_of_its_own():
    found = plan(one=ONE_BY_ONE)
    job = found.tables["geometry", "one"]
    rows = job.spec["cells"]
    assert [row["label"] for row in rows] == ["seed=0", "seed=1", "seed=2", "seed=3"]
    assert [row["part"] for row in rows] == [{"of": "", "members": [k]} for k in range(4)]
    assert all(row["light"] == [TIMES] for row in rows)
    assert [row["run"] for row in rows] == list(found.runs)
    assert {(row["run"], *row["measures"]) for row in rows} == set(found.measures)
    assert {each.target.name for each in job.inputs if each.kind == "run"} == set(found.runs)
    assert "grokatlas.rules.split_table" in job.code
    assert "grokatlas.rules.split_table" not in table(SEEDS).code


def test_each_case_is_split_by_itself():
    cases = {"a": {"optimizer": {"lr": 0.5}}, "b": {"members_per_run": None}}
    rows = table({**ONE_BY_ONE, "cases": cases}).spec["cells"]
    assert [(row["case"], row["label"]) for row in rows] == [
        *(("a", f"a, seed={seed}") for seed in range(4)),
        ("b", "b"),
    ]
    assert [row.get("part", {}).get("of") for row in rows] == ["a"] * 4 + [None]


def test_one_more_seed_is_one_more_run():
    before, after = (plan(one={**ONE_BY_ONE, "run_first": {"seed": n}}) for n in (2, 3))
    assert set(before.runs) < set(after.runs)
    assert len(after.runs) == 3
    same = [name for name in before.runs if before.runs[name].digest == after.runs[name].digest]
    assert len(same) == 2


def test_a_table_says_of_how_many_values_it_is():
    assert table({**ONE_BY_ONE, "run_first": {"seed": 2}}).spec["so_far"] == [
        {"axis": "seed", "values": 2, "of": 4}
    ]
    cases = {"a": {"run_first": {"seed": 2}}, "b": {"optimizer": {"lr": 0.5}}}
    assert table({**ONE_BY_ONE, "cases": cases}).spec["so_far"] == [
        {"axis": "seed", "values": 2, "of": 4, "cells": 1, "of_cells": 2}
    ]


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ([4, 4], None),
        ([1, 1], "1 of 4 seeds"),
        ([1, 4], "one: 1 of 4 seeds"),
        ([1, 2], "one: 1 of 4 seeds; two: 2 of 4 seeds"),
    ],
)
def test_figures_claims_and_pages_are_told(shares, expected):
    experiments = {
        name: {**ONE_BY_ONE, "run_first": {"seed": share}}
        for name, share in zip(("one", "two"), shares, strict=True)
    }
    experiments["two"]["optimizer"] = {"lr": 0.5}
    claim = {"id": "G1", "statement": "s", "place": "p", "source": "text", "published": "1"}
    claim |= {"figure": "fig1", "value": "distance_at_rest", "expected": [None, 1.0]}
    known = paper(DEFAULTS, **experiments)
    of_one = claim | {"id": "G2", "keywords": {"experiment": "one"}}
    claims = {"claims": [claim, of_one]}
    known = Paper.model_validate({**known.model_dump(exclude_unset=True), **claims})
    made = make_plan({"geometry": known}, "paper")
    figure = made.figures["geometry", "fig1"].spec
    judged, judged_of_one = made.claims["paper"].spec["papers"]["geometry"]
    shown = made.atlas["paper"].spec["papers"]["geometry"]
    for spec in (figure, judged, shown["figures"]["fig1"]):
        assert spec.get("so_far") == expected
        assert expected or "so_far" not in spec
    own = {"G1": expected, "G2": judged_of_one.get("so_far")}
    assert own["G2"] == (expected and "1 of 4 seeds")
    assert shown["so_far"] == {key: share for key, share in own.items() if share}
    small = make_plan({"geometry": known}, "quick").claims["quick"].spec["papers"]["geometry"]
    assert "so_far" not in small[0]
