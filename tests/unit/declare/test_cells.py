"""From overlays to specs: how blocks merge, what makes a run, what keeps its identity."""

import itertools

import pytest

from grokatlas import registry
from grokatlas.code import module_shape
from grokatlas.declare import cells, signatures
from grokatlas.declare.models import Paper
from grokatlas.engine import members
from grokatlas.errors import UserError
from grokatlas.plan.graph import make_plan
from grokatlas.results import hashing, layout
from tests import cases
from tests.runs import addition, mlp

MODEL = mlp(8, init_law="normal_fan_in")
TASK = addition(5, train_fraction=0.5)
BASE = {
    "task": TASK,
    "model": MODEL,
    "loss": {"name": "cross_entropy"},
    "optimizer": {"name": "gd", "lr": 0.1},
    "train": {"steps": 100},
}
MSE = {"reduction": "sum", "half": True}
SGD = {"name": "sgd", "lr": 0.2, "momentum": 0.9, "nesterov": False}
STOP = {"train": {"steps": 9, "stop": {"train_loss": {"below": -0.0}}}}
STOP |= {"observables": [{"name": "losses"}]}
ADAM = {"name": "adam", "lr": 0.2, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8}


def paper(defaults=None, **experiments):
    figure = {"experiments": list(experiments), "caption": "c"}
    return Paper.model_validate(
        {
            "source": {"title": "t", "arxiv": "1"},
            "defaults": defaults or {},
            "experiments": experiments,
            "figures": {"fig1": figure},
        }
    )


def resolve(experiment=None, scale="paper", defaults=BASE):
    return cells.resolve("geometry", paper(defaults, one=experiment or {}), "one", scale)


def spec(experiment=None, scale="paper", defaults=BASE):
    (cell,) = resolve(experiment, scale, defaults)
    return cell.spec


def run_id(*arguments, **keywords):
    return hashing.of(spec(*arguments, **keywords))


def test_a_spec_holds_every_number_of_the_run():
    assert spec() == {
        **BASE,
        "dynamics": {"name": "gradient_training"},
        "ensemble": {"seed": [0]},
        "train": {
            "steps": 100,
            "dtype": "float32",
            "log": {"every": 1, "first": 0},
            "snapshots": [0, 100],
        },
    }


@cases.listed("experiment", "scale", "expected")
def test_overlays_merge(experiment, scale, expected):
    found = spec(experiment, scale)
    assert {block: found[block] for block in expected} == {
        block: change if isinstance(change, list) else {**_written(block), **change}
        for block, change in expected.items()
    }


def _written(block):
    """A block of a spec of `BASE`, unless another optimizer takes its place."""
    return {} if block == "optimizer" else spec()[block]


def test_minibatches_are_shuffled_unless_told_otherwise():
    assert spec({"train": {"batch_size": 4}})["train"]["shuffle"] is True
    assert spec({"train": {"batch_size": 4, "shuffle": False}})["train"]["shuffle"] is False
    assert "shuffle" not in spec()["train"]


def test_levels_that_stop_a_member_are_part_of_the_spec():
    seen = {"observables": [{"name": "accuracies"}, {"name": "losses"}]}
    levels = {"test_accuracy": 0.85, "train_loss": {"below": 1e-3}, "test_loss": {"above": 2.0}}
    assert spec(seen | {"train": {"stop": levels}})["train"]["stop"] == levels
    assert "stop" not in spec(seen)["train"]


@cases.listed("observable", "column")
def test_a_column_that_follows_from_keywords_is_known(observable, column):
    stopped = {"observables": [observable], "train": {"stop": {column: 0.5}}}
    assert spec(stopped)["train"]["stop"] == {column: 0.5}
    with pytest.raises(
        UserError, match=rf"train\.stop\.x{column}: no column \"x{column}\" is logged"
    ):
        spec(stopped | {"train": {"stop": {f"x{column}": 0.5}}})


