"""A member's trajectory is its own: the same alone or in company, with its own hyperparameters."""

import copy
import fnmatch
import functools
import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from examples import EXAMPLES, FACTS
from examples.runs import MINIBATCHES, RUNS, member_keywords

from grokatlas import registry
from grokatlas.code import code_digest
from grokatlas.declare import signatures
from grokatlas.engine import dataset, members, training
from grokatlas.engine import run as training_run
from grokatlas.engine.run import Run
from tests.runs import begun, trained
from tests.tiers import every, exhaustive

CPU = torch.device("cpu")
# Where these were written both precisions are met to the last bit. Another BLAS may sum members in
# another order than one alone (6e-8 an operation in float32), and 200 updates of Adam amplify that.
TOLERANCE = {"float64": 1e-10, "float32": 2e-3}
BATCHES = [(run, MINIBATCHES.get(run)) for run in RUNS]
FULL = [(run, None) for run in MINIBATCHES]
COMPANY = [(*batch, RUNS[batch[0]]["train"]["dtype"]) for batch in BATCHES + FULL]
COMPANY += [(run, None, "float32") for run in ("blog", "mlp", "isolated")]


def _train(spec: dict[str, Any]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    result = trained(spec)
    return result.history, result.snapshots


def _variant(run: str, steps: int = 200, **train: Any) -> dict[str, Any]:
    spec = copy.deepcopy(RUNS[run])
    spec["train"] |= {"steps": steps, "snapshots": [0, steps]} | train
    if spec["train"].get("batch_size", 0) is None:
        del spec["train"]["batch_size"]
    elif "batch_size" in spec["train"]:
        spec["train"]["shuffle"] = True
    return spec


def _of_member(trained: tuple[dict, dict], member: int) -> dict[str, np.ndarray]:
    history, snapshots = trained
    rows = history["member"] == member
    columns = {key: value[rows] for key, value in history.items() if key != "member"}
    return columns | {key: value[member] for key, value in snapshots.items()}


def _assert_close(first: dict, second: dict, tolerance: float) -> None:
    assert first.keys() == second.keys()
    for key, value in first.items():
        assert np.isfinite(value).all(), key
        np.testing.assert_allclose(value, second[key], tolerance, tolerance, err_msg=key)


@pytest.mark.parametrize("steps", [20, pytest.param(200, marks=exhaustive)])
@pytest.mark.parametrize(("run", "batch_size", "dtype"), every(8, COMPANY))
def test_member_alone_equals_member_in_company(run, batch_size, dtype, steps):
    spec = _variant(run, steps, dtype=dtype, batch_size=batch_size)
    company = _train(spec)
    alone = _train(spec | {"ensemble": {"seed": spec["ensemble"]["seed"][-1:]}})
    _assert_close(_of_member(company, 2), _of_member(alone, 0), TOLERANCE[dtype])


@pytest.mark.parametrize(
    ("run", "weight"),
    [*every(8, [(run, math.nan) for run in RUNS]), ("nuclear", math.inf), ("isolated", 0.0)],
)
def test_a_member_that_diverged_leaves_the_others_alone(run, weight, monkeypatch):
    def moved() -> tuple[dict[str, torch.Tensor], dict[str, np.ndarray]]:
        made = begun(spec)
        made.move(5)
        return made.parameters(), made.observe(made.parameters(), 5)

    def spoiled(spec: dict[str, Any], data: Any, member: dict[str, Any], *rest: Any) -> Any:
        model = build(spec, data, member, *rest)
        for parameter in model.parameters() if member["seed"] == first else ():
            parameter.data.fill_(weight)
        return model

    spec, build = RUNS[run], training_run.member_model
    first = spec["ensemble"]["seed"][0]
    sound = moved()
    monkeypatch.setattr(training_run, "member_model", spoiled)
    there = moved()
    assert any(not np.isfinite(np.asarray(v)[0]).all() for part in there for v in part.values())
    if math.isnan(weight):
        given = {*itertools.chain(*FACTS["given"]["observables"].values())}
        assert [key for key, v in there[1].items() if np.isfinite(v[0]) and key not in given] == []
    for before, after in zip(sound, there, strict=True):
        for key, values in before.items():
            rest = np.asarray(values)[1:]
            np.testing.assert_allclose(np.asarray(after[key])[1:], rest, 1e-10, 1e-10, err_msg=key)


@pytest.mark.parametrize("run", every(5, RUNS, first=1))
def test_a_run_logs_the_columns_that_its_observables_declare(run):
    spec = _variant(run, steps=1)
    history, _ = _train(spec)
    declared, whole = signatures.logged(spec["observables"])
    assert whole, "an observable has no COLUMNS"
    logged = [column for column in history if column not in ("member", "step")]
    found = {c: [name for name in declared if fnmatch.fnmatchcase(c, name)] for c in logged}
    assert {c: names for c, names in found.items() if len(names) != 1} == {}
    optional = {"nuclear_distance", "spectral_distance"}  # of a task that knows the matrix
    assert declared.keys() - {names[0] for names in found.values()} <= optional


def test_distances_to_a_known_matrix_are_logged():
    history, _ = _train(_variant("factors", steps=1))
    assert {"nuclear_distance", "spectral_distance"} <= history.keys()


def test_a_run_repeats_bit_for_bit():
    spec = _variant("mlp", steps=20, dtype="float32", batch_size=4)
    (history, snapshots), (again, kept) = _train(spec), _train(spec)
    assert all(np.array_equal(history[key], again[key]) for key in history)
    assert all(np.array_equal(snapshots[key], kept[key]) for key in snapshots)


@pytest.mark.parametrize("run", RUNS)
def test_both_precisions_start_from_the_same_draw(run):
    data = dataset.make(members.tasks(RUNS[run]))
    double, single = (
        Run(_variant(run, dtype=dtype), data, CPU) for dtype in ("float64", "float32")
    )
    for key, value in double.params.items():
        assert torch.equal(single.params[key], value.to(torch.float32))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is visible here")
@pytest.mark.parametrize("run", RUNS)
def test_both_devices_draw_the_same_parameters_batches_and_noise(run):
    spec = _variant(run, batch_size=MINIBATCHES.get(run))
    data = dataset.make(members.tasks(spec))
    cpu, cuda = (Run(spec, data, torch.device(name)) for name in ("cpu", "cuda"))
    for key, value in cpu.params.items():
        assert torch.equal(cuda.params[key].cpu(), value)
    for _ in range(5):
        both = (run.groups[0].batches.next() for run in (cpu, cuda))
        for ours, theirs in zip(*both, strict=True):
            assert torch.equal(theirs.cpu(), ours)
    for block in cpu.groups[0].programs.noise_shapes:
        ours, theirs = (run.groups[0].noise.at(block, 3, (4, 5)) for run in (cpu, cuda))
        assert torch.equal(theirs.cpu()[: len(ours)], ours)


def _axes() -> list[Any]:
    """Each keyword that members may differ in, once, in the first run that has it."""
    found: dict[str, Any] = {}
    for run, spec in RUNS.items():
        for name, path, value in member_keywords(spec):
            found.setdefault(name, (run, path, value))
    return [pytest.param(*value, id=name) for name, value in found.items()]


def _values(value: Any, spec: dict[str, Any]) -> list[Any]:
    if isinstance(value, float):
        return [value, value / 2]
    if isinstance(value, list):
        return [value, [entry / 2 for entry in reversed(value)]]
    entries = len(spec["task"]["point"]) * spec["model"].get("depth", 1)
    vector = [0.5 + 0.1 * k for k in range(entries)]
    return [vector, [-entry for entry in reversed(vector)]]


@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=exhaustive)])
@pytest.mark.parametrize(("run", "path", "value"), every(8, _axes()))
def test_members_have_their_own_hyperparameters(run, path, value, dtype):
    spec = _variant(run, steps=20, dtype=dtype)
    spec["ensemble"] = {path: _values(value, spec), "seed": [1]}
    company = _train(spec)
    alone = copy.deepcopy(spec) | {"ensemble": {"seed": [1]}}
    block, *where, keyword = path.split(".")
    entry = alone[block][int(where[0])] if where else alone[block]
    entry[keyword] = spec["ensemble"][path][-1]
    first, second = _of_member(company, 0), _of_member(company, 1)
    tolerance = {"float64": 1e-12, "float32": TOLERANCE["float32"]}[dtype]
    _assert_close(second, _of_member(_train(alone), 0), tolerance)
    assert any(not np.array_equal(first[key], second[key]) for key in first), "no effect"


