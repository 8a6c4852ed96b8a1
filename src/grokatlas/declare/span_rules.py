"""Rules for runs in the coordinates of a span: no rotation may change them."""

import functools
from typing import Any

from grokatlas import registry
from grokatlas.declare import signatures

# blocks whose components must see inputs and first-layer weights by their products alone; each says
# so in its file by ``ROTATABLE = True``
BLOCKS = (
    *("model", "loss", "optimizer", "dynamics"),
    *("penalties", "gradients", "updates", "inputs", "observables"),
)


@functools.cache
def rotatable(block: str) -> list[str]:
    """The components of a block that a rotation of the inputs does not change."""
    names = registry.names(block)
    return [name for name in names if signatures.defines(block, name, "ROTATABLE")]


def why_not_span(spec: dict[str, Any]) -> tuple[list[str], str] | None:
    """The place in a spec that forbids the coordinates it asks for, and what is allowed there."""
    if "coordinates" not in spec["train"]:
        return None
    if spec["train"]["snapshots"]:
        problem = "none are kept with train.coordinates: span; write []"
        return ["train", "snapshots"], problem
    for key, value in spec["task"].items():
        if value == "member":
            problem = "members share their data with train.coordinates: span; give a number"
            return ["task", key], problem
    for block in BLOCKS:
        allowed = rotatable(block)
        entries = spec.get(block, [])
        for index, entry in enumerate(entries if isinstance(entries, list) else [entries]):
            if entry["name"] not in allowed:
                place = [block, str(index)] if isinstance(entries, list) else [block]
                problem = f"{entry['name']} is not the same with train.coordinates: span"
                hint = f"allowed: {', '.join(allowed)}" if allowed else "none is allowed"
                return [*place, "name"], f"{problem}; {hint}"
    for path, _ in signatures.noise(spec, 1, 0):
        problem = "its noise on parameters is not the same with train.coordinates: span"
        return path.split("."), f"{problem}; take it away"
    return None
