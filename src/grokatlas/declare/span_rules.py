"""Which runs may train in the coordinates of a span (`span.py`): those that no rotation changes."""

from typing import Any

# the components that see inputs and first-layer weights by their products alone
ROTATABLE = {
    "model": ("mlp",),
    "loss": ("binary_cross_entropy", "cross_entropy", "mse"),
    "optimizer": ("gd", "sgd"),
    "dynamics": ("gradient_training",),
    "penalties": ("jacobian", "jacobian_level"),
    "gradients": ("clip_norm", "grokfast_ema", "grokfast_ma", "scale"),
    "inputs": (),
    "observables": ("accuracies", "centroid", "jacobian", "losses", "noisy_accuracy", "ntk"),
}


def unfit(spec: dict[str, Any]) -> tuple[list[str], str] | None:
    """What is not the same in the coordinates that a run asks for, if anything.

    Returns:
        the place in the spec, and what is wrong and allowed there.
    """
    if "coordinates" not in spec["train"]:
        return None
    if spec["train"]["snapshots"]:
        problem = "none are kept with train.coordinates: span; write []"
        return ["train", "snapshots"], problem
    for key, value in spec["task"].items():
        if value == "member":
            problem = "members share their data with train.coordinates: span; give a number"
            return ["task", key], problem
    for block, allowed in ROTATABLE.items():
        entries = spec.get(block, [])
        for index, entry in enumerate(entries if isinstance(entries, list) else [entries]):
            if entry["name"] not in allowed:
                place = [block, str(index)] if isinstance(entries, list) else [block]
                problem = f"{entry['name']} is not the same with train.coordinates: span"
                hint = f"allowed: {', '.join(allowed)}" if allowed else "none is allowed"
                return [*place, "name"], f"{problem}; {hint}"
    return None
