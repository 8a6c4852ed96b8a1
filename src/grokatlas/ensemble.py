"""The member axis: initialise each member, stack, map a program over members, trace it once.

A component is written for one member. `Ensemble` builds every member's model from the member's own
generator (on the CPU, so that each device starts from the same numbers), stacks parameters along a
leading axis ``M``, and maps functions of one member over it with ``torch.func.vmap``.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

Tree = dict[str, Any]


def generators(seeds: list[int]) -> list[torch.Generator]:
    """One CPU generator for each member, seeded by the member's seed alone."""
    return [torch.Generator("cpu").manual_seed(seed) for seed in seeds]


def stack(trees: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Tensors of equal names stacked along a new leading axis ``M``."""
    return {key: torch.stack([tree[key] for tree in trees]) for key in trees[0]}


def batch_indices(generator: torch.Generator, samples: int, batch_size: int) -> list[Tensor]:
    """One epoch of minibatches: a permutation of ``range(samples)`` cut into batches.

    The last batch holds what remains and may be smaller.
    """
    order = torch.randperm(samples, generator=generator)
    return list(order.split(batch_size))


class Mapped:
    """A function of one member, mapped over members and traced once for each shape of arguments.

    Tracing (``make_fx``) flattens the mapped program and its gradients into one list of tensor
    operations, so that a step pays for neither ``vmap`` nor autograd bookkeeping. The program must
    be pure and must not branch on values.

    Args:
        function: takes trees of tensors of one member, returns a tree of tensors.
        in_dims: 0 where an argument has a member axis, None where members share it.
    """

    def __init__(self, function: Callable[..., Tree], in_dims: tuple[int | None, ...]) -> None:
        mapped = torch.func.vmap(function, in_dims=in_dims)
        self._mapped = lambda *arguments: mapped(*arguments)  # no __wrapped__ for the tracer
        self._traced: dict[tuple, Callable[..., Tree]] = {}

    def __call__(self, *arguments: Any) -> Tree:
        """The function's result with a leading axis ``M`` on every tensor."""
        key = tuple(leaf.shape for leaf in torch.utils._pytree.tree_leaves(arguments))
        if key not in self._traced:
            self._traced[key] = make_fx(self._mapped)(*arguments)
        with torch.no_grad():
            return self._traced[key](*arguments)