def test_axes_multiply_and_the_seed_runs_fastest():
    spec = _variant("linear", steps=5)
    spec["ensemble"] = {"optimizer.lr": [0.05, 0.01], "seed": [0, 1]}
    company = _train(spec)
    spec["optimizer"] = spec["optimizer"] | {"lr": 0.01}
    alone = _train(spec | {"ensemble": {"seed": [1]}})
    _assert_close(_of_member(company, 3), _of_member(alone, 0), 1e-12)


def test_joined_axes_give_each_member_its_values_of_both():
    rates, weights = [0.05, 0.01, 0.02], [0.1, 0.3, 0.2]
    spec = _variant("linear", steps=20)
    pair = {"optimizer.lr": rates, "penalties.0.weight": weights}
    spec["ensemble"] = {"zip": [pair], "seed": [1]}
    company = _train(spec)
    for member, (rate, weight) in enumerate(zip(rates, weights, strict=True)):
        alone = copy.deepcopy(spec) | {"ensemble": {"seed": [1]}}
        alone["optimizer"]["lr"], alone["penalties"][0]["weight"] = rate, weight
        _assert_close(_of_member(company, member), _of_member(_train(alone), 0), 1e-12)
    assert len(set(company[0]["train_loss"][company[0]["step"] == 20])) == 3


