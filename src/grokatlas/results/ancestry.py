"""What depends on what: the walk up and the walk down a graph of jobs or of results."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def ancestors(nodes: Iterable[Node], inputs: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """The nodes and everything that they depend on, each once, in the order of their discovery."""
    found: dict[Node, None] = {}
    waiting = list(nodes)[::-1]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found[node] = None
            waiting += list(inputs(node))[::-1]
    return list(found)


def descendants(
    nodes: Iterable[Node], everything: Iterable[Node], inputs: Callable[[Node], Iterable[Node]]
) -> set[Node]:
    """The nodes and all that depends on them; `everything` has a node after what it depends on."""
    found = set(nodes)
    for node in everything:
        if node not in found and any(each in found for each in inputs(node)):
            found.add(node)
    return found
