"""Conformance checks of a component in a run that uses it; each returns a problem, or nothing.

These are the checks of ``tests/conformance`` that need no more than the run: a closed form, or a
reference in another library, is for a test of the study.
"""

import contextlib
import copy
import fnmatch
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from grokatlas import registry
from grokatlas.declare import signatures
from grokatlas.engine import dataset, members, model_trial, training
from grokatlas.engine.contracts import Tree
from grokatlas.engine.ensemble import generators
from grokatlas.engine.network import Network, member_model
from grokatlas.engine.run import Run
from grokatlas.plan import resources
from grokatlas.rules.jobs import component_contracts

Spec = dict[str, Any]
Check = Callable[[Spec, str, str], str]
STEPS = 20  # of a training
TOLERANCE = 1e-10  # of a member alone against the same in company, in float64
SLOPES = 1e-6  # of a gradient against central differences, relative to its length
LENGTH = 1e-6  # of the step of a difference
WITH_STATE = ("dynamics", "gradients", "inputs", "optimizer", "updates")  # blocks


def checks(block: str) -> list[Check]:
    """The checks of a component of this block: of its own, then of the runs that use it."""
    own: dict[str, list[Check]] = {
        "penalties": [gradient_against_differences, gradient_at_zero_is_finite],
        "loss": [gradient_against_differences],
        "model": [sample_alone_as_in_a_batch, parameters_are_counted],
        "task": [data_are_sized],
        "observables": [columns_are_declared],
        **{key: [state_keeps_its_order] for key in WITH_STATE},
    }
    return [*own.get(block, []), repeats_bit_for_bit, member_alone_as_in_company]


def repeats_bit_for_bit(spec: Spec, block: str, name: str) -> str:
    """Two trainings are equal, whatever the global generators hold, and leave these alone."""
    del block, name
    trainings = []
    for seed in (1, 2):
        with _global_seed(seed):
            before = torch.get_rng_state(), _numpy_state()
            trainings.append(_trained(spec))
            after = torch.get_rng_state(), _numpy_state()
        if not all(np.array_equal(a, b) for a, b in zip(before, after, strict=True)):
            return "it draws from a global generator; draw from the one that it is given"
    for key, values in trainings[0].items():
        if not np.array_equal(values, trainings[1][key], equal_nan=values.dtype.kind == "f"):
            return f"{key} differs between two trainings; draw from the generator that it is given"
    return ""


def _numpy_state() -> Any:
    """The state of NumPy's global generator, as an array."""
    state: Any = np.random.get_state()
    return state[1]


def member_alone_as_in_company(spec: Spec, block: str, name: str) -> str:
    """The first and the last member by themselves give what they give beside others."""
    del block, name
    company, every = _trained(spec), members.of(spec)
    for index in sorted({0, len(every) - 1}):
        axes = {axis: [value] for axis, value in every[index].items()}
        alone = _trained(spec | {"ensemble": axes})
        for key, values in _of_member(company, index).items():
            other = _of_member(alone, 0)[key]
            if not np.allclose(values, other, TOLERANCE, TOLERANCE, equal_nan=True):
                return f"{key} of member {index} differs when it trains alone; write it for one"
    return ""


def columns_are_declared(spec: Spec, block: str, name: str) -> str:
    """An observable logs the columns that its ``COLUMNS`` names, as finite numbers in float64."""
    alone = {**spec, block: [each for each in spec[block] if each["name"] == name]}
    declared, whole = signatures.logged(alone[block])
    if not whole:
        return "it has no COLUMNS; name what it logs (docs/extending.md)"
    history = _train(alone).history
    logged = [column for column in history if column not in ("member", "step")]
    unknown = [c for c in logged if not any(fnmatch.fnmatchcase(c, each) for each in declared)]
    if unknown:
        return f"it logs {unknown[0]}, which is not in COLUMNS; add it there"
    odd = [column for column in logged if history[column].dtype != np.float64]
    return f"{odd[0]} is of type {history[odd[0]].dtype}, not float64" if odd else ""


def gradient_against_differences(spec: Spec, block: str, name: str) -> str:
    """The gradient of a penalty or loss is that of its value, which is one number."""
    function, at = _function(spec, block, name)
    value = function(at)
    if value.shape != ():
        return f"its value has the shape {tuple(value.shape)}; return one number"
    gradient = _flat(torch.func.grad(function)(at))
    scale = max(float(torch.linalg.vector_norm(gradient)), 1.0)
    for seed in range(3):
        direction = {key: _normal(each.shape, seed) for key, each in at.items()}
        ahead, behind = (
            function({key: at[key] + sign * LENGTH * direction[key] for key in at})
            for sign in (1, -1)
        )
        slope = float(ahead - behind) / (2 * LENGTH)
        along = float(gradient @ _flat(direction))
        if not math.isclose(slope, along, rel_tol=1e-5, abs_tol=SLOPES * scale * 10):
            return f"its gradient is {along:g} where central differences are {slope:g}"
    return ""


def gradient_at_zero_is_finite(spec: Spec, block: str, name: str) -> str:
    """A penalty has a gradient where all parameters are 0."""
    function, at = _function(spec, block, name)
    zero = {key: torch.zeros_like(value) for key, value in at.items()}
    finite = bool(torch.isfinite(_flat(torch.func.grad(function)(zero))).all())
    return "" if finite else "its gradient is not finite where all parameters are 0"


