"""The parameters themselves, for toys of a few weights."""

from collections.abc import Callable
from typing import Any

COLUMNS = {"parameters.*": None}


def build() -> Callable[[Any], dict]:
    """Columns ``parameters.<name>.<k>``: entry k of each parameter, flattened row by row."""

    def observe(view: Any) -> dict:
        return {f"parameters.{name}": value for name, value in view.params.items()}

    return observe
