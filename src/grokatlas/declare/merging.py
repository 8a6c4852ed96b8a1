"""Merging of a stronger block of values over a weaker one."""

from typing import Any


def merged(base: Any, over: Any) -> Any:
    """`over` laid over `base`.

    Blocks merge key by key, but a block that names another component replaces the whole block, and
    so does anything that is no block.
    """
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    if "name" in over and over["name"] != base.get("name"):
        return over
    return base | {key: merged(base.get(key), value) for key, value in over.items()}
