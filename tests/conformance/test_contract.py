"""What every file of every component folder keeps to; components are discovered, not listed."""

import copy
import fnmatch
import inspect
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from examples import CASES, EXAMPLES, FACTS, names_of
from examples.optimizer import REFERENCES
from examples.penalties import GRADIENTS
from examples.runs import RUNS, data_of, run_with
from examples.use import ingredients, layer, mlp, model_of, use, view_of, with_noise

from grokatlas import registry
from grokatlas.declare import signatures, validation
from grokatlas.engine import dataset
from grokatlas.engine.ensemble import Mapped, stack
from grokatlas.engine.network import Network
from grokatlas.engine.network_loss import network_loss
from grokatlas.study import conformance
from tests.tiers import every

FOUND = [(block, name) for block in registry.FOLDERS for name in registry.names(block)]
every_component = pytest.mark.parametrize(("block", "name"), FOUND)
every_case = pytest.mark.parametrize(("block", "name", "keywords"), CASES)
# to use a dynamics is to train a run
DYNAMICS = every(3, [case for case in CASES if case.values[0] == "dynamics"])
FEWER = [case for case in CASES if case.values[0] != "dynamics"] + DYNAMICS
nearly_every_case = pytest.mark.parametrize(("block", "name", "keywords"), FEWER)


def cases_of(block: str) -> Any:
    chosen = [
        pytest.param(*case.values[1:], id=case.id) for case in CASES if case.values[0] == block
    ]
    return pytest.mark.parametrize(("name", "keywords"), chosen)


@every_component
def test_has_an_example(block, name):
    assert EXAMPLES[block].get(name), (
        f"add keywords of {registry.FOLDERS[block]}/{name}.py to {block} "
        "in tests/conformance/examples/keywords.yaml"
    )


def test_no_example_without_component():
    assert [(b, n) for b, names in EXAMPLES.items() for n in names if (b, n) not in FOUND] == []


@every_component
def test_is_used_by_a_run(block, name):
    if block == "measures":
        return
    assert any(name in names_of(run, block) for run in RUNS.values()), (
        f"no run of tests/conformance/examples/runs.yaml uses {block} {name}; "
        "member independence is tested on those runs"
    )


@every_component
def test_build_takes_typed_keywords_without_defaults(block, name):
    build = registry.load(block, name).build
    blocks = {"model", "loss", "optimizer", "penalties", "gradients", "inputs", "updates", "only"}
    for parameter in inspect.signature(build).parameters.values():
        assert parameter.default is parameter.empty, f"{parameter} has a default"
        assert parameter.annotation is not parameter.empty, f"{parameter} has no type"
        by_position = block == "dynamics" and parameter.name in blocks
        kind = parameter.POSITIONAL_OR_KEYWORD if by_position else parameter.KEYWORD_ONLY
        assert parameter.kind == kind, f"{parameter} must be {kind.description}"


@every_case
def test_the_plan_accepts_the_example(block, name, keywords):
    read = signatures.signature(block, name).keywords
    assert set(read) == set(keywords)
    engine = {"data", "generator"} if block == "model" else set()
    build = inspect.signature(registry.load(block, name).build)
    known = {p.name for p in build.parameters.values() if p.kind == p.KEYWORD_ONLY}
    assert known == set(read) | engine
    assert validation.check_keywords(block, name, keywords, set()) == keywords


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, dict):
        return list(first) == list(second) and all(_same(first[k], second[k]) for k in first)
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    if isinstance(first, torch.Tensor):
        return first.dtype == second.dtype and torch.equal(first, second)
    if isinstance(first, np.ndarray):
        return first.dtype == second.dtype and np.array_equal(first, second, equal_nan=True)
    if isinstance(first, pd.DataFrame):
        return first.equals(second)
    if isinstance(first, SimpleNamespace | dataset.Dataset):
        return _same(vars(first), vars(second))
    return bool(first == second)


def _global_state() -> list[Any]:
    return [
        torch.get_rng_state(),
        list(np.random.get_state())[1:],
        random.getstate(),
        str(torch.get_default_dtype()),
        torch.is_grad_enabled(),
        torch.are_deterministic_algorithms_enabled(),
    ]


@nearly_every_case
def test_is_pure(block, name, keywords):
    """Whatever the global generators hold, which stay as they are."""
    given, results = ingredients(block, name), []
    before, saved = copy.deepcopy((given, keywords)), np.random.get_state()
    with torch.random.fork_rng(devices=[]):
        for seed in (1, 2):
            torch.manual_seed(seed)
            np.random.seed(seed)
            state = _global_state()
            results.append(copy.deepcopy(use(block, name, keywords, given)))
            assert _same(state, _global_state()), "a global state was changed"
    np.random.set_state(saved)
    assert _same(*results), "the same inputs twice give different results"
    assert _same((given, keywords), before), "an input was changed in place"


# what trains is in test_members.py, in more runs and both precisions
TRAINED = {
    conformance.repeats_bit_for_bit,
    conformance.member_alone_as_in_company,
    conformance.columns_are_declared,
}
CHECKED = [
    pytest.param(check, *case.values, id=f"{check.__name__}-{case.id}")
    for case in CASES
    for check in conformance.checks(case.values[0])
    if check not in TRAINED
]


