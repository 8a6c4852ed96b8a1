"""The memory of a trace: results written where arguments stood that nothing needs any more."""

from typing import Any

import torch
from torch import Tensor, fx
from torch.utils._pytree import tree_leaves

from grokatlas.engine.trace import fused_adam

aten = torch.ops.aten
# operations that may write their result where their first argument stood
IN_PLACE = {
    aten.add.Tensor: aten.add_.Tensor,
    aten.sub.Tensor: aten.sub_.Tensor,
    aten.mul.Tensor: aten.mul_.Tensor,
    aten.mul.Scalar: aten.mul_.Scalar,
    aten.div.Tensor: aten.div_.Tensor,
    aten.div.Scalar: aten.div_.Scalar,
    aten.pow.Tensor_Scalar: aten.pow_.Scalar,
    aten.sqrt.default: aten.sqrt_.default,
    aten.neg.default: aten.neg_.default,
    aten.sign.default: aten.sign_.default,
    aten.relu.default: aten.relu_.default,
    aten.lerp.Scalar: aten.lerp_.Scalar,
    aten.lerp.Tensor: aten.lerp_.Tensor,
    aten.addcmul.default: aten.addcmul_.default,
    aten.addcdiv.default: aten.addcdiv_.default,
}
COMMUTATIVE = {aten.add.Tensor, aten.mul.Tensor}


def save_memory(module: fx.GraphModule, arguments: tuple[Any, ...], place: int | None) -> None:
    """Let a trace write over its own results, and over the tensors of the argument at a place.

    No dead code may be left out after this: some operations are there only for what they write.
    """
    given = _given(module, arguments, place)
    _write_over_lists(module, given)
    if place is not None:
        _own_outputs(module, given)
    _overwrite(module, given)


def operations(module: fx.GraphModule) -> list[fx.Node]:
    """The nodes that compute something."""
    return [node for node in module.graph.nodes if node.op == "call_function"]


def alike(first: fx.Node, second: fx.Node) -> bool:
    """True where two values have the same shape and type."""
    a, b = first.meta.get("val"), second.meta.get("val")
    return isinstance(a, Tensor) and isinstance(b, Tensor) and _layout(a) == _layout(b)


def _layout(value: Tensor) -> tuple[torch.Size, torch.dtype, torch.device]:
    return value.shape, value.dtype, value.device


def _given(module: fx.GraphModule, arguments: tuple[Any, ...], place: int | None) -> set[fx.Node]:
    """The placeholders of the argument at a place."""
    if place is None:
        return set()
    before = len(tree_leaves(arguments[:place]))
    nodes = [node for node in module.graph.nodes if node.op == "placeholder"]
    return set(nodes[before : before + len(tree_leaves(arguments[place]))])


def _bases(module: fx.GraphModule) -> dict[fx.Node, fx.Node]:
    """The node that allocated the memory of each; its own where a node may have several."""
    base: dict[fx.Node, fx.Node] = {}
    for node in module.graph.nodes:
        sources = {base[source] for source in node.all_input_nodes}
        single = node.op == "call_function" and _is_view(node) and len(sources) == 1
        base[node] = sources.pop() if single else node
    return base


def _is_view(node: fx.Node) -> bool:
    """True where a result may share memory with an argument."""
    schema = getattr(node.target, "_schema", None)
    if schema is None or node.target is aten._unsafe_view.default:
        return True
    return any(result.alias_info is not None for result in schema.returns)


def _write_over_lists(module: fx.GraphModule, given: set[fx.Node]) -> None:
    """Let operations on lists of tensors write over them; what is needed still is copied."""
    for node in operations(module):
        if node.target not in fused_adam.IN_PLACE:
            continue
        target, written = fused_adam.IN_PLACE[node.target]
        may_go = _last_seen(module, given, node)
        arguments = list(node.args)
        for place in written:
            arguments[place] = [_own(module, part, node, may_go) for part in node.args[place]]
        with module.graph.inserting_before(node):
            changed = module.graph.call_function(target, tuple(arguments), node.kwargs)
        changed.meta = node.meta
        results = [part for place in written for part in arguments[place]]
        for user in list(node.users):
            user.replace_all_uses_with(results[user.args[1]])
            module.graph.erase_node(user)
        module.graph.erase_node(node)


