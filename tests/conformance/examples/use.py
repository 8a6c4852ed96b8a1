"""What a component of each kind works on, and one use of it."""

import copy
import functools
from types import SimpleNamespace
from typing import Any

import torch

from examples import EXAMPLES, FACTS, entry
from examples.loss import GIVEN
from examples.penalties import DEEP_MLP
from examples.runs import RUNS, data_of
from grokatlas import registry
from grokatlas.declare import signatures
from grokatlas.engine import dataset
from grokatlas.engine.network import Network
from grokatlas.engine.observed import Observed
from tests.runs import finished, trained


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    """Standard normal numbers in float64, the same at every call."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def layer() -> dict[str, torch.Tensor]:
    """Parameters of a linear layer."""
    return {"layers.0.weight": randn(5, 4, seed=1), "layers.0.bias": randn(5, seed=2)}


def model_of(name: str, keywords: dict, seed: int = 0) -> torch.nn.Module:
    """A model on the data of its example."""
    generator = torch.Generator().manual_seed(seed)
    return registry.load("model", name).build(data=data_of(name), generator=generator, **keywords)


def mlp() -> Network:
    """An MLP for `ONE_HOT`: outputs ``[N, 5]`` of inputs ``[N, 2, 5]``."""
    return Network(model_of("mlp", DEEP_MLP), {})


def with_noise(part: Any, inputs: torch.Tensor, outputs: int) -> Any:
    """A part with the noise it asks for."""
    if not hasattr(part, "noise_shape"):
        return part
    return part.given(randn(*part.noise_shape(tuple(inputs.shape), (len(inputs), outputs))))


def _observed(task: dict[str, Any], bias: bool) -> torch.nn.Module:
    """An MLP for a task, with biases or without."""
    build = registry.load("model", "mlp").build
    generator = torch.Generator().manual_seed(0)
    return build(data=dataset.make([task]), generator=generator, **DEEP_MLP | {"bias": bias})


def view_of(given: dict[str, Any]) -> Observed:
    """A model with its data, as an observable sees one member."""
    if given["data"]["train_targets"].is_floating_point():
        loss = registry.load("loss", "mse").build(**EXAMPLES["loss"]["mse"][0])
    else:
        loss = registry.load("loss", "cross_entropy").build()

    def on_batch(params: dict, model: Any, inputs: Any, targets: Any) -> torch.Tensor:
        return loss(model(params, inputs), targets)

    penalty = registry.load("penalties", "l2").build(weight=0.01, squared=True)
    network = Network(_observed(given["task"], given["bias"]), {})
    adam = registry.load("optimizer", "adam").build(lr=0.1, beta1=0.9, beta2=0.99, eps=1e-8)
    dynamics = SimpleNamespace(rate=0.1, l2=0.01, optimizer=adam)
    step = torch.tensor(7.0, dtype=torch.float64)
    _, moments = adam.update(given["params"], given["params"], adam.init(given["params"]))
    state = {"optimizer": moments}
    return Observed(
        given["params"], network, on_batch, [penalty], given["data"], {}, dynamics, step, state
    )


@functools.cache
def _record(run: str) -> SimpleNamespace:
    """A finished run of two members as a measure sees it."""
    spec = copy.deepcopy(RUNS[run])
    spec["ensemble"] = {"seed": [0, 1]}
    spec["train"] |= {"steps": 3, "log": {"every": 1, "first": 0}, "snapshots": [0, 3]}
    return finished(spec)


def ingredients(block: str, name: str = "") -> dict[str, Any]:
    """What a component of this block, or this one, works on."""
    if block == "loss" and name in GIVEN:
        return copy.deepcopy(GIVEN[name])
    if block == "loss":
        return {"outputs": randn(6, 3), "targets": torch.tensor([0, 2, 1, 1, 0, 2])}
    if block == "penalties":
        named = model_of("mlp", DEEP_MLP).named_parameters()
        params = {key: value.detach() for key, value in named}
        return {"params": params, "inputs": randn(6, 2, 5)}
    if block in ("optimizer", "gradients", "updates"):
        grads = {key: torch.cos(3 * value) for key, value in layer().items()}
        return {"params": layer(), "grads": grads}
    if block == "inputs":
        return {"inputs": randn(6, 4)}
    if block == "observables":
        task = entry("task", FACTS["observable_tasks"].get(name, "modular_addition/one_hot"))
        data = dataset.make([task])
        arrays = {part: torch.from_numpy(getattr(data, part)) for part in dataset.PARTS}
        bias = name not in FACTS["without_biases"]
        named = _observed(task, bias).named_parameters()
        params = {key: value.detach() for key, value in named}
        return {"params": params, "task": task, "data": arrays, "bias": bias}
    if block == "measures":
        run = copy.deepcopy(_record(FACTS["measured"].get(name, "isolated")))
        if "snapshots" not in signatures.needs(name):
            del run.snapshots
        if signatures.defines("measures", name, "LIGHT"):
            del run.data
        return {"run": run}
    return {}


def use(block: str, name: str, keywords: dict, given: dict[str, Any]) -> Any:
    """Build a component and use it once on what is given."""
    if block == "model":
        model = model_of(name, keywords)
        inputs = torch.from_numpy(data_of(name).train_inputs)
        return {"outputs": model(inputs).detach(), **model.state_dict()}
    if block == "dynamics":
        spec = next(run for run in RUNS.values() if run["dynamics"]["name"] == name)
        train = spec["train"] | {"steps": 2, "log": {"every": 1, "first": 0}, "snapshots": [2]}
        spec = spec | {"dynamics": {"name": name} | keywords, "train": train}
        result = trained(spec)
        return result.history | result.snapshots
    built = registry.load(block, name).build(**keywords)
    if block == "task":
        return built.arrays()
    if block == "loss":
        return built(given["outputs"], given["targets"])
    if block == "penalties":
        built = with_noise(built, given["inputs"], 5)
        return built(given["params"], mlp(), given["inputs"])
    if block in ("optimizer", "gradients", "updates"):
        state = built.init(given["params"])
        changed = given["grads"]
        if block == "updates":
            changed = {key: 0.9 * value - given["grads"][key] for key, value in layer().items()}
        for _ in range(3):
            moved, state = built.update(given["params"], changed, state)
        return {"moved": moved, "state": state}
    if block == "inputs":
        state = built.init(layer())
        return with_noise(built, given["inputs"], 5)(given["inputs"], state)
    return built(view_of(given) if block == "observables" else given["run"])