@pytest.mark.parametrize(("check", "block", "name", "keywords"), CHECKED)
def test_a_check_of_studies_holds(check, block, name, keywords):
    spec = run_with(block, name, keywords)
    assert check(spec, block, name) == ""


@cases_of("task")
def test_task_makes_a_data_set(name, keywords):
    """Its sizes and the range of its labels are in `conformance.data_are_sized`."""
    data = registry.load("task", name).build(**keywords)
    assert data.train_inputs.shape[1:] == data.test_inputs.shape[1:] == data.input_shape
    for targets in (data.train_targets, data.test_targets):
        jacobian = (data.outputs, 1 + int(np.prod(data.input_shape)))
        labels = np.issubdtype(targets.dtype, np.integer)
        shapes = ((),) if labels else ((data.outputs,), jacobian)
        assert len(targets) > 0
        assert targets.shape[1:] in shapes
    if data.vocabulary is not None:
        assert 0 <= data.train_inputs.min() <= data.train_inputs.max() < data.vocabulary
    assert not data.per_member
    said = signatures.fact("task", name, "size", **keywords)
    assert said.get("vocabulary") == data.vocabulary
    if "matrix" in said:
        assert said["matrix"] == data.extras["truth"].shape


@cases_of("model")
def test_model_is_drawn_in_float64_by_its_generator_alone(name, keywords):
    first, again, other = (model_of(name, keywords, seed).state_dict() for seed in (0, 0, 1))
    assert {str(value.dtype) for value in first.values()} == {"torch.float64"}
    assert _same(dict(first), dict(again))
    given = not isinstance(keywords.get("init", ""), str) or name == "matrix"
    assert _same(dict(first), dict(other)) == given


@pytest.mark.parametrize("name", ["conv_net", "transformer"])
def test_members_together_have_the_gradients_of_each_alone(name):
    """Of outputs and of the Jacobian, by PyTorch's own derivatives, without trace and map."""
    models = [model_of(name, EXAMPLES["model"][name][0], seed) for seed in range(3)]
    params = [{key: v.detach() for key, v in model.named_parameters()} for model in models]
    network, inputs = Network(models[0], {}), torch.from_numpy(data_of(name).train_inputs)
    keywords = {"weight": 1.0, "form": "half_square", "projections": None}
    penalty = registry.load("penalties", "jacobian").build(**keywords)

    def objective(params: dict[str, torch.Tensor]) -> torch.Tensor:
        return network(params, inputs).sin().sum() + penalty(params, network, inputs)

    together = Mapped(torch.func.grad(objective), (0,))(stack(params))
    for member, each in enumerate(params):
        leaves = {key: value.clone().requires_grad_() for key, value in each.items()}
        alone = torch.autograd.grad(objective(leaves), list(leaves.values()))
        for key, value in zip(leaves, alone, strict=True):
            torch.testing.assert_close(together[key][member], value, rtol=1e-9, atol=1e-11)


@cases_of("model")
def test_model_of_tokens_takes_them_embedded_and_no_other_inputs(name, keywords):
    model = model_of(name, keywords)
    if not hasattr(model, "embed"):
        return
    inputs = np.zeros((4, 3))
    data = dataset.Dataset(inputs, inputs, inputs, inputs, 3)
    with pytest.raises(ValueError, match="tokens"):
        registry.load("model", name).build(data=data, generator=torch.Generator(), **keywords)
    tokens = torch.from_numpy(data_of(name).test_inputs)
    features = model.embed(tokens)
    assert features.shape[:2] == tokens.shape
    assert torch.equal(model(features), model(tokens))


@cases_of("penalties")
def test_penalty_has_the_gradient_of_its_closed_form(name, keywords):
    assert name in GRADIENTS, f"add {name} to GRADIENTS in tests/conformance/examples/penalties.py"
    given = ingredients("penalties")
    inputs, network = given["inputs"], mlp()
    built = registry.load("penalties", name).build(**keywords)
    penalty = with_noise(built, inputs, 5)
    gradients = torch.func.grad(penalty)(given["params"], network, inputs)
    expected = GRADIENTS[name](built, given["params"], network, inputs, **keywords)
    for key, value in gradients.items():
        torch.testing.assert_close(value, expected[key], rtol=1e-9, atol=1e-11)