def test_an_observable_that_does_not_say_what_it_logs_may_log_any_column(monkeypatch):
    monkeypatch.setattr(signatures, "columns", lambda name: None)
    stopped = {"observables": [{"name": "losses"}], "train": {"stop": {"own_column": 0.5}}}
    assert spec(stopped)["train"]["stop"] == {"own_column": 0.5}


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"step": None}, "losses logs step, which every table has"),
        ({"seed": None}, "losses logs seed, which every table has"),
        ({"scale": None}, "losses logs scale, which every table has"),
        ({"train_loss": "falls"}, "losses logs train_loss, which observables.0 logs"),
        ({"train_*": None}, r"losses logs train_\*, which observables.0 logs"),
    ],
)
def test_a_column_is_logged_once(monkeypatch, columns, problem):
    logged = {"squared_errors": {"train_loss": "falls"}, "losses": columns}
    monkeypatch.setattr(signatures, "columns", logged.get)
    with pytest.raises(UserError, match=rf"observables.1.name: {problem}; rename or remove it"):
        spec({"observables": [{"name": "squared_errors"}, {"name": "losses"}]})


def test_a_precision_of_the_loss_is_in_the_spec_where_it_is_given_and_nowhere_else():
    given = {"train": {"loss_dtype": "float64"}}
    assert spec(given)["train"] == spec()["train"] | {"loss_dtype": "float64"}
    assert "loss_dtype" not in spec()["train"]
    assert spec(given | {"cases": {"a": {"train": {"loss_dtype": None}}}}) == spec()
    assert run_id(given) != run_id()


def test_a_scale_of_the_defaults_is_weaker_than_the_experiment_s_own_but_stronger_than_its_values():
    defaults = {**BASE, "quick": {"model": {"width": 4, "bias": False}}}
    found = spec({"model": {"width": 9}, "quick": {"model": {"bias": True}}}, "quick", defaults)
    assert (found["model"]["width"], found["model"]["bias"]) == (4, True)


def test_a_case_has_its_own_overrides():
    experiment = {
        "quick": {"model": {"width": 4}},
        "cases": {"a": {}, "b": {"quick": {"model": {"width": 2}}}},
    }
    widths = {cell.case: cell.spec["model"]["width"] for cell in resolve(experiment, "quick")}
    assert widths == {"a": 4, "b": 2}


def test_null_takes_away_what_a_weaker_overlay_gives():
    defaults = {**BASE, "train": {"steps": 10, "batch_size": 4}, "ensemble": {"seed": 3}}
    experiment = {"train": {"batch_size": None}, "ensemble": {"seed": None}}
    found = spec(experiment, defaults=defaults)
    assert "batch_size" not in found["train"]
    assert found["ensemble"] == {"seed": [0]}


def test_null_removes_a_block_that_the_dynamics_does_not_use():
    dynamics = {"name": "isolated_first_layer", "rate": 0.1}
    assert "optimizer" not in spec({"dynamics": dynamics, "optimizer": None})


def test_a_sweep_makes_the_product_of_its_axes_with_labels():
    found = resolve({"sweep": {"optimizer.lr": [0.1, 0.2], "train.steps": [5, 6]}})
    values = [(c.spec["optimizer"]["lr"], c.spec["train"]["steps"]) for c in found]
    assert values == list(itertools.product([0.1, 0.2], [5, 6]))
    assert found[1].case == "optimizer.lr=0.1, train.steps=6"


def test_a_sweep_multiplies_cases_which_keep_their_names():
    found = resolve({"sweep": {"optimizer.lr": [0.1, 0.2]}, "cases": {"a": {}, "b": {}}})
    assert [(cell.case, cell.label) for cell in found] == [
        (case, f"{case}, optimizer.lr={lr}") for case in "ab" for lr in (0.1, 0.2)
    ]


def test_a_sweep_is_stronger_than_a_scale_and_a_scale_may_shorten_it():
    experiment = {
        "sweep": {"model.width": [2, 3]},
        "quick": {"model": {"width": 9}, "sweep": {"model.width": [2]}},
    }
    assert [cell.spec["model"]["width"] for cell in resolve(experiment, "quick")] == [2]