def sample_alone_as_in_a_batch(spec: Spec, block: str, name: str) -> str:
    """A model of float64 parameters maps each sample by itself."""
    del block, name
    model, data, _ = _model(spec)
    if {value.dtype for value in model.parameters()} != {torch.float64}:
        return "its parameters are not drawn in float64"
    inputs = torch.from_numpy(data["train_inputs"][:5])
    try:
        model_trial.check(spec["model"]["name"], model, inputs, data["outputs"])
    except ValueError as error:
        return str(error)
    outputs = model(inputs)
    alone = torch.cat([model(inputs[k : k + 1]) for k in range(len(inputs))])
    return "" if torch.allclose(outputs, alone, 1e-10, 1e-10) else "samples of a batch mix"


def parameters_are_counted(spec: Spec, block: str, name: str) -> str:
    """`parameters` of a model tells how many it has."""
    del block, name
    model, _, _ = _model(spec)
    counted = sum(value.numel() for value in model.parameters())
    fixed = sum(value.numel() for value in model.buffers())
    said = resources.size(spec).parameters
    right = counted <= said <= counted + fixed
    return "" if right else f"`parameters` says {said}, and the model has {counted}"


def data_are_sized(spec: Spec, block: str, name: str) -> str:
    """`size` of a task tells the shapes of its data, which are such as a run takes."""
    task = members.tasks(spec)[0]
    data = component_contracts.data([task])
    said = signatures.fact(block, name, "size", **registry.keywords(task))
    sizes = {"samples": len(data.train_inputs), "shape": data.input_shape, "outputs": data.outputs}
    for key, value in sizes.items():
        if said[key] != value:
            return f"`size` says {key} {said[key]}, and the data have {value}"
    return ""


def state_keeps_its_order(spec: Spec, block: str, name: str) -> str:
    """A step returns the tensors of its state in the order in which it gets them."""
    del block, name
    short = _short(spec)
    run = Run(short, dataset.make(members.tasks(short)), torch.device("cpu"))
    before = list(_names(run.groups[0].state))
    run.move(1)
    after = _names(run.groups[0].state)
    for first, later in itertools.zip_longest(before, after, fillvalue="nothing"):
        if first != later:
            problem = f"a step returns {later} in the place of {first}"
            return f"{problem}; return the state's tensors in the order of `init`"
    return ""


def _names(tree: Tree, above: str = "") -> Iterator[str]:
    """The dotted names of all tensors of a tree, in its order."""
    for name, part in tree.items():
        yield from [above + name] if isinstance(part, Tensor) else _names(part, f"{above}{name}.")


@contextlib.contextmanager
def _global_seed(seed: int) -> Iterator[None]:
    """The global generators with a seed; afterwards they are as they were."""
    state = np.random.get_state()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        np.random.seed(seed)
        try:
            yield
        finally:
            np.random.set_state(state)


def _short(spec: Spec) -> Spec:
    """A few steps in float64, all of them logged, from an initialisation."""
    changed = {key: copy.deepcopy(value) for key, value in spec.items() if key != "start"}
    steps = min(STEPS, spec["train"]["steps"])
    train = {key: v for key, v in changed["train"].items() if key not in ("stop", "loss_dtype")}
    log = {"every": 1, "first": 0}
    changed["train"] = train | {"steps": steps, "dtype": "float64", "log": log}
    changed["train"]["snapshots"] = [0, steps]
    return changed


def _train(spec: Spec) -> Any:
    short = _short(spec)
    return training.train(short, dataset.make(members.tasks(short)), torch.device("cpu"))


def _trained(spec: Spec) -> dict[str, np.ndarray]:
    """History and snapshots of a short training, by name."""
    record = _train(spec)
    return {**record.history, **{f"snapshot {k}": v for k, v in record.snapshots.items()}}


def _of_member(trained: dict[str, np.ndarray], member: int) -> dict[str, np.ndarray]:
    rows = trained["member"] == member
    return {
        key: values[member] if key.startswith("snapshot ") else values[rows]
        for key, values in trained.items()
        if key != "member"
    }


def _model(spec: Spec) -> tuple[torch.nn.Module, dict[str, Any], dict[str, Any]]:
    """The model of the first member in float64, its data, and its value of every axis."""
    short, member = _short(spec), members.of(spec)[0]
    data = dataset.make(members.tasks(short)[:1])
    (generator,) = generators([member["seed"]])
    parts = {key: getattr(data, key) for key in ("train_inputs", "train_targets")}
    real = {k: v.astype(np.float64) if v.dtype.kind == "f" else v for k, v in parts.items()}
    return member_model(short, data, member, generator), real | {"outputs": data.outputs}, member


def _function(spec: Spec, block: str, name: str) -> tuple[Callable[..., Tensor], dict[str, Tensor]]:
    """A penalty of parameters, or a loss of outputs, and a point off all kinks."""
    model, data, member = _model(spec)
    terms = component_contracts.terms(spec, member)
    built = next(built for kind, entry, built in terms if (kind, entry["name"]) == (block, name))
    targets = torch.from_numpy(data["train_targets"])
    if block == "loss":
        outputs = _normal((len(targets), data["outputs"]), 7)
        return lambda at: built(at["outputs"], targets), {"outputs": outputs}
    inputs = torch.from_numpy(data["train_inputs"])
    network = Network(model, dict(model.named_buffers()))
    at = {key: v.detach() + 0.1 * _normal(v.shape, 7) for key, v in model.named_parameters()}
    if hasattr(built, "noise_shape"):
        shape = built.noise_shape(tuple(inputs.shape), (len(inputs), data["outputs"]))
        built = built.given(_normal(shape, 8))
    return lambda params: built(params, network, inputs), at


def _normal(shape: Any, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(tuple(shape), generator=generator, dtype=torch.float64)


def _flat(tree: dict[str, Tensor]) -> Tensor:
    return torch.cat([value.reshape(-1) for value in tree.values()])
