"""Keywords of observables and measures that follow another block: ``tokens: from task.modulus``.

So a number of the task is written once, and one that a scale or a sweep changes is followed.
"""

import re
from collections.abc import Callable
from typing import Any, NoReturn

from grokatlas.errors import nearest, shown

BLOCKS = ("observables", "measures")
BEGIN = "from "
Fail = Callable[[list[str], str], NoReturn]
PATTERN = rf"^{BEGIN}[a-z]+(\.[a-z0-9_]+)+$"


def resolved(values: dict[str, Any], fail: Fail) -> dict[str, Any]:
    """The values of a cell with what its references name in their place.

    Args:
        values: merged blocks.
        fail: raises the error of a place and its problem: a reference leads to nothing, or to what
            is no number, word or list.
    """
    blocks = {
        block: [
            {
                key: _value(value, values, [block, str(index), key], fail)
                for key, value in entry.items()
            }
            for index, entry in enumerate(values[block])
        ]
        for block in BLOCKS
        if values.get(block)
    }
    return {**values, **blocks}


def _value(value: Any, values: dict[str, Any], place: list[str], fail: Fail) -> Any:
    if not isinstance(value, str) or not value.startswith(BEGIN):
        return value
    if not re.fullmatch(PATTERN, value):
        fail(place, f"{shown(value)} names no place; write it as from task.modulus")
    path = value.removeprefix(BEGIN)
    if path in values.get("ensemble", {}):
        problem = f"members differ in {path} (ensemble) and share what they log; give a value"
        fail(place, problem)
    here: Any = values
    for key in path.split("."):
        listed = enumerate(here) if isinstance(here, list) else []
        inner = here if isinstance(here, dict) else {str(i): each for i, each in listed}
        if key not in inner:
            fail(place, f"there is no {path}; {nearest(key, [*inner])}")
        here = inner[key]
    if isinstance(here, dict) or (isinstance(here, str) and here.startswith(BEGIN)):
        fail(place, f"{path} is no value; name a number, a word or a list")
    return here
