"""What is watched of a run that declares nothing: numbers, and columns by their direction.

Nothing here checks, so that a training needs no pydantic; `watches` checks what a YAML declares.
"""

import copy
from typing import Any

from grokatlas.declare import signatures

# by kind: the numbers of its rule
NUMBERS: dict[str, dict[str, Any]] = {
    "nonfinite": {},
    "spike": {"factor": 10.0, "logs": 10, "floor": 0.01},
    "stagnation": {"tolerance": 1e-6, "logs": 10, "share": 0.1},
}


def default(observables: list[dict[str, Any]]) -> dict[str, Any]:
    """The block ``watch`` of a run that declares none: all is noted, and nothing stops.

    Args:
        observables: of its spec.
    """
    found = columns(observables)
    return {kind: {"columns": found[kind], **copy.copy(NUMBERS[kind])} for kind in NUMBERS}


def columns(observables: list[dict[str, Any]]) -> dict[str, list[str]]:
    """The columns in which each kind is looked for, as patterns.

    What is not finite: in what has a direction, and in parameters; a ratio, for one, is no number
    at 0 / 0 for reasons of its own. A spike: in what falls on training data, else in all that
    falls. Stagnation: in all that is logged but times, which always move.

    Args:
        observables: of a spec, with their keywords.
    """
    declared, whole = signatures.logged(observables)
    falls = [name for name, direction in declared.items() if direction == "falls"]
    finite = [name for name, direction in declared.items() if direction]
    finite += [name for name in declared if name.startswith("parameters.")]
    moving = [name for name in declared if not name.endswith("_time")]
    return {
        "nonfinite": sorted(finite),
        "spike": sorted([name for name in falls if name.startswith("train_")] or falls),
        "stagnation": sorted(moving) if whole else ["*"],
    }
