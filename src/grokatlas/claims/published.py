"""What a paper prints at a figure, for the functions that ask for it."""

import inspect
from collections.abc import Callable
from typing import Any


def asked_for(function: Callable[..., Any], published: dict[str, Any]) -> dict[str, Any]:
    """The keyword ``published``, if a function of tables takes it; else no keyword."""
    return {"published": published} if "published" in inspect.signature(function).parameters else {}