def _last_seen(module: fx.GraphModule, given: set[fx.Node], node: fx.Node) -> set[fx.Node]:
    """Values that a trace owns, as a whole, and needs for the last time at a node."""
    base, nodes = _bases(module), list(module.graph.nodes)
    later = nodes[nodes.index(node) + 1 :]
    needed = {base[part] for user in later for part in user.all_input_nodes}
    return _owned(module, given, base) - needed


def _own(module: fx.GraphModule, part: fx.Node, user: fx.Node, may_go: set[fx.Node]) -> fx.Node:
    """A tensor if it may be written over by its user, once; else a copy of it."""
    if part in may_go and part.meta["val"].is_contiguous():
        may_go.discard(part)
        return part
    return _copied(module, part, user)


def _copied(module: fx.GraphModule, node: fx.Node, user: fx.Node) -> fx.Node:
    """A copy of a tensor, laid out in the usual order, before its user."""
    with module.graph.inserting_before(user):
        options = {"memory_format": torch.contiguous_format}
        copy = module.graph.call_function(aten.clone.default, (node,), options)
    copy.meta = node.meta
    return copy


def _owned(
    module: fx.GraphModule, given: set[fx.Node], base: dict[fx.Node, fx.Node]
) -> set[fx.Node]:
    """Values that were allocated in a trace or given to it."""
    return given | {n for n in operations(module) if base[n] is n and not _is_view(n)}


def _own_outputs(module: fx.GraphModule, given: set[fx.Node]) -> None:
    """Copy results that share memory or lie in another order, so that a call may overwrite them."""
    base = _bases(module)
    output = module.graph.output_node()
    seen: set[fx.Node] = set()

    def own(node: fx.Node) -> fx.Node:
        root = base[node]
        fresh = root in given or (root.op == "call_function" and not _is_view(root))
        if fresh and root not in seen and (root is node or node.op == "placeholder"):
            seen.add(root)
            return node
        return _copied(module, node, output)

    output.args = fx.node.map_arg(output.args, own)


def _overwrite(module: fx.GraphModule, given: set[fx.Node]) -> None:
    """Write results where an argument stood that nothing needs any more.

    A result may take the place of a value of the same layout at the last use of its memory, if that
    memory was allocated in the trace or given to it.
    """
    nodes = list(module.graph.nodes)
    base = _bases(module)
    owned = _owned(module, given, base)
    last = {base[part]: k for k, node in enumerate(nodes) for part in node.all_input_nodes}
    for position, node in enumerate(nodes):
        if node.target not in IN_PLACE:
            continue
        places = (0, 1) if node.target in COMMUTATIVE and not node.kwargs else (0,)
        for place in places:
            old = node.args[place]
            if not isinstance(old, fx.Node) or base[old] not in owned or not alike(old, node):
                continue
            rest = [part for k, part in enumerate(node.args) if k != place]
            others = [part for part in rest if isinstance(part, fx.Node) and part is not old]
            alone = all(base[part] is not base[old] for part in others)
            same = old.meta["val"].stride() == node.meta["val"].stride()
            if alone and same and last[base[old]] == position and _whole(old, base[old]):
                node.args = (old, *rest)
                node.target = IN_PLACE[node.target]
                break


def _whole(view: fx.Node, base: fx.Node) -> bool:
    """True where a view shows each entry of its base once."""
    seen, whole = view.meta["val"], base.meta["val"]
    if not isinstance(whole, Tensor):  # one of several results
        return False
    return seen.numel() == whole.numel() and 0 not in seen.stride()
