"""A run on a GPU: the memory that it takes, and if its steps can be captured.

From its spec alone, without torch. The engine decides both anew, by what it measures.
"""

import math
from typing import Any

from grokatlas import registry
from grokatlas.declare.signatures import defines
from grokatlas.engine.memory import Needs
from grokatlas.plan import resources

# the components of a step
MOVING = ("loss", "optimizer", "dynamics", "penalties", "gradients", "updates", "inputs")


def waiting(spec: dict[str, Any]) -> list[str]:
    """The components that let each step wait for the host, so that it cannot be captured.

    Their files say ``WAITS = True``.
    """
    components = ((block, entry["name"]) for _, block, entry in registry.entries(spec, MOVING))
    return [f"{block}.{name}" for block, name in components if defines(block, name, "WAITS")]


def needs(spec: dict[str, Any]) -> Needs:
    """The needs of a run on a GPU, by the facts of its components."""
    run = resources.size(spec)
    data = resources.data_size(spec)
    batch = min(spec["train"].get("batch_size", run.samples), run.samples)
    model = spec.get("model")
    written = model and resources.value("model", model, "written", data)
    written = int(written or 2 * data["outputs"])
    samples = run.samples + resources.test_samples(spec)
    own = run.members if "member" in spec["task"].values() else 1
    features = math.prod(data["shape"]) if data["vocabulary"] else run.inputs
    moving = registry.entries(spec, MOVING)
    return Needs(
        members=run.members,
        parameters=run.parameters * run.itemsize,
        kept=sum(int(resources.stated(block, each, "kept") or 0) for _, block, each in moving),
        batch=batch * written * run.itemsize,
        looks=samples * written * run.itemsize,
        data=own * samples * (features + data["outputs"]) * run.itemsize,
        noise=resources.noise(spec, run.parameters, batch) * run.itemsize,
        stops="stop" in spec["train"],
    )
