"""Axes that go through their values together: members, ids, runs that share them, and errors."""

import json
import re

import pandas as pd
import pytest
import yaml

from grokatlas.declare import overlays
from grokatlas.engine import members
from grokatlas.errors import UserError
from grokatlas.results import dotted, hashing
from grokatlas.rules import tidy_table
from tests.checkout import ROOT
from tests.runs import trained
from tests.unit.declare.test_cells import BASE, paper, resolve, spec
from tests.unit.declare.test_run_shares import cell

RATES, SCALES = [0.1, 0.2, 0.3], [3.0, 2.0, 1.0]
JOINED = {"optimizer.lr": RATES, "model.init_scale": SCALES}
PAIRS = list(zip(RATES, SCALES, strict=True))
SPLIT = {"optimizer.lr": 2}


def _points(found):
    return [(m["optimizer.lr"], m["model.init_scale"]) for m in members.of(found)]


def test_joined_axes_go_through_their_values_together():
    found = spec({"ensemble": {"zip": [JOINED]}})
    assert _points(found) == PAIRS
    assert "lr" not in found["optimizer"]
    assert "init_scale" not in found["model"]


def test_several_multiply_with_each_other_and_with_plain_axes_the_seed_fastest():
    smooth = {"optimizer.beta1": [0.8, 0.9], "optimizer.beta2": [0.99, 0.98]}
    axes = {"zip": [smooth, JOINED], "optimizer.eps": [1e-8, 1e-6], "seed": [5, 4]}
    found = members.of(spec({"optimizer": {"name": "adam"}, "ensemble": axes}))
    assert len(found) == 2 * 3 * 2 * 2
    assert [m["seed"] for m in found[:4]] == [5, 4, 5, 4]
    assert {(m["optimizer.beta1"], m["optimizer.beta2"]) for m in found} == {
        (0.8, 0.99),
        (0.9, 0.98),
    }
    assert {(m["optimizer.lr"], m["model.init_scale"]) for m in found} == set(PAIRS)
    assert len({tuple(sorted(m.items())) for m in found}) == len(found)


def test_a_spec_says_the_same_after_it_was_written_and_read():
    """Keys of a file are sorted, so that the seed is not the last of them."""
    link = {"name": "norm_cap", "parameters": ["*"]}
    axes = {"zip": [JOINED], "updates.0.max_norm": [1.0, 2.0], "seed": 2}
    found = spec({"updates": [link], "ensemble": axes})
    read = json.loads(json.dumps(found, sort_keys=True))
    assert list(read["ensemble"]) == ["seed", "updates.0.max_norm", "zip"]
    assert [list(m.items()) for m in members.of(read)] == [
        list(m.items()) for m in members.of(found)
    ]


def test_two_spellings_are_one_run_and_a_product_is_another():
    turned = {"zip": [dict(reversed(JOINED.items()))]}
    found = [spec({"ensemble": each}) for each in ({"zip": [JOINED]}, turned, JOINED)]
    assert hashing.of(found[0]) == hashing.of(found[1]) != hashing.of(found[2])


def test_one_value_may_return_where_the_pair_does_not():
    found = spec({"ensemble": {"zip": [JOINED | {"optimizer.lr": [0.1, 0.1, 0.2]}]}})
    assert _points(found) == [(0.1, 3.0), (0.1, 2.0), (0.2, 1.0)]


@pytest.mark.parametrize("name", JOINED)
def test_a_joined_axis_is_split_by_the_name_of_any_path(name):
    axes = {"zip": [JOINED], "seed": 2}
    found = cell({"ensemble": axes, "members_per_run": {name: 2, "seed": 1}})
    assert [_points(part.spec) for part in found.parts] == [
        PAIRS[:2],
        PAIRS[:2],
        PAIRS[2:],
        PAIRS[2:],
    ]
    assert found.parts[3].label == "model.init_scale=1.0, optimizer.lr=0.3, seed=1"
    every = members.of(found.spec)
    for part in found.parts:
        assert [every[number] for number in part.members] == members.of(part.spec)
    own = {"zip": [{path: values[2:] for path, values in JOINED.items()}], "seed": [1]}
    assert hashing.of(found.parts[3].spec) == hashing.of(spec({"ensemble": own}))


def test_some_of_the_values_are_run_so_far():
    found = cell({"ensemble": {"zip": [JOINED]}, "members_per_run": SPLIT, "run_first": SPLIT})
    assert [_points(part.spec) for part in found.parts] == [PAIRS[:2]]
    assert found.left_out == [("optimizer.lr", 2, 3)]


