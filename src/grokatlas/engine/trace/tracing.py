"""Traces of pure programs, simplified: shared, folded, without products of zeros, in place.

Every pass keeps each number as it was, to the last bit (a zero may lose its sign, and what is not
finite may become zero where it is multiplied by zero).
"""

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, fx
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_map, tree_unflatten

from grokatlas.engine.trace.in_place import IN_PLACE, alike, operations, save_memory

aten = torch.ops.aten
# a result is zero where the first argument is
KEEP_ZERO = {
    *(aten.view.default, aten._unsafe_view.default, aten.expand.default, aten.clone.default),
    *(aten.transpose.int, aten.permute.default, aten.unsqueeze.default, aten.squeeze.dim),
    *(aten.neg.default, aten.sum.dim_IntList, aten.mul.Scalar, aten.threshold_backward.default),
}
# the numbers of a result are known from the shape of the argument
FILLED = {aten.ones_like.default, aten.full_like.default}
# with one as their second argument they give the first
SCALINGS = {
    *(aten.mul.Scalar, aten.mul.Tensor, aten.div.Scalar, aten.div.Tensor),
    aten.pow.Tensor_Scalar,
}
RESHAPES = {aten.view.default, aten._unsafe_view.default, aten.expand.default}
PRODUCTS = {aten.mul.Tensor, aten.bmm.default, aten.mm.default}
# operations that a tensor has as methods with the same arguments, which start in half of the time
METHODS = {
    *(operation._opname for pair in IN_PLACE.items() for operation in pair),
    *("bmm", "mm", "sum", "mean", "exp", "log", "abs", "clone"),
    *("view", "expand", "transpose", "permute", "unsqueeze", "squeeze", "select"),
}


def trace(
    program: Callable[..., Any], arguments: tuple[Any, ...], given: int | None
) -> fx.GraphModule:
    """A pure program as one flat list of tensor operations.

    Args:
        program: takes and returns trees of tensors; it must not branch on values.
        arguments: of the first call; the trace holds for the same shapes.
        given: place of an argument whose tensors the program may overwrite; None for none.
    """
    module = operations_of(program, arguments)
    _skip(module)
    _share(module)
    module.graph.eliminate_dead_code()
    _fold(module)
    _drop_zeros(module)
    module.graph.eliminate_dead_code()
    save_memory(module, arguments, given)
    module.recompile()
    return module


def operations_of(program: Callable[..., Any], arguments: tuple[Any, ...]) -> fx.GraphModule:
    """A pure program as the operations that it calls, none of them left out or changed.

    Args:
        program: as for `trace`.
        arguments: likewise; the trace has every tensor on their device.
    """
    # one tensor given as two arguments would become one argument of the trace
    distinct = tree_map(lambda leaf: leaf.detach(), arguments)
    # fake: nothing is computed; constants of a component's module stay real tensors
    pure = torch.func.functionalize(program)
    with _silent("torch._subclasses.fake_tensor"):  # an error is raised as well
        module = make_fx(pure, tracing_mode="fake", _allow_non_fake_inputs=True)(*distinct)
    _place_numbers(module)
    return module


def _place_numbers(module: fx.GraphModule) -> None:
    """Make tensors of plain numbers on the device of the arguments.

    ``vmap`` makes a tensor on the CPU of a number that meets a member's scalar of another dtype,
    such as 1 in ``step + 1``.
    """
    values = [n.meta.get("val") for n in module.graph.nodes if n.op == "placeholder"]
    devices = [value.device for value in values if isinstance(value, Tensor)]
    for node in operations(module):
        if node.target is not aten._to_copy.default or isinstance(node.args[0], fx.Node):
            continue
        with module.graph.inserting_before(node):
            options = {"dtype": node.meta["val"].dtype, "device": devices[0]}
            placed = module.graph.call_function(aten.scalar_tensor.default, node.args, options)
        placed.meta = node.meta | {"val": node.meta["val"].to(devices[0])}
        node.replace_all_uses_with(placed)
        module.graph.erase_node(node)


