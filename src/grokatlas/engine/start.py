"""Where the members of a run start that goes on from a snapshot of other runs.

A run whose spec has a block ``start`` is a child; each of its members begins with the parameters
that one member of a parent had at a step. Nothing here imports torch: plans ask `origins`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grokatlas.engine import members
from grokatlas.engine.contracts import Member, Params, Spec, Tree

if TYPE_CHECKING:
    import numpy as np

OPTIMIZER = "optimizer"  # the entry of a state that a child may go on with


@dataclass(frozen=True)
class Start:
    """Parameters, and parts of the state of the optimizer, ``[M, ...]`` by name (`state_names`)."""

    arrays: dict[str, np.ndarray]

    def parameters(self, drawn: Params) -> Params:
        """The parameters that a child begins with, in place of those that were drawn.

        Raises:
            ValueError: parent and child differ in a parameter.
        """
        parents = {key for key in self.arrays if not is_state(key)}
        for key in sorted(parents ^ drawn.keys()):
            has, lacks = ("the parent", "this run")[:: 1 if key in parents else -1]
            problem = f"start: {lacks} has no parameter {key}, and {has} has"
            raise ValueError(f"{problem}; give both the same model")
        return {key: self._like(f"parameter {key}", key, value) for key, value in drawn.items()}

    def optimizer(self, fresh: Tree, indices: list[int]) -> Tree:
        """The state of the parent's optimizer.

        Args:
            fresh: that of the child's before its first step, of the members at the indices.
            indices: of members in the run.

        Raises:
            ValueError: the parent has none that fits.
        """
        return self._filled(fresh, OPTIMIZER, indices)

    def _filled(self, fresh: Tree, path: str, indices: list[int]) -> Tree:
        filled: dict[str, Any] = {}
        for key, value in fresh.items():
            name = f"{path}:{key}"
            if hasattr(value, "items"):
                filled[key] = self._filled(value, name, indices)
            elif name in self.arrays:
                filled[key] = self._like(f"the state {name}", name, value, indices)
            else:
                problem = f"start: the parent's optimizer has no state {name}"
                raise ValueError(f"{problem}; give both the same one, or write optimizer: fresh")
        return filled

    def _like(self, what: str, name: str, wanted: Any, indices: list[int] | None = None) -> Any:
        """An array as a tensor of the device of another, whose shape and dtype it must have."""
        import torch

        array = self.arrays[name] if indices is None else self.arrays[name][indices]
        tensor = torch.from_numpy(array.copy()).to(wanted.device)
        if (tensor.shape, tensor.dtype) != (wanted.shape, wanted.dtype):
            here, there = (_described(each) for each in (wanted, tensor))
            problem = f"start: {what} is {here} here, and {there} in the parent"
            raise ValueError(f"{problem}; give both the same model and train.dtype")
        return tensor


def gathered(child: Spec, parents: list[tuple[Spec, dict[str, np.ndarray]]]) -> Start:
    """Where the members of a child start.

    Args:
        child: its spec.
        parents: spec, and the arrays ``[M, ...]`` of the snapshot, of each run that it names.
    """
    import numpy as np

    chosen = [own[0] for own in origins(child, [spec for spec, _ in parents])]
    names = parents[0][1]
    return Start({key: np.stack([parents[run][1][key][m] for run, m in chosen]) for key in names})


def origins(child: Spec, parents: list[Spec]) -> list[list[tuple[int, int]]]:
    """For each member of a child, the members of parents from which it may start.

    These have the same value of every axis that both have. Exactly one is right.

    Args:
        child: its spec.
        parents: the specs of runs of one ensemble.

    Returns:
        place among the parents, and index there.
    """
    axes = [axis for axis in child["ensemble"] if all(axis in p["ensemble"] for p in parents)]
    known: dict[str, list[tuple[int, int]]] = {}
    for place, spec in enumerate(parents):
        for index, member in enumerate(members.of(spec)):
            known.setdefault(_values(member, axes), []).append((place, index))
    return [known.get(_values(member, axes), []) for member in members.of(child)]


def state_names(state: Tree) -> dict[str, Any]:
    """The state of the optimizer as a snapshot has it: one name for each tensor.

    Raises:
        ValueError: the dynamics has none.
    """
    if OPTIMIZER not in state:
        problem = "a run starts from this one with optimizer: kept, and its dynamics has no state"
        raise ValueError(f"{problem} of an optimizer; write optimizer: fresh there")
    return dict(_flat(state[OPTIMIZER], OPTIMIZER))


def is_state(name: str) -> bool:
    """Whether a name in a snapshot is that of a part of the optimizer's state."""
    return name.startswith(f"{OPTIMIZER}:")


def _flat(tree: Any, path: str) -> list[tuple[str, Any]]:
    if not hasattr(tree, "items"):
        return [(path, tree)]
    return [pair for key, value in tree.items() for pair in _flat(value, f"{path}:{key}")]


def _values(member: Member, axes: list[str]) -> str:
    return json.dumps([member[axis] for axis in axes])


def _described(tensor: Any) -> str:
    """Shape and dtype of one member's tensor."""
    return f"{list(tensor.shape[1:])} in {str(tensor.dtype).removeprefix('torch.')}"
