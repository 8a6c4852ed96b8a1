"""The members of a run, from its spec alone."""

import itertools
import json

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


def origins(child: Spec, parents: list[Spec]) -> list[list[tuple[int, int]]]:
    """For each member of a run, the members of others from which it may start.

    These have the same value of every axis that both have. Exactly one is right.

    Args:
        child: the spec of the run.
        parents: the specs of the others, which are runs of one ensemble.

    Returns:
        place among the parents, and index there.
    """
    axes = [axis for axis in child["ensemble"] if all(axis in each["ensemble"] for each in parents)]
    known: dict[str, list[tuple[int, int]]] = {}
    for place, spec in enumerate(parents):
        for index, member in enumerate(of(spec)):
            known.setdefault(_values(member, axes), []).append((place, index))
    return [known.get(_values(member, axes), []) for member in of(child)]


def _values(member: Member, axes: list[str]) -> str:
    return json.dumps([member[axis] for axis in axes])