@contextlib.contextmanager
def _silent(name: str) -> Iterator[None]:
    """Silence a logger inside the ``with`` block."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


def fast(module: fx.GraphModule) -> Callable[..., Any]:
    """A trace as a function of its arguments' leaves, quick to start; `module` is used up."""
    output = module.graph.output_node()
    if hasattr(module, "_out_spec"):  # where an argument or result is a tree
        output.args = (tree_unflatten(output.args[0], module._out_spec),)
    for node in operations(module):
        name = getattr(node.target, "_opname", None)
        if name in METHODS and isinstance(node.args[0], fx.Node):
            node.op, node.target = "call_method", name
    module.graph.set_codegen(fx.graph.CodeGen())
    module.recompile()
    program: Callable[..., Any] = module.forward
    return program


def _skip(module: fx.GraphModule) -> None:
    """Leave out what changes nothing: views of the same shape, exchanges undone, times one."""
    for node in operations(module):
        (source, *rest) = node.args or (None,)
        if not isinstance(source, fx.Node):
            continue
        undone = node.target is aten.transpose.int and source.target is aten.transpose.int
        if undone and source.args[1:] == tuple(rest):
            node.replace_all_uses_with(source.args[0])
        elif (node.target in RESHAPES or _is_neutral(node)) and alike(source, node):
            node.replace_all_uses_with(source)


def _is_neutral(node: fx.Node) -> bool:
    """True for a node that multiplies or divides by 1, takes the first power, or keeps all axes."""
    if node.target is aten.permute.default:
        return list(node.args[1]) == list(range(len(node.args[1])))
    return node.target in SCALINGS and node.args[1] == 1


def _share(module: fx.GraphModule) -> None:
    """Compute once what is computed several times."""
    first: dict[str, fx.Node] = {}
    for node in operations(module):
        same = first.setdefault(f"{node.target} {node.args} {node.kwargs}", node)
        if same is not node:
            node.replace_all_uses_with(same)
            module.graph.erase_node(node)


def _fold(module: fx.GraphModule) -> None:
    """Compute now what depends on no argument's numbers: ranges, numbers made tensors, ones."""
    for node in operations(module):
        if _is_large(node):
            continue
        values = {
            source: getattr(module, source.target)
            for source in node.all_input_nodes
            if source.op == "get_attr"
        }
        if node.target in FILLED:
            values = {node.args[0]: _like(node.args[0])}
        if len(values) < len(node.all_input_nodes):
            continue
        arguments = fx.node.map_arg((node.args, node.kwargs), values.__getitem__)
        value = node.target(*arguments[0], **arguments[1])
        if isinstance(value, Tensor):
            name = f"folded_{node.name}"
            module.register_buffer(name, value)
            with module.graph.inserting_before(node):
                folded = module.graph.get_attr(name)
            folded.meta = node.meta
            node.replace_all_uses_with(folded)
            module.graph.erase_node(node)


def _like(node: fx.Node) -> Tensor:
    """Some tensor laid out as the result of a node."""
    value = node.meta["val"]
    options = {"dtype": value.dtype, "device": value.device}
    return torch.empty_strided(value.shape, value.stride(), **options)


def _is_large(node: fx.Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, Tensor) and value.numel() > 1 << 20


def _drop_zeros(module: fx.GraphModule) -> None:
    """Leave out products with what is zero whatever the arguments, as in a ReLU's curvature."""
    zeros: set[fx.Node] = set()
    for node in module.graph.nodes:
        if node.op == "get_attr" and not getattr(module, node.target).any():
            zeros.add(node)
        if node.op != "call_function":
            continue
        parts = [part for part in node.args if isinstance(part, fx.Node)]
        zero = [part in zeros for part in parts]
        target = node.target
        if (
            target in (aten.zeros_like.default, aten.new_zeros.default, aten.zeros.default)
            or (target in PRODUCTS and any(zero))
            or ((target in KEEP_ZERO or target is aten.div.Tensor) and zero[:1] == [True])
        ):
            zeros.add(node)
        elif target is aten.add.Tensor and not node.kwargs and len(parts) == 2 and any(zero):
            if all(zero):
                zeros.add(node)
            other = parts[1] if zero[0] else parts[0]
            if not all(zero) and alike(other, node):
                node.replace_all_uses_with(other)
