"""Rules of the block ``train`` that depend on components: coordinates of a span, and what moves."""

from typing import Any

from grokatlas import registry
from grokatlas.declare import signatures

Reason = tuple[list[str], str]  # the place in a spec, and what is wrong and allowed there
# blocks whose components must see inputs and first-layer weights by their products alone; each says
# so in its file by ``ROTATABLE = True``
BLOCKS = (
    *("model", "loss", "optimizer", "dynamics"),
    *("penalties", "gradients", "updates", "inputs", "observables"),
)


def why_not_span(spec: dict[str, Any]) -> Reason | None:
    """The reason against the coordinates of a span, as a rotation would change the run; or None."""
    if "coordinates" not in spec["train"]:
        return None
    if spec["train"]["snapshots"]:
        problem = "none are kept with train.coordinates: span; write []"
        return ["train", "snapshots"], problem
    for key, value in spec["task"].items():
        if value == "member":
            problem = "members share their data with train.coordinates: span; give a number"
            return ["task", key], problem
    for path, block, entry in registry.entries(spec, BLOCKS):
        if entry["name"] not in (allowed := signatures.that_define(block, "ROTATABLE")):
            problem = f"{entry['name']} is not the same with train.coordinates: span"
            hint = f"allowed: {', '.join(allowed)}" if allowed else "none is allowed"
            return [*path.split("."), "name"], f"{problem}; {hint}"
    for path, _ in signatures.noise(spec, 1, 0):
        problem = "its noise on parameters is not the same with train.coordinates: span"
        return path.split("."), f"{problem}; take it away"
    return None


def why_not_only(spec: dict[str, Any]) -> Reason | None:
    """The mistake in ``train.only``: not every dynamics takes the names of what moves."""
    name = spec["dynamics"]["name"]
    if "only" not in spec["train"] or "only" in signatures.signature("dynamics", name).blocks:
        return None
    known = registry.names("dynamics")
    allowed = [each for each in known if "only" in signatures.signature("dynamics", each).blocks]
    problem = f"dynamics {name} moves all parameters; remove it"
    return ["train", "only"], f"{problem} (allowed with: {', '.join(allowed)})"
