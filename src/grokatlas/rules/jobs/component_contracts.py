"""Checks of what components return: of a task before a run, of the others after it failed."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from grokatlas import registry
from grokatlas.engine import dataset, members, moving
from grokatlas.engine.unmapped import place
from grokatlas.errors import UserError

MOVING = ("optimizer", "updates")  # blocks that make new parameters of old ones
SAMPLES = 5  # that a model is tried with


def data(tasks: list[dict[str, Any]]) -> dataset.Dataset:
    """The data that tasks make (`engine.dataset.make`)."""
    try:
        made = dataset.make(tasks)
    except (AttributeError, TypeError, IndexError):
        task = tasks[0]
        made = registry.load("task", task["name"]).build(**registry.keywords(task))
        _refuse(task, made)
        raise
    _refuse(tasks[0], made)
    return made


def _refuse(task: dict[str, Any], made: Any) -> None:
    if problem := next(_wrong(made), None):
        raise UserError(registry.shown_component("task", task["name"]), problem)


def _wrong(made: Any) -> Iterator[str]:
    """The mistakes in what a task makes."""
    if not isinstance(made, dataset.Dataset):
        yield f"`build` returns {_type(made)}; return a Dataset (grokatlas.engine.dataset)"
        return
    for part in dataset.PARTS:
        array = getattr(made, part)
        if not hasattr(array, "shape") or np.asarray(array).dtype.kind not in "biuf":
            kind = f"of type {array.dtype}" if hasattr(array, "dtype") else _kind(array)
            yield f"{part} is {kind}; make it a NumPy array of numbers"
            return
        if not np.isfinite(array).all():
            yield f"{part} has a number that is not finite; leave its sample out, or fill it in"
    axis = int(made.per_member)
    for part in ("train", "test"):
        both = (getattr(made, f"{part}_{each}") for each in ("inputs", "targets"))
        inputs, targets = map(np.asarray, both)
        shape, labels = targets.shape[axis:], targets.dtype.kind != "f"
        if len(shape) not in ((1,) if labels else (2, 3)):
            wanted = (
                "labels are [N]" if labels else "real targets are [N, C] (whole numbers: labels)"
            )
            yield f"{part}_targets have the shape {_shape(shape)}, and {wanted}"
        elif inputs.shape[axis : axis + 1] != shape[:1]:
            yield f"{part}_inputs have the shape {_shape(inputs.shape[axis:])}, and \
{part}_targets {_shape(shape)}; give each input its target"
        elif labels and not 0 <= targets.min() <= targets.max() < made.outputs:
            span = f"{targets.min()} to {targets.max()}"
            yield f"{part}_targets are {span}, and labels of {made.outputs} outputs are 0 to \
{made.outputs - 1}"


def broken(spec: dict[str, Any]) -> Iterator[str]:
    """The components of a run that return what they must not, with their files."""
    import torch

    from grokatlas.engine.ensemble import generators
    from grokatlas.engine.network import Network, member_model

    made, member = data(members.tasks(spec)[:1]), members.of(spec)[0]
    real = getattr(torch, spec["train"]["dtype"])
    arrays = [torch.as_tensor(part[:SAMPLES]) for part in (made.train_inputs, made.train_targets)]
    inputs, targets = (each.to(real) if each.is_floating_point() else each for each in arrays)
    (generator,) = generators([member["seed"]])
    model = member_model(spec, made, member, generator)
    outputs = model(inputs)
    values = dict(model.named_parameters())
    network = Network(model, dict(model.named_buffers()))
    for block, entry, function in terms(spec, member):
        where = registry.shown_component(block, entry["name"])
        if not callable(function):
            yield f"{where}: `build` returns {_type(function)}; return the function"
        elif not hasattr(function, "on_network") and not hasattr(function, "noise_shape"):
            is_loss = block == "loss"
            value = function(outputs, targets) if is_loss else function(values, network, inputs)
            if getattr(value, "shape", None) != ():
                yield f"{where}: its value is {_kind(value)}; return one number, of the shape []"


def check_parameters(spec: dict[str, Any], made: dataset.Dataset) -> None:
    """Refuse a model without parameters, and an optimizer or a link of updates that leaves one out.

    The run would go on, and a parameter that is left out would stay as it is. Only the components
    of a study are tried; those of the package have tests. What fails here for another reason fails
    in the run, with its own words.

    Raises:
        ValueError: with the component's file, and what is wanted.
    """
    import torch

    tried = registry.entries(spec, ("model", *MOVING))
    if not any(_own(block, entry) for _, block, entry in tried):
        return
    member = members.of(spec)[0]
    model = _model(spec, made, member)
    if model is None:
        return
    try:
        params = {key: value.detach() for key, value in model.named_parameters()}
        if "only" in spec["train"]:
            params = {k: params[k] for k in moving.names(spec["train"]["only"], [*params], "only")}
        zeros = {key: torch.zeros_like(value) for key, value in params.items()}
        moved = []
        for block, entry, part in terms(spec, member, MOVING):
            if hasattr(part, "noise_shape"):
                part = part.given(next(iter(params.values())).new_zeros(part.noise_shape(params)))
            second = zeros if block == "optimizer" else dict(params)
            after, _ = part.update(dict(params), second, part.init(dict(params)))
            moved.append((block, entry, after))
    except Exception:  # of the component
        return
    for block, entry, after in moved:
        where = registry.shown_component(block, entry["name"])
        if not isinstance(after, dict):
            problem = f"`update` returns {_type(after)} in place of the parameters"
            raise ValueError(f"{where}: {problem}; return a dictionary of them, and the state")
        if [*after] != [*params]:
            lacking = [key for key in params if key not in after]
            problem = f"leaves {lacking[0]} out" if lacking else "changes their order, or adds one"
            todo = "return the parameters that it is given, in their order"
            raise ValueError(f"{where}: {problem}; {todo}")


def _own(block: str, entry: dict[str, Any]) -> bool:
    """True for a component of a study."""
    return not registry.path(block, entry["name"]).is_relative_to(registry.PACKAGE)


def _model(spec: dict[str, Any], made: dataset.Dataset, member: dict[str, Any]) -> Any:
    """The model of a member, if it has parameters; None if it cannot be built."""
    from grokatlas.engine.ensemble import generators
    from grokatlas.engine.network import member_model

    where = registry.shown_component("model", spec["model"]["name"])
    (generator,) = generators([member["seed"]])
    try:
        model = member_model(spec, made, member, generator)
    except AttributeError as error:
        if not place(error):  # it is the engine that needs more than `build` returned
            raise ValueError(f"{where}: `build` returns no torch.nn.Module; return one") from None
        return None
    except Exception:  # of the component
        return None
    if next(model.parameters(), None) is None:
        problem = "the model has no parameter (nn.Parameter), so that nothing could be trained"
        raise ValueError(f"{where}: {problem}; give it some")
    return model


def terms(
    spec: dict[str, Any], member: dict[str, Any], blocks: tuple[str, ...] = ("loss", "penalties")
) -> Iterator[tuple[str, Any, Any]]:
    """The parts of a member in some blocks: block, entry, what `build` returns."""
    for path, block, entry in registry.entries(spec, blocks):
        prefix = f"{path}."
        varied = {k.removeprefix(prefix): v for k, v in member.items() if k.startswith(prefix)}
        keywords = registry.keywords(entry) | varied
        yield block, entry, registry.load(block, entry["name"]).build(**keywords)


def _kind(value: Any) -> str:
    """A value by its shape, else by its type."""
    shape = getattr(value, "shape", None)
    return f"of the shape {_shape(shape)}" if shape is not None else f"of type {_type(value)}"


def _type(value: Any) -> str:
    return "None" if value is None else type(value).__name__


def _shape(shape: Any) -> str:
    return str([*shape])
