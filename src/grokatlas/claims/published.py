"""What a paper prints at a figure, and what was read off it, for the functions that ask for it."""

import inspect
from collections.abc import Callable
from typing import Any


def asked_for(
    function: Callable[..., Any], published: dict[str, Any], readings: list[dict[str, Any]]
) -> dict[str, Any]:
    """The keywords ``published`` and ``readings``, as far as a function of tables takes them."""
    offered = {"published": published, "readings": readings}
    wanted = inspect.signature(function).parameters
    return {name: value for name, value in offered.items() if name in wanted}
