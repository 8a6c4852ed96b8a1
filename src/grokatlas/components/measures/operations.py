"""The number of operations of an update, whatever machine it ran on."""

from typing import Any

import pandas as pd
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from grokatlas.engine import members
from grokatlas.engine.contracts import FinishedRun, Measure, Spec
from grokatlas.engine.group import Group
from grokatlas.engine.run import Run

MATRIX_PRODUCTS = ("mm", "bmm")
SINGULAR_VALUES = "_linalg_svd"
FUSED = 12  # of a fused step of Adam, for each entry of a parameter: as its plain steps have


def build() -> Measure[FinishedRun]:
    """Operations of an update of one member, counted while one epoch is trained on the CPU.

    Two for each entry of a factor that a matrix product meets; ``14 m n^2 + 8 n^3`` for singular
    values and vectors of ``[m, n]``, n the shorter side (Golub and Van Loan, Matrix Computations,
    4th ed., figure 8.6.1); and one for each entry of any other result, however dear it is. So what
    counts is arithmetic alone, not memory, nor calls of small operations. Random numbers are not
    counted, nor is what is observed. What the input changes look at before an epoch is shared by
    its updates.

    Returns:
        a function of a finished run, giving one row for each member, the same in all of them:
        ``operations``, of an update. A `ValueError` if the dynamics is compiled.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        every = members.of(run.spec)
        spec = _plain(run.spec, len(every) if run.data.per_member else 1)
        trained = Run(spec, run.data, torch.device("cpu"))
        if any(group.programs.advance is not None for group in trained.groups):
            name = spec["dynamics"]["name"]
            raise ValueError(f"operations of the compiled dynamics {name} are not counted")
        samples = run.data.train_inputs.shape[1 if run.data.per_member else 0]
        updates = -(-samples // spec["train"].get("batch_size", samples))
        trained.move(updates)  # traces the programs, which computes besides
        counter = _Counter()
        for group in trained.groups:
            for _ in range(updates):
                _step(group, counter)
        each = counter.total / updates / len(trained.members)
        return pd.DataFrame({"member": range(len(every)), "operations": each})

    return measure


def _plain(spec: Spec, seeds: int) -> Spec:
    """The spec with the first member's numbers in it: as many members, told apart by seed alone.

    An optimizer with plain numbers takes fused steps, also where another axis is another part's.
    """
    every = members.of(spec)
    plain: Spec = tree_map(lambda leaf: leaf, spec)  # dicts and lists of its own
    for path, value in every[0].items():
        if path != "seed":
            *blocks, keyword = path.split(".")
            entry: Any = plain
            for block in blocks:
                entry = entry[int(block) if isinstance(entry, list) else block]
            entry[keyword] = value
    plain["ensemble"] = {"seed": [member["seed"] for member in every[:seeds]]}
    return plain


def _step(group: Group, counter: "_Counter") -> None:
    """An update of a group, counted without the noise that is drawn for it."""
    begins = group.begins_epoch
    drawn = group.draw()
    with counter:
        state = group.begin_epoch() if begins else group.state
        group.state = group.update(state, drawn)


class _Counter(TorchDispatchMode):
    """Adds up operations."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's, which has no types
        self.total = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if not func.is_view:
            self.total += _operations(func, [*args, *(kwargs or {}).values()], result)
        return result


def _operations(func: Any, arguments: list[Any], result: Any) -> int:
    name = func._opname.rstrip("_")
    if "fused_adam" in name:
        return FUSED * sum(parameter.numel() for parameter in arguments[0])
    results = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
    if name in MATRIX_PRODUCTS:
        return 2 * arguments[0].shape[-1] * results[0].numel()
    if name == SINGULAR_VALUES:
        matrix = arguments[0]
        short, long = sorted(matrix.shape[-2:])
        several = matrix.numel() // (short * long)
        return several * (14 * long * short**2 + 8 * short**3)
    return sum(leaf.numel() for leaf in results)