def test_a_sweep_reaches_into_lists_the_seed_and_null():
    experiment = {
        "penalties": [{"name": "l2", "weight": 1.0, "squared": True}],
        "sweep": {"penalties.0.weight": [2.0], "ensemble.seed": [[7]], "train.batch_size": [None]},
    }
    found = spec(experiment)
    assert found["penalties"][0]["weight"] == 2.0
    assert found["ensemble"] == {"seed": [7]}
    assert "batch_size" not in found["train"]


@pytest.mark.parametrize(("seed", "seeds"), [(3, [0, 1, 2]), ([4, 2], [4, 2])])
def test_a_number_of_seeds_counts_from_zero_and_a_list_is_kept(seed, seeds):
    assert spec({"ensemble": {"seed": seed}})["ensemble"] == {"seed": seeds}


def test_members_are_the_product_of_the_axes_the_seed_fastest():
    found = spec({"ensemble": {"seed": 2, "optimizer.lr": [1, 2]}})
    assert "lr" not in found["optimizer"]
    assert [(m["optimizer.lr"], m["seed"]) for m in members.of(found)] == [
        (1.0, 0),
        (1.0, 1),
        (2.0, 0),
        (2.0, 1),
    ]


def test_members_share_a_task_unless_its_seed_is_theirs():
    shared = spec({"ensemble": {"seed": 2}})
    own = spec({"ensemble": {"seed": 2}, "task": {"split_seed": "member"}})
    assert members.tasks(shared) == [TASK]
    assert [task["split_seed"] for task in members.tasks(own)] == [0, 1]


@cases.listed("first", "second")
def test_two_spellings_of_one_run_have_one_id(first, second):
    assert run_id(first) == run_id(second)


@cases.listed("change")
def test_what_can_change_a_number_changes_the_id(change):
    assert run_id(change) != run_id({})


def test_equal_cells_of_two_experiments_are_one_run():
    both = paper(BASE, one={"model": {"width": 16}}, two={"cases": {"a": {"model": {"width": 16}}}})
    plan = make_plan({"geometry": both}, "paper")
    assert len(plan.runs) == 1
    assert len(plan.tables) == 2


def test_a_light_measure_is_the_tables_work():
    """It has no job of its own, and the table hangs on its code and keywords instead."""
    times = {"name": "grokking_times", "train_accuracy": 0.9, "test_accuracy": 0.9}
    features = {"name": "fourier_features", "parameter": "layers.0.weight"}
    measured = {"observables": [{"name": "accuracies"}], "measures": [times, features]}
    plan = make_plan({"geometry": paper(BASE | measured, one={})}, "paper")
    ((run, name),) = plan.measures
    assert name == layout.measure_id(features)
    table = plan.tables["geometry", "one"]
    (cell,) = table.spec["cells"]
    assert (cell["run"], cell["measures"], cell["light"]) == (run, [name], [times])
    assert "grokatlas.components.measures.grokking_times" in table.code
    assert "grokatlas.components.measures.fourier_features" not in table.code


def test_the_id_of_a_measure_is_its_keywords():
    low, high, same = (
        layout.measure_id({"name": "grokking_times", "test_accuracy": x}) for x in (0.5, 0.9, 0.5)
    )
    assert low == same != high
    assert layout.measure_id({"name": "plain"}) == "plain"


@pytest.mark.parametrize("scale", ["smoke", "quick", "paper"])
@pytest.mark.parametrize("width", [1, 7])
def test_the_order_of_keys_does_not_matter(scale, width):
    experiment = {"model": {"width": width, "bias": False}, "quick": {"task": {"modulus": 3}}}
    backwards = {key: dict(reversed(value.items())) for key, value in reversed(experiment.items())}
    defaults = dict(reversed(BASE.items()))
    assert run_id(experiment, scale) == run_id(backwards, scale, defaults)


