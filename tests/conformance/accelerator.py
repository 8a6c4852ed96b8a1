"""What the programs of a run would do on a GPU, seen on a machine without one.

PyTorch lets Python register a device of its own. Tensors of `FakeTensorMode` on it have a shape, a
dtype and a device, and no memory. The mapped programs of a run, traced with such tensors, show
which operations a real GPU would be asked for, and which tensors were left on the CPU. What the
kernels of a real GPU compute is not seen.

The device changes what `torch.accelerator` and `torch.random` say in the whole process. So this
file is a program of its own: it reads names, one a line, and answers each with a line of JSON.
"""

import collections
import copy
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from examples.runs import MINIBATCHES, RUNS, member_keywords
from torch import fx
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
)
from torch.utils import backend_registration
from torch.utils._pytree import tree_flatten, tree_map

from grokatlas.engine.ensemble import Mapped
from grokatlas.engine.run import Run
from grokatlas.engine.trace.tracing import operations_of
from tests import image_files
from tests.runs import begun

DEVICE = "pretended"
CPU = torch.device("cpu")
STATE = {"update": 2, "begin_epoch": 2, "advance": 0}  # the place of a state among arguments
NOTHING: dict[str, Any] = {"operations": {}, "random": [], "elsewhere": [], "changed": []}
LATER = 3  # steps after which the second trace of a program is taken

Call = tuple[Callable[..., Any], tuple[Any, ...]]  # a program and its arguments, without numbers


class Rehearsals:
    """A process with the device, which is asked for one run after another."""

    def __init__(self) -> None:
        path = {"PYTHONPATH": os.pathsep.join(sys.path)}
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        command = [sys.executable, __file__]
        self._process = subprocess.Popen(command, env=os.environ | path, **pipes)
        self._known: dict[str, dict[str, Any]] = {}

    def of(self, name: str) -> dict[str, Any]:
        """The programs of a run, or one of `FAULTS`, as `rehearse` returns them."""
        if name not in self._known:
            self._process.stdin.write(f"{name}\n")
            self._process.stdin.flush()
            self._known[name] = json.loads(self._process.stdout.readline())
        return self._known[name]

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()


def rehearse(spec: dict[str, Any]) -> dict[str, Any]:
    """The programs of a run on the device.

    Returns:
        by program (``update``, ``observe``, ...): how often it calls each of its ``operations``,
        which of them are ``random``, values that are ``elsewhere`` than on the device, what of
        the state was ``changed``, and whether the trace is the ``same`` some steps later; an
        ``error`` where it could not be traced. A trace ends with what reads a number on the host.
    """
    programs = {}
    for program, calls in _calls(spec, LATER + 1).items():
        programs[program] = _seen(*calls[0], STATE.get(program))
        later = _seen(*calls[-1]) if len(calls) > 1 else programs[program]
        programs[program]["same"] = later.get("trace") == programs[program].get("trace")
    # again with minibatches, and with every hyperparameter a tensor of its member
    for program, calls in _calls(_varied(spec), 1).items():
        if program in STATE:
            programs[f"{program} of own hyperparameters"] = _seen(*calls[0], STATE[program])
    return programs


def _calls(spec: dict[str, Any], steps: int) -> dict[str, list[Call]]:
    """The programs that a run calls on the CPU, with their arguments as tensors without memory."""
    calls, names = collections.defaultdict(list), {}
    replayed = Mapped.__call__

    def recorded(mapped: Mapped, *arguments: Any) -> Any:
        calls[id(mapped)].append((mapped._mapped, tree_map(_without_memory, arguments)))
        needless = names.get(id(mapped)) in ("observe", "parameters")
        return {} if needless else replayed(mapped, *arguments)

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(Mapped, "__call__", recorded)
        made = begun(spec)
        programs, by_program = made.groups[0].programs, {}
        names |= {id(part): key for key, part in vars(programs).items() if isinstance(part, Mapped)}
        if programs.advance is not None:
            by_program["advance"] = [_advance(made)]
            programs.advance = None
        made.observe(made.params, 0)
        made.groups[0].parameters()
        made.move(steps)
    for key, own in calls.items():
        by_program[names[key]] = [own[0], own[-1]] if names[key] in STATE else own[:1]
    return by_program


def _advance(made: Run) -> Call:
    """Two steps of the `advance` of a run's dynamics."""
    group = made.groups[0]
    train = (group.data["train_inputs"], group.data["train_targets"])
    keywords = group.programs.dynamics_keywords(group.hyper)
    own = {key: value for key, value in keywords.items() if isinstance(value, torch.Tensor)}
    advance = group.programs.advance
    arguments = tree_map(_without_memory, (group.state, train, own))
    return lambda state, train, own: advance(state, train, 2, **keywords | own), arguments


def _varied(spec: dict[str, Any]) -> dict[str, Any]:
    varied = copy.deepcopy(spec)
    for name, run in RUNS.items():
        if run == spec and name in MINIBATCHES:
            varied["train"] |= {"batch_size": MINIBATCHES[name], "shuffle": True}
    own = {path: [value] for _, path, value in member_keywords(spec) if isinstance(value, float)}
    varied["ensemble"] = own | varied["ensemble"]
    return varied


