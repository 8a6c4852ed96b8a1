"""What every component's `build` returns is what `engine.contracts` says of its block.

mypy checks types where the sources say them (`make lint`); here the things themselves are looked
at: that each method is there and can be called with as many arguments as the engine gives.
"""

import inspect
from typing import Any

import pytest
import torch
from examples import CASES, EXAMPLES
from examples.use import ingredients, layer, mlp, model_of, view_of

from grokatlas import registry
from grokatlas.engine import contracts, noise_contracts, record
from grokatlas.engine.update_link import UpdateLink
from grokatlas.rules.finished_run import FinishedRun
from grokatlas.rules.jobs.savepoint import Savepoint

CONTRACTS = {
    "task": contracts.TaskData,
    "loss": contracts.Loss,
    "penalties": contracts.Penalty,
    "gradients": contracts.GradientLink,
    "updates": UpdateLink,
    "optimizer": contracts.Optimizer,
    "inputs": contracts.InputChange,
    "dynamics": contracts.Dynamics,
    "observables": contracts.Observable,
    "measures": contracts.Measure,
}
# a method that some components of a block have -> what they then are
SOME = {
    ("loss", "on_network"): contracts.LossOnNetwork,
    ("penalties", "noise_shape"): noise_contracts.NoisyPenalty,
    ("penalties", "given"): noise_contracts.NoisyPenalty,
    ("inputs", "noise_shape"): noise_contracts.NoisyInputChange,
    ("inputs", "given"): noise_contracts.NoisyInputChange,
    ("gradients", "noise_shape"): noise_contracts.NoisyGradientLink,
    ("gradients", "given"): noise_contracts.NoisyGradientLink,
    ("updates", "noise_shape"): noise_contracts.NoisyUpdateLink,
    ("updates", "given"): noise_contracts.NoisyUpdateLink,
    ("optimizer", "noise_shape"): noise_contracts.NoisyOptimizer,
    ("optimizer", "given"): noise_contracts.NoisyOptimizer,
    ("dynamics", "begin_epoch"): contracts.EpochDynamics,
    ("dynamics", "penalty"): contracts.PenalisedDynamics,
}
# blocks that may take noise by `given`
NOISY = ("penalties", "inputs", "optimizer", "gradients", "updates")


def members(protocol: type) -> dict[str, Any]:
    """What a protocol asks for, by name: functions, properties and names of attributes."""
    found: dict[str, Any] = {}
    for parent in reversed(protocol.__mro__):
        if not parent.__module__.startswith("grokatlas."):
            continue
        found |= dict.fromkeys(vars(parent).get("__annotations__", {}))
        found |= {
            name: value
            for name, value in vars(parent).items()
            if isinstance(value, property)
            or (inspect.isfunction(value) and value.__module__ == parent.__module__)
        }
    return found


def lacking(thing: Any, protocol: type) -> list[str]:
    """What of a protocol an object, or a class as far as it has it, does not offer."""
    problems = []
    for name, wanted in members(protocol).items():
        if not hasattr(thing, name):
            problems.append(f"no {name}")
        elif inspect.isfunction(wanted):
            offered = thing if name == "__call__" else getattr(thing, name)
            given = [
                parameter
                for parameter in inspect.signature(wanted).parameters.values()
                if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
            ]
            first = 0 if inspect.isclass(thing) else 1  # self
            try:
                inspect.signature(offered).bind(*given[first:])
            except TypeError as error:
                problems.append(f"{name}: {error}")
    return problems


def built(block: str, name: str, keywords: dict[str, Any]) -> Any:
    """What `build` returns; a dynamics is given a stand-in for every block that it names."""
    build = registry.load(block, name).build
    blocks = [
        parameter
        for parameter in inspect.signature(build).parameters.values()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    return build(*([] for _ in blocks), **keywords)


def test_every_block_has_a_contract():
    assert {*CONTRACTS, "model"} == set(registry.FOLDERS)


@pytest.mark.parametrize(("block", "name", "keywords"), CASES)
def test_a_component_is_what_its_block_asks_for(block, name, keywords):
    if block == "model":
        model = model_of(name, keywords)
        assert isinstance(model, torch.nn.Module)
        inspect.signature(model.forward).bind("inputs")
        if hasattr(model, "embed"):
            assert lacking(model, contracts.TokenModel) == []
        if hasattr(model, "noise_shape"):
            assert lacking(model, noise_contracts.NoisyModel) == []
        return
    component = built(block, name, keywords)
    assert lacking(component, CONTRACTS[block]) == []
    for (some, method), protocol in SOME.items():
        if some == block and hasattr(component, method):
            assert lacking(component, protocol) == []


@pytest.mark.parametrize(
    ("block", "name", "keywords"), [case for case in CASES if case.values[0] in NOISY]
)
def test_a_component_with_noise_is_what_its_block_asks_for(block, name, keywords):
    component = built(block, name, keywords)
    if hasattr(component, "noise_shape"):
        by_parameters = block in ("optimizer", "gradients", "updates")
        shape = component.noise_shape(*([layer()] if by_parameters else [(6, 4), (6, 5)]))
        assert all(type(size) is int for size in shape)
        assert lacking(component.given(torch.zeros(shape)), CONTRACTS[block]) == []


@pytest.mark.parametrize("name", registry.names("dynamics"))
def test_a_dynamics_that_advances_takes_its_own_keywords(name):
    module = registry.load("dynamics", name)
    if not hasattr(module, "advance"):
        return
    parameters = inspect.signature(module.advance).parameters.values()
    by_position = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    keywords = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
    build = inspect.signature(module.build).parameters.values()
    assert len(by_position) == 3  # state, training set, steps
    assert keywords == {p.name for p in build if p.kind is p.KEYWORD_ONLY}


@pytest.mark.parametrize("name", registry.names("dynamics"))
def test_a_dynamics_that_takes_changes_of_inputs_begins_epochs(name):
    build = registry.load("dynamics", name).build
    if "inputs" in inspect.signature(build).parameters:
        (keywords, *_) = EXAMPLES["dynamics"][name]
        assert lacking(built("dynamics", name, keywords), contracts.EpochDynamics) == []


def test_what_the_engine_gives_is_what_it_promises():
    assert lacking(mlp(), contracts.Model) == []
    view = view_of(ingredients("observables", "losses"))
    assert lacking(view.loss, contracts.NetworkLoss) == []
    assert [lacking(penalty, contracts.Penalty) for penalty in view.penalties] == [[]]
    assert lacking(record.Record(), record.RunRecord) == []


def test_what_rules_give_is_what_the_engine_asks_for(tmp_path):
    savepoint = Savepoint(tmp_path, "key", 1.0, {})
    assert lacking(savepoint, record.RunRecord) == []
    assert lacking(FinishedRun, contracts.FinishedRun) == []


def test_a_model_without_embedding_says_so_of_integers():
    with pytest.raises(ValueError, match="no method `embed`"):
        mlp().features({}, torch.zeros((2, 3), dtype=torch.int64))
