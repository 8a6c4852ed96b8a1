"""Specs of keywords that were renamed or came later."""

import pandas as pd
import pytest

from grokatlas import registry
from grokatlas.declare import cells, renaming
from grokatlas.declare.papers import experiment_alone
from grokatlas.errors import MistakeError, UserError
from tests import cases

MINE = '''"""A penalty."""

from grokatlas.engine.keyword_types import NonNegative

RENAMED = {"strength": "weight"}
DEFAULTED = {"floor": 0.0}


def build(*, strength: NonNegative, floor: NonNegative):
    """``strength``, and ``floor``."""
    return strength, floor
'''
SPEC = cases.data(__file__)["spec"]


@pytest.fixture(autouse=True)
def _mine(tmp_path, monkeypatch):
    """A study with a penalty `mine`."""
    for cached in (renaming.older_names, renaming.later_defaults):
        cached.cache_clear()
    (tmp_path / "components/penalties").mkdir(parents=True)
    (tmp_path / "study.yaml").write_text('grokatlas: ">=0"\n')
    (tmp_path / "components/penalties/mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)


def spec_of(penalty: dict, **overlay) -> dict:
    paper = experiment_alone("toy", {**SPEC, "penalties": [{"name": "mine", **penalty}], **overlay})
    (cell,) = cells.resolve("toy", paper, "toy", "paper")
    return cell.spec


CANONICAL = {"name": "mine", "weight": 0.1}


@pytest.mark.parametrize(
    "penalty",
    [
        {"strength": 0.1},
        {"weight": 0.1},
        {"strength": 0.1, "floor": 0.0},
        {"weight": 0.1, "floor": 0},
    ],
)
def test_a_spec_has_the_oldest_names_and_no_default_that_came_later(penalty):
    assert spec_of(penalty)["penalties"] == [CANONICAL]


def test_another_value_than_the_default_is_part_of_a_spec():
    assert spec_of({"weight": 0.1, "floor": 0.5})["penalties"] == [CANONICAL | {"floor": 0.5}]


@pytest.mark.parametrize("name", ["weight", "strength"])
def test_an_axis_has_the_oldest_name(name):
    spec = spec_of(
        {},
        ensemble={f"penalties.0.{name}": [0.1, 0.2], "model.init": [[1.0]], "seed": 2},
        model={"name": "linear", "negative_slope": 1.0},
    )
    assert list(spec["ensemble"].items()) == [
        ("model.init", [[1.0]]),
        ("penalties.0.weight", [0.1, 0.2]),
        ("seed", [0, 1]),
    ]
    split = spec_of({"strength": 0.1}, ensemble={"seed": 2})
    assert split["penalties"] == [CANONICAL]


def test_a_share_of_an_axis_may_have_either_name():
    overlay = {
        "ensemble": {"penalties.0.weight": [0.1, 0.2]},
        "members_per_run": {"penalties.0.strength": 1},
    }
    paper = experiment_alone("toy", {**SPEC, "penalties": [{"name": "mine"}], **overlay})
    (cell,) = cells.resolve("toy", paper, "toy", "paper")
    assert [part.spec["ensemble"]["penalties.0.weight"] for part in cell.parts] == [[0.1], [0.2]]


@cases.listed("penalty", "axes", "problem")
def test_a_mistake_is_one_error(penalty, axes, problem):
    with pytest.raises(UserError, match=problem):
        spec_of(penalty, ensemble=axes)


@pytest.mark.parametrize("path", ["train.steps", "seed", "penalties.7.weight", "task", "x.y"])
def test_an_axis_of_no_component_keeps_its_name(path):
    values = {"penalties": [{"name": "mine"}], "train": {"name": 1}, "task": {}}
    assert renaming.older_path(path, values) == renaming.path_today(path, values) == path


def test_a_component_is_built_from_any_names():
    build = registry.load("penalties", "mine").build
    assert build(weight=0.1) == build(strength=0.1) == (0.1, 0.0)
    assert build(weight=0.1, floor=0.5) == (0.1, 0.5)


def test_a_table_has_the_names_of_today_where_runs_have_the_component():
    table = pd.DataFrame(
        {
            "run": ["a", "b", "c"],
            "penalties.0.name": ["mine", "l2", None],
            "penalties.0.weight": [0.1, 0.2, None],
        }
    )
    shown = renaming.columns_today(table)
    assert shown["penalties.0.strength"].tolist()[:1] == [0.1]
    assert shown["penalties.0.strength"].isna().tolist() == [False, True, True]
    assert shown["penalties.0.weight"].isna().tolist() == [True, False, True]
    alone = renaming.columns_today(table[:1])
    assert list(alone) == ["run", "penalties.0.name", "penalties.0.strength"]
    other = table[1:2]
    assert renaming.columns_today(other) is other


def test_both_names_in_a_block_are_a_mistake():
    with pytest.raises(MistakeError, match="is the older name of strength"):
        renaming.today("penalties", CANONICAL | {"strength": 1.0})