def _without_memory(leaf: torch.Tensor) -> torch.Tensor:
    """A tensor of the same shape, strides and dtype that holds no numbers."""
    return torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype, device="meta")


def _on_device(leaf: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype, device=DEVICE)


def _seen(
    program: Callable[..., Any], arguments: tuple[Any, ...], state: int | None = None
) -> dict[str, Any]:
    """What a program does on the device; `state` is the place of the argument that it renews."""
    try:
        with FakeTensorMode(allow_non_fake_inputs=True):
            given = tree_map(_on_device, arguments)
            module = operations_of(program, given)
    except (DataDependentOutputException, DynamicOutputShapeException) as error:
        return NOTHING | {"operations": {error.func._opname: 1}}
    except Exception as error:  # whatever it is, it is what a test reports
        return _failed(error)
    nodes = list(module.graph.nodes)
    called = [_operation(node) for node in nodes if node.op == "call_function"]
    lines = [f"{node.format_node()} {_described(node.meta.get('val'))}" for node in nodes]
    changed = [] if state is None else _changed(given[state], module)
    return {
        "operations": dict(collections.Counter(called)),
        "random": sorted({_operation(node) for node in nodes if _draws(node)}),
        "elsewhere": [line for node, line in zip(nodes, lines, strict=True) if _left(module, node)],
        "changed": changed,
        "trace": hashlib.sha256("\n".join(lines).encode()).hexdigest(),
    }


def _failed(error: Exception) -> dict[str, Any]:
    return NOTHING | {"error": f"{type(error).__name__}: {error}"}


def _operation(node: fx.Node) -> str:
    """The name of an operation; of indexing, also whether it is by a mask."""
    name = getattr(node.target, "_opname", str(node.target))
    if name in ("index", "index_put", "_unsafe_index_put"):
        indices = [part.meta["val"].dtype for part in node.args[1] if part is not None]
        return f"{name} by a mask" if {torch.bool, torch.uint8} & {*indices} else name
    return name


def _draws(node: fx.Node) -> bool:
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


def _left(module: fx.GraphModule, node: fx.Node) -> bool:
    """Whether a value is not on the device."""
    value = getattr(module, node.target) if node.op == "get_attr" else node.meta.get("val")
    leaves = tree_flatten(value)[0]
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    return any(tensor.device.type != DEVICE for tensor in tensors)


def _described(value: Any) -> list[str]:
    leaves = [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, torch.Tensor)]
    return [f"{list(leaf.shape)} {leaf.dtype} {leaf.stride()}" for leaf in leaves]


def _changed(given: Any, module: fx.GraphModule) -> list[str]:
    """Where the state after a program is of another shape or dtype than the one before."""
    before = [value for value in tree_flatten(given)[0] if isinstance(value, torch.Tensor)]
    after = [part.meta["val"] for part in tree_flatten(module.graph.output_node().args)[0]]
    both = [[f"{list(value.shape)} {value.dtype}" for value in part] for part in (before, after)]
    if len(before) != len(after):
        return [f"{len(before)} tensors before, {len(after)} after"]
    return [f"{old} became {new}" for old, new in zip(*both, strict=True) if old != new]


# programs of a matrix and what a rehearsal must find in them
FAULTS: dict[str, Callable[..., Any]] = {
    "a number of the CPU": lambda x: x * torch.tensor(2.0),
    "a tensor of the CPU": lambda x: x * torch.tensor([2.0, 3.0, 4.0]),
    "a transfer": lambda x: x.cpu().square(),
    "a transfer and back": lambda x: x.cpu().square().to(x.device),
    "a number read": lambda x: x * x.sum().item(),
    "a branch": lambda x: x if x.sum() > 0 else -x,
    "a mask": lambda x: x[x > 0],
    "a mask written": lambda x: x.index_put((x > 0,), x.sum()),
    "a decomposition": lambda x: torch.linalg.svd(x)[0],
    "a check": lambda x: torch.linalg.cholesky(x),
    "a sum in any order": lambda x: x.cumsum(0),
    "a draw": lambda x: x + torch.rand_like(x),
    "another shape": lambda x: x[:2],
    "another precision": lambda x: x.double(),
}


def _answer(name: str) -> dict[str, Any]:
    if name in RUNS:
        try:
            return rehearse(RUNS[name])
        except Exception as error:  # on the CPU: the next run can be rehearsed still
            return {"run": _failed(error)}
    return _seen(FAULTS[name], (torch.empty(3, 3, device="meta"),), 0)


def main() -> None:
    """Answer the names on standard input."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what a component prints is no answer
    backend_registration._setup_privateuseone_for_python_backend(DEVICE)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        image_files.install(monkeypatch, Path(folder))
        for line in sys.stdin:
            print(json.dumps(_answer(line.strip())), file=answers, flush=True)


if __name__ == "__main__":
    main()