PENALTIES = [
    (name, k) for name in registry.names("penalties") for k in EXAMPLES["penalties"].get(name, [])
]


@functools.cache
def _first_member(penalties: bool) -> dict[str, np.ndarray]:
    """The first member of 20 steps of the run ``mlp``, as it is or without penalties."""
    spec = _variant("mlp", steps=20)
    if not penalties:
        del spec["penalties"]
    return _of_member(_train(spec), 0)


@pytest.mark.parametrize(("name", "keywords"), every(2, PENALTIES))
def test_zero_weight_equals_absence(name, keywords):
    spec = _variant("mlp", steps=20) | {"penalties": [{"name": name} | keywords | {"weight": 0.0}]}
    _assert_close(_of_member(_train(spec), 0), _first_member(penalties=False), 1e-12)


NEUTRAL = [(block, *item) for block, of in FACTS["neutral"].items() for item in of.items()]


@pytest.mark.parametrize(("block", "name", "keywords"), NEUTRAL)
def test_factor_zero_equals_absence(block, name, keywords):
    spec = _variant("mlp", steps=20)
    entry = {"name": name} | EXAMPLES[block][name][0] | dict.fromkeys(keywords, 0.0)
    changed = _of_member(_train(spec | {block: [entry]}), 0)
    _assert_close(changed, _first_member(penalties=True), 1e-12)


@pytest.mark.parametrize("block", ["gradients", "inputs", "updates"])
def test_empty_chain_equals_none(block):
    spec = _variant("mlp", steps=20)
    (history, _), (chained, _) = _train(spec), _train(spec | {block: []})
    assert all(np.array_equal(history[key], chained[key]) for key in history)


@pytest.mark.parametrize("run", every(5, RUNS, first=2))
def test_no_component_beyond_the_spec_is_loaded(run, monkeypatch):
    spec = _variant(run, steps=1)
    loaded = set()
    real = registry.load
    monkeypatch.setattr(registry, "load", lambda b, n: loaded.add((b, n)) or real(b, n))
    data = dataset.make(members.tasks(spec))
    loaded.clear()
    training.train(spec, data, CPU)
    modules = {registry.module_name(block, name) for block, name in loaded}
    assert modules <= set(code_digest.code(code_digest.run_modules(spec)))
