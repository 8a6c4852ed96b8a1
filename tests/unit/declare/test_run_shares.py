"""Which members of a cell share a run, and that a run does not know of the others."""

import pytest

from grokatlas import text
from grokatlas.declare import cells, overlays
from grokatlas.engine import members
from grokatlas.results import hashing
from tests.unit.declare.test_cells import BASE, paper

RATES = [0.1, 0.2]


def cell(experiment, scale="paper"):
    (found,) = cells.resolve("geometry", paper(BASE, one=experiment), "one", scale)
    return found


def ensembles(experiment, scale="paper"):
    return [part.spec["ensemble"] for part in cell(experiment, scale).parts]


def test_members_share_a_run_unless_they_are_split():
    (part,) = cell({"ensemble": {"seed": 3}}).parts
    assert (part.label, part.members) == ("", [0, 1, 2])
    assert part.spec == cell({"ensemble": {"seed": 3}}).spec


def test_each_run_is_that_of_an_experiment_with_its_values_alone():
    seeds = [7, 3, 11, 5, 2]
    for size in range(1, 7):
        split = cell({"ensemble": {"seed": seeds}, "members_per_run": {"seed": size}})
        apart = [seeds[first : first + size] for first in range(0, 5, size)]
        alone = [cell({"ensemble": {"seed": own}}).spec for own in apart]
        assert [hashing.of(p.spec) for p in split.parts] == [hashing.of(spec) for spec in alone]
        assert split.spec == cell({"ensemble": {"seed": seeds}}).spec


def test_several_split_axes_make_the_product_of_their_parts():
    ensemble = {"seed": 3, "optimizer.lr": RATES}
    found = ensembles({"ensemble": ensemble, "members_per_run": {"seed": 2, "optimizer.lr": 1}})
    assert found == [
        {"optimizer.lr": [rate], "seed": seeds} for rate in RATES for seeds in ([0, 1], [2])
    ]


def test_a_vector_axis_can_be_split():
    found = cell(
        {
            "model": {"name": "hadamard_product", "depth": 2},
            "task": {
                "name": "one_sample",
                "point": [1.0],
                "target": 1.0,
                "test_points": 2,
                "test_seed": 0,
            },
            "loss": {"name": "mse", "reduction": "sum", "half": True},
            "ensemble": {"model.init": [[1.0, 2.0], [3.0, 4.0]]},
            "members_per_run": {"model.init": 1},
        }
    )
    assert [p.spec["ensemble"]["model.init"] for p in found.parts] == [[[1.0, 2.0]], [[3.0, 4.0]]]
    assert [p.members for p in found.parts] == [[0], [1]]


@pytest.mark.parametrize("split", [{"seed": 1}, {"seed": 2}, {"optimizer.lr": 1}])
@pytest.mark.parametrize("so_far", [None, 4, 5])
def test_members_keep_the_numbers_that_one_run_of_the_same_values_gives(split, so_far):
    ensemble = {"seed": 5, "optimizer.lr": RATES}
    share = {"run_first": {"seed": so_far}} if so_far and "seed" in split else {}
    seeds = so_far if share else 5
    whole = members.of(cell({"ensemble": {**ensemble, "seed": seeds}}).spec)
    found = cell({"ensemble": ensemble, "members_per_run": split, **share})
    numbered = {
        number: member
        for part in found.parts
        for number, member in zip(part.members, members.of(part.spec), strict=True)
    }
    assert numbered == dict(enumerate(whole))


def test_the_label_of_a_run_names_its_own_values():
    ensemble = {"seed": 3, "optimizer.lr": RATES}
    both = cell({"ensemble": ensemble, "members_per_run": {"seed": 2, "optimizer.lr": 1}})
    assert [part.label for part in both.parts] == [
        "optimizer.lr=0.1, seed=0..1",
        "optimizer.lr=0.1, seed=2",
        "optimizer.lr=0.2, seed=0..1",
        "optimizer.lr=0.2, seed=2",
    ]


def test_some_of_the_values_are_run_so_far_and_the_rest_are_told():
    every = {"ensemble": {"seed": 10}, "members_per_run": {"seed": 1}}
    found = cell({**every, "run_first": {"seed": 3}})
    assert [p.spec["ensemble"]["seed"] for p in found.parts] == [[0], [1], [2]]
    assert found.left_out == [("seed", 3, 10)]
    assert found.spec["ensemble"]["seed"] == list(range(10))
    assert cell({**every, "run_first": {"seed": 10}}) == cell(every)
    assert cell(every).left_out == []


def test_the_last_run_may_have_fewer_values():
    uneven = {"ensemble": {"seed": 5}, "members_per_run": {"seed": 2}}
    assert [e["seed"] for e in ensembles(uneven)] == [[0, 1], [2, 3], [4]]
    assert ensembles({**uneven, "run_first": {"seed": 5}}) == ensembles(uneven)
    assert ensembles({**uneven, "run_first": {"seed": 4}}) == ensembles(uneven)[:2]


@pytest.mark.parametrize("gone", [None, {"seed": None}])
def test_an_overlay_takes_the_split_of_a_weaker_one_away(gone):
    both = {"members_per_run": {"seed": 1}, "run_first": {"seed": 2}}
    experiment = {"ensemble": {"seed": 4}, **both, "quick": dict.fromkeys(both, gone)}
    assert len(ensembles(experiment)) == 2
    assert ensembles(experiment, "quick") == [{"seed": [0, 1, 2, 3]}]


def test_a_split_is_no_difference_from_the_published_size():
    experiment = {"ensemble": {"seed": 4}, "members_per_run": {"seed": 1}}
    declared = paper(BASE, one={**experiment, "quick": {"members_per_run": None}})
    here, there = (
        overlays.of("geometry", declared, "one", None, scale).blocks()
        for scale in ("quick", "paper")
    )
    assert here == there


def test_what_is_left_out_is_told_in_words():
    seeds = {"axis": "seed", "values": 3, "of": 10}
    rates = {"axis": "optimizer.lr", "values": 1, "of": 2, "cells": 2, "of_cells": 8}
    assert text.so_far([]) == ""
    assert text.so_far([seeds]) == "3 of 10 seeds"
    assert text.so_far([seeds, rates]) == (
        "3 of 10 seeds, 1 of 2 values of optimizer.lr in 2 of 8 cells"
    )
