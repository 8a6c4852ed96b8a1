"""The member axis: stack, map a program over members, trace it once; generators of each member."""

import hashlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx
from torch.fx.experimental.proxy_tensor import make_fx

Tree = dict[str, Any]


def generators(seeds: list[int]) -> list[torch.Generator]:
    """One CPU generator for each member, seeded by the member's seed alone."""
    return [torch.Generator("cpu").manual_seed(seed) for seed in seeds]


def noise_generators(seeds: list[int], path: str, device: torch.device) -> list[torch.Generator]:
    """One generator for each member, of the noise of one block alone (such as ``penalties.0``).

    A block's noise is a stream of its own, so that adding the block changes neither the member's
    initial parameters nor its batches nor another block's noise.
    """
    streams = []
    for seed in seeds:
        text = hashlib.sha256(f"{seed} {path}".encode()).digest()
        streams.append(torch.Generator(device).manual_seed(int.from_bytes(text[:8]) >> 1))
    return streams


def stack(trees: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Tensors of equal names stacked along a new leading axis ``M``."""
    return {key: torch.stack([tree[key] for tree in trees]) for key in trees[0]}


def select(tree: Any, places: list[int]) -> Any:
    """Every tensor of a tree, with only the members at these places."""
    return torch.utils._pytree.tree_map(lambda leaf: leaf[places], tree)


class Mapped:
    """A function of one member, mapped over members and traced once for each shape of arguments.

    Tracing (``make_fx``) flattens the mapped program and its gradients into one list of tensor
    operations without side effects, in which what is computed twice is computed once (such as the
    forward pass of a loss and of a penalty). A step pays for neither ``vmap`` nor autograd
    bookkeeping. The program must be pure and must not branch on values.

    Args:
        function: takes trees of tensors of one member, returns a tree of tensors.
        in_dims: 0 where an argument has a member axis, None where members share it.
    """

    def __init__(self, function: Callable[..., Tree], in_dims: tuple[int | None, ...]) -> None:
        mapped = torch.func.functionalize(torch.func.vmap(function, in_dims=in_dims))
        self._mapped = lambda *arguments: mapped(*arguments)  # no __wrapped__ for the tracer
        self._traced: dict[tuple, Callable[..., Tree]] = {}

    def __call__(self, *arguments: Any) -> Tree:
        """The function's result with a leading axis ``M`` on every tensor."""
        key = tuple(leaf.shape for leaf in torch.utils._pytree.tree_leaves(arguments))
        if key not in self._traced:
            self._traced[key] = self._trace(arguments)
        with torch.no_grad():
            return self._traced[key](*arguments)

    def _trace(self, arguments: tuple) -> Callable[..., Tree]:
        # one tensor given as two arguments would become one argument of the trace
        distinct = torch.utils._pytree.tree_map(lambda leaf: leaf.detach(), arguments)
        module = make_fx(self._mapped)(*distinct)
        _share(module)
        _fold(module)
        module.graph.eliminate_dead_code()
        module.recompile()
        return module


def _share(module: fx.GraphModule) -> None:
    """Compute once what a trace without side effects computes several times."""
    first: dict[str, fx.Node] = {}
    for node in list(module.graph.nodes):
        if node.op != "call_function":
            continue
        same = first.setdefault(f"{node.target} {node.args} {node.kwargs}", node)
        if same is not node:
            node.replace_all_uses_with(same)
            module.graph.erase_node(node)


def _fold(module: fx.GraphModule) -> None:
    """Compute now what depends on no argument, such as ranges and numbers made tensors."""
    for node in list(module.graph.nodes):
        inputs = node.all_input_nodes
        if node.op != "call_function" or any(source.op != "get_attr" for source in inputs):
            continue
        values = {source: getattr(module, source.target) for source in inputs}
        arguments = fx.node.map_arg((node.args, node.kwargs), values.__getitem__)
        value = node.target(*arguments[0], **arguments[1])
        if isinstance(value, Tensor):
            name = f"folded_{node.name}"
            module.register_buffer(name, value)
            with module.graph.inserting_before(node):
                node.replace_all_uses_with(module.graph.get_attr(name))
            module.graph.erase_node(node)
