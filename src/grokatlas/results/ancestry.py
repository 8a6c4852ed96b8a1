"""Walks up and down a graph of jobs or of results."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def ancestors(nodes: Iterable[Node], inputs: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """The nodes and everything that they depend on, each once, in the order of their discovery."""
    reached: dict[Node, None] = {}
    waiting = list(nodes)[::-1]
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached[node] = None
            waiting += list(inputs(node))[::-1]
    return list(reached)


def descendants(
    nodes: Iterable[Node], everything: Iterable[Node], inputs: Callable[[Node], Iterable[Node]]
) -> set[Node]:
    """The nodes and all that depends on them; `everything` has a node after what it depends on."""
    reached = set(nodes)
    for node in everything:
        if node not in reached and any(each in reached for each in inputs(node)):
            reached.add(node)
    return reached