def test_two_measures_of_one_name_are_refused():
    level = {"name": "grokking_times", "train_accuracy": 1.0}
    measures = [{**level, "test_accuracy": 0.99}, {**level, "test_accuracy": 1.0}]
    with pytest.raises(UserError, match=r"measures\.1\.name: grokking_times is listed twice"):
        resolve({"measures": measures})


@pytest.mark.parametrize("given", [{"signal_to_noise": None}, {}])
def test_a_keyword_that_may_be_null_is_null_in_the_spec(given):
    task = {"name": "sparse_recovery", "features": 8, "nonzeros": 2, "train_points": 4}
    found = spec({"task": task | {"instance_seed": 1} | given, "loss": {"name": "mse", **MSE}})
    assert found["task"]["signal_to_noise"] is None


@pytest.mark.parametrize(
    "text", ["['a']", "{'a': 'up'}", "{'a': ['falls']}", "{1: 'rises'}", "dict(a=None)"]
)
def test_columns_are_written_out(tmp_path, monkeypatch, text):
    (tmp_path / "components/observables").mkdir(parents=True)
    (tmp_path / "components/observables/odd_one.py").write_text(f"COLUMNS = {text}\n")
    monkeypatch.setattr(module_shape, "PACKAGE", tmp_path)
    monkeypatch.setattr(registry, "COMPONENTS", tmp_path / "components")
    signatures.columns.cache_clear()
    with pytest.raises(UserError, match=r"observables/odd_one\.py: COLUMNS: write out a dict"):
        signatures.columns("odd_one")


@pytest.mark.parametrize(
    ("path", "other"),
    [
        (("penalties", 0, "weight"), {"penalties": [{"name": "l1", "weight": -0.0}]}),
        (("optimizer", "weight_decay"), {"optimizer": {**SGD, "weight_decay": -0.0}}),
        (("train", "stop", "train_loss", "below"), STOP),
        (("ensemble", "penalties.0.weight", 1), None),
    ],
)
def test_a_negative_zero_of_a_notebook_is_no_run_of_its_own(path, other):
    axis = {"penalties": [{"name": "l1"}], "ensemble": {"penalties.0.weight": [1e-3, -0.0]}}
    found = spec(other or axis)
    for key in path:
        found = found[key]
    assert str(found) == "0.0"


def test_an_axis_takes_the_place_of_a_weaker_value():
    over = {"ensemble": {"optimizer.lr": [0.2, 0.3]}}
    assert spec(over)["ensemble"]["optimizer.lr"] == [0.2, 0.3]
    assert "lr" not in spec(over)["optimizer"]
    quick = {**over, "quick": {"optimizer": {"lr": 0.4}}}
    with pytest.raises(UserError, match=r"one.quick.optimizer.lr: is never used"):
        spec(quick, "quick")
    spec(quick, "paper")


SPAN = {"train": {"coordinates": "span", "snapshots": []}}


@pytest.mark.parametrize("axis", [False, True])
def test_noise_on_parameters_is_refused_in_the_coordinates_of_a_span(axis):
    block = {"ensemble": {"model.weight_noise": [0.1]}} if axis else {"model": {"weight_noise": 1}}
    with pytest.raises(UserError, match=r"its noise on parameters is not the same with train\.co"):
        spec(SPAN | block)
    spec(SPAN | {"model": {"dropout": 0.1}})


def test_dropout_is_refused_by_an_equation_that_has_none():
    dynamics = {"name": "isolated_first_layer", "rate": 0.1}
    blocks = {"dynamics": dynamics, "optimizer": None, "model": {"dropout": 0.0}}
    with pytest.raises(UserError, match=r"dropout: 0\.0 is not read by dynamics isolated_first_la"):
        spec(blocks)


def test_a_rate_that_is_null_is_no_part_of_a_run():
    assert run_id({"model": {"dropout": None, "weight_noise": None}}) == run_id({})
    assert run_id({"model": {"dropout": 0.0}}) != run_id({})