@cases_of("loss")
def test_loss_in_float64_of_a_network_in_float32(name, keywords):
    given = ingredients("loss", name)
    outputs, real = given["outputs"].float(), given["targets"].is_floating_point()
    targets = given["targets"].float() if real else given["targets"]
    slopes = torch.linspace(-1, 1, 4 * outputs.shape[1], dtype=torch.float32).view(-1, 4)
    params = {"outputs": outputs, "slopes": slopes}
    seen = []

    def model(params: dict[str, torch.Tensor], inputs: torch.Tensor) -> torch.Tensor:
        seen.append(inputs.dtype)
        return params["outputs"] + inputs @ params["slopes"].T

    def found(double: bool, **train: str) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        spec = {"loss": {"name": name}, "train": train}
        loss = network_loss(registry.load("loss", name).build(**keywords), spec)
        own = {key: value.double() if double else value for key, value in params.items()}
        inputs = torch.zeros(len(outputs), 4, dtype=outputs.dtype)
        inputs, known = (
            v.double() if double and v.is_floating_point() else v for v in (inputs, targets)
        )
        return torch.func.grad_and_value(loss)(own, model, inputs, known)

    gradients, value = found(False, loss_dtype="float64")
    assert {*seen} == {torch.float32}
    exact, expected = found(True)
    assert value.dtype == torch.float64
    torch.testing.assert_close(value, expected, rtol=1e-14, atol=0)
    for key, gradient in gradients.items():
        torch.testing.assert_close(gradient, exact[key].float(), rtol=1e-6, atol=1e-9)


@cases_of("optimizer")
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
def test_optimizer_equals_torch_step_by_step(name, keywords, dtype):
    assert name in REFERENCES, f"add {name} to REFERENCES in examples/optimizer.py"
    tolerance = {torch.float64: 1e-12, torch.float32: 1e-6}[dtype]
    params = {key: value.to(dtype) for key, value in layer().items()}
    ours = registry.load("optimizer", name).build(**keywords)
    theirs = {key: torch.nn.Parameter(value.clone()) for key, value in params.items()}
    reference = REFERENCES[name](list(theirs.values()), **keywords)
    state = ours.init(params)
    for _ in range(20):
        params, state = ours.update(params, {k: torch.sin(5 * v) for k, v in params.items()}, state)
        for value in theirs.values():
            value.grad = torch.sin(5 * value.detach())
        reference.step()
        for key, value in params.items():
            torch.testing.assert_close(value, theirs[key].detach(), rtol=tolerance, atol=tolerance)


def test_observables_fill_columns_of_their_own():
    columns = ["member", "step"]
    for name in registry.names("observables"):
        view = view_of(ingredients("observables", name))
        for keywords in EXAMPLES["observables"].get(name, [])[:1]:
            seen = registry.load("observables", name).build(**keywords)(view)
            assert all(torch.isfinite(value).all() for value in seen.values())
            assert all(value.dtype == torch.float64 for value in seen.values())
            columns += seen
    assert len(columns) == len(set(columns))


@pytest.mark.parametrize("name", registry.names("measures"))
def test_a_light_measure_has_no_gpu(name):
    """Its table is made where Snakemake runs."""
    assert not all(signatures.defines("measures", name, what) for what in ("LIGHT", "GPU"))


@cases_of("measures")
def test_measure_gives_rows_for_every_member(name, keywords):
    frame = registry.load("measures", name).build(**keywords)(ingredients("measures", name)["run"])
    assert sorted(frame["member"].unique()) == [0, 1]
    assert not {"seed", "case", "run", "record"} & set(frame.columns)


@cases_of("measures")
def test_measure_leaves_others_alone_where_a_member_diverged(name, keywords):
    measure = registry.load("measures", name).build(**keywords)
    run = ingredients("measures", name)["run"]
    sound = measure(run)
    spoil_first_member(run)
    spoiled = measure(run)
    if "snapshots" in signatures.needs(name):
        assert not spoiled.equals(sound)
    first, second = (
        frame[frame["member"] == 1].reset_index(drop=True) for frame in (sound, spoiled)
    )
    pd.testing.assert_frame_equal(first, second[first.columns])


@cases_of("measures")
def test_measure_gives_no_number_of_a_member_that_diverged(name, keywords):
    run = ingredients("measures", name)["run"]
    spoil_first_member(run)
    frame = registry.load("measures", name).build(**keywords)(run)
    spoilt = frame[frame["member"] == 0].drop(columns=["member", "step"], errors="ignore")
    spoilt = spoilt.drop(
        columns=[column for column in spoilt if is_given("measures", name, column)]
    )
    for column, values in spoilt.items():
        texts = [str(value) for value in values if value is not None]
        entries = [entry for text in texts for entry in text.strip("[]").split(",")]
        assert {float(entry) for entry in entries if entry != "nan"} == set(), column


@cases_of("observables")
def test_observable_gives_no_number_of_a_member_that_diverged(name, keywords):
    given = ingredients("observables", name)
    given["params"] = {key: torch.full_like(v, np.nan) for key, v in given["params"].items()}
    seen = registry.load("observables", name).build(**keywords)(view_of(given))
    for column, value in seen.items():
        assert is_given("observables", name, column) or value.isnan().all(), column


def is_given(block: str, name: str, column: str) -> bool:
    """Tell if a column is not of what was trained."""
    patterns = FACTS["given"][block].get(name, ())
    return any(fnmatch.fnmatchcase(column, pattern) for pattern in patterns)


def spoil_first_member(run: SimpleNamespace) -> None:
    """What a run logged and kept of its first member is not a number."""
    for arrays in getattr(run, "snapshots", {}).values():
        for values in arrays.values():
            values[0] = np.nan
    logged = [column for column in run.history if column not in ("member", "step")]
    run.history.loc[run.history["member"] == 0, logged] = np.nan