def test_a_split_by_both_names_is_refused():
    both = {"optimizer.lr": 1, "model.init_scale": 1}
    with pytest.raises(UserError, match=r"is joined with model\.init"):
        cell({"ensemble": {"zip": [JOINED]}, "members_per_run": both})


def test_a_layer_replaces_joined_axes_or_takes_them_away():
    one = {"ensemble": {"zip": [JOINED]}}
    fewer = {path: values[:2] for path, values in JOINED.items()}
    assert _points(spec(one | {"quick": {"ensemble": {"zip": [fewer]}}}, "quick")) == PAIRS[:2]
    without = spec(one | {"quick": {"ensemble": {"zip": None}}}, "quick")
    assert members.of(without) == [{"seed": 0}]


def test_a_value_of_a_stronger_layer_is_refused_with_the_place_of_the_axis():
    both = {"ensemble": {"zip": [JOINED]}, "optimizer": {"lr": 0.4}}
    with pytest.raises(UserError, match=r"one\.optimizer\.lr: is never used"):
        spec(both)
    one = {"ensemble": {"zip": [JOINED]}, "quick": {"optimizer": {"lr": 0.4}}}
    with pytest.raises(UserError, match=r"one\.quick\.optimizer\.lr: is never used"):
        spec(one, "quick")
    assert _points(spec({"ensemble": {"zip": [JOINED]}})) == PAIRS  # the default is weaker


def test_a_sweep_of_a_joined_path_is_refused_and_one_of_the_joined_axes_is_none():
    one = {"ensemble": {"zip": [JOINED]}}
    with pytest.raises(UserError, match=r"members differ in optimizer\.lr already"):
        resolve(one | {"sweep": {"optimizer.lr": [0.1]}})
    fewer = {path: values[:2] for path, values in JOINED.items()}
    found = resolve({"sweep": {"ensemble.zip": [[JOINED], [fewer]]}})
    assert [_points(each.spec) for each in found] == [PAIRS, PAIRS[:2]]


def test_too_many_members_are_counted_as_they_are():
    many = {"optimizer.lr": [k + 1.0 for k in range(200)]}
    joined = many | {"model.init_scale": [k + 1.0 for k in range(200)]}
    assert len(members.of(spec({"ensemble": {"zip": [joined], "seed": 50}}))) == 10_000
    with pytest.raises(UserError, match=r"makes 10200 members"):
        spec({"ensemble": {"zip": [joined], "seed": 51}})


def test_tables_pages_and_explain_see_the_paths_as_axes():
    found = spec({"ensemble": {"zip": [JOINED], "seed": 2}})
    described = "model.init_scale 3.0, 2.0, 1.0 with optimizer.lr 0.1, 0.2, 0.3"
    assert dotted.members(found) == f"6 members: {described}; seed 0, 1"
    history = pd.DataFrame({"member": range(6), "train_loss": 0.0})
    rows = tidy_table.cell_rows({"case": "", "run": "r"}, found, {"history": history})
    assert list(zip(rows["optimizer.lr"], rows["model.init_scale"], strict=True))[::2] == PAIRS
    experiment = {"ensemble": {"zip": [JOINED]}, "quick": {"ensemble": {"zip": None}}}
    here, there = (
        overlays.of("geometry", paper(BASE, one=experiment), "one", None, scale).blocks()
        for scale in ("quick", "paper")
    )
    paths = [path for path, *_ in overlays.differences(here, there)]
    assert paths == ["ensemble.model.init_scale", "ensemble.optimizer.lr"]


def test_the_example_of_the_documentation_trains():
    (text,) = re.findall(
        r"```yaml\n(optimizer:.*?)```", (ROOT / "docs/extending.md").read_text("utf-8"), re.DOTALL
    )
    # strict YAML reads 1e-3 as a number, and PyYAML as text
    example = yaml.safe_load(re.sub(r"\b1e-", "1.0e-", text).replace("3e-3", "3.0e-3"))
    found = spec(example | {"train": {"steps": 3}, "observables": [{"name": "losses"}]})
    joined = [(m["optimizer.lr"], m["updates.0.rate"], m["seed"]) for m in members.of(found)]
    assert joined == [(rate, rate, seed) for rate in (1e-3, 3e-3) for seed in range(3)]
    history = trained(found).history
    assert len(set(history["train_loss"][history["step"] == 3])) == 6
