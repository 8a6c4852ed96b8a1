"""The start of a run's members from a snapshot of other runs.

A run whose spec has a block ``start`` is a child; each of its members begins with the parameters
that one member of a parent had at a step, and where it asks for it with the state of the optimizer.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from grokatlas.engine import members
from grokatlas.engine.contracts import Params, Spec, Tree
from grokatlas.engine.record import OPTIMIZER, is_state

Arrays = dict[str, np.ndarray]  # of a snapshot, by name


@dataclass(frozen=True)
class Start:
    """Parameters and states with which the members of a child begin.

    Attributes:
        arrays: parameters, and parts of the optimizer's state, ``[M, ...]`` of these members.
        goes_on: whether the optimizer goes on with that state.
    """

    arrays: Arrays
    goes_on: bool

    @property
    def differs_in_age(self) -> bool:
        """True where the optimizers have counted different steps, as of stopped members."""
        states = [array for key, array in self.arrays.items() if is_state(key)]
        counts = [array for array in states if array.ndim == 1] if self.goes_on else []
        return any((array != array[0]).any() for array in counts)

    def parameters(self, drawn: Params) -> Params:
        """The parameters that members begin with, in place of those that were drawn.

        Raises:
            ValueError: parent and child differ in a parameter.
        """
        parents = {key for key in self.arrays if not is_state(key)}
        for key in sorted(parents ^ drawn.keys()):
            has, lacks = ("the parent", "this run")[:: 1 if key in parents else -1]
            problem = f"start: {lacks} has no parameter {key}, and {has} has"
            raise ValueError(f"{problem}; give both the same model")
        return {
            key: _alike(f"parameter {key}", self.arrays[key], value) for key, value in drawn.items()
        }

    def optimizer(self, fresh: Tree, indices: list[int], path: str = OPTIMIZER) -> Tree:
        """The state of the parent's optimizer.

        Args:
            fresh: that of the child's before its first step, of the members at the indices.
            indices: of members in the run.
            path: of it in the state.

        Raises:
            ValueError: the parent has none that fits.
        """
        filled: dict[str, Tensor | Tree] = {}
        for key, value in fresh.items():
            name = f"{path}:{key}"
            if not isinstance(value, Tensor):
                filled[key] = self.optimizer(value, indices, name)
            elif name in self.arrays:
                filled[key] = _alike(f"the state {name}", self.arrays[name][indices], value)
            else:
                problem = f"start: the parent has no state {name}, as its train.only may say"
                raise ValueError(f"{problem}; write optimizer: fresh")
        return filled


def gathered(child: Spec, parents: list[tuple[Spec, Arrays]]) -> Start:
    """The start of a child's members.

    Args:
        child: its spec.
        parents: spec, and the arrays ``[M, ...]`` of the snapshot, of each run that it names.
    """
    origins = [own[0] for own in members.origins(child, [spec for spec, _ in parents])]
    names = parents[0][1]
    arrays = {key: np.stack([parents[run][1][key][m] for run, m in origins]) for key in names}
    return Start(arrays, child["start"]["optimizer"] == "kept")


def _alike(what: str, array: np.ndarray, wanted: Tensor) -> Tensor:
    """An array as a tensor on the device of another, whose shape and dtype it must have."""
    tensor = torch.from_numpy(array.copy()).to(wanted.device)
    if (tensor.shape, tensor.dtype) != (wanted.shape, wanted.dtype):
        here, there = (_described(each) for each in (wanted, tensor))
        problem = f"start: {what} is {here} here, and {there} in the parent"
        raise ValueError(f"{problem}; give both the same model and train.dtype")
    return tensor


def _described(tensor: Tensor) -> str:
    """Shape and dtype of one member's tensor."""
    return f"{list(tensor.shape[1:])} of {str(tensor.dtype).removeprefix('torch.')}"
