"""Printed and digitised numbers of a figure, for the functions that ask for them."""

import inspect
from collections.abc import Callable
from typing import Any


def asked_for(
    function: Callable[..., Any], published: dict[str, Any], digitised_points: list[dict[str, Any]]
) -> dict[str, Any]:
    """Those of ``published`` and ``digitised_points`` that a function of tables takes."""
    offered = {"published": published, "digitised_points": digitised_points}
    wanted = inspect.signature(function).parameters
    return {name: value for name, value in offered.items() if name in wanted}
