"""The members of a run, from its spec alone."""

import itertools

from grokatlas.engine.contracts import Member, Spec


def of(spec: Spec) -> list[Member]:
    """The value of every ensemble axis for each member, in order (the last axis runs fastest)."""
    axes = spec["ensemble"]
    return [dict(zip(axes, point, strict=True)) for point in itertools.product(*axes.values())]


def tasks(spec: Spec) -> list[Spec]:
    """The task of each member, with `member` replaced by its seed; one entry if all are equal."""
    found: list[Spec] = []
    for member in of(spec):
        found.append({k: member["seed"] if v == "member" else v for k, v in spec["task"].items()})
    return found[:1] if all(task == found[0] for task in found) else found
