"""The members of a run, from its spec alone."""

import itertools
from typing import Any

from grokatlas.engine.contracts import Member, Spec

ZIP = "zip"  # the key of joined axes in the block `ensemble`
Axis = dict[str, list[Any]]  # the values of a path, or of several paths that are joined


def axes(spec: Spec) -> list[Axis]:
    """The axes of the ensemble: joined ones, then the others, the seed last and so fastest."""
    block = spec.get("ensemble", {})
    plain = sorted((path for path in block if path != ZIP), key=lambda path: path == "seed")
    return [*block.get(ZIP, []), *({path: block[path]} for path in plain)]


def block_of(listed: list[Axis]) -> Spec:
    """The block `ensemble` that has these axes."""
    joined = [axis for axis in listed if len(axis) > 1]
    plain = {path: values for axis in listed if len(axis) == 1 for path, values in axis.items()}
    return {**({ZIP: joined} if joined else {}), **plain}


def paths(spec: Spec) -> Axis:
    """All values of every path in which members differ."""
    return {path: values for axis in axes(spec) for path, values in axis.items()}


def of(spec: Spec) -> list[Member]:
    """The value of every path for each member, in order (the last axis runs fastest).

    Members are the product of the axes; paths of a joined axis go through their values together.
    """
    points = itertools.product(*(zip(*axis.values(), strict=True) for axis in axes(spec)))
    names = list(paths(spec))
    return [dict(zip(names, itertools.chain(*point), strict=True)) for point in points]


def tasks(spec: Spec) -> list[Spec]:
    """The task of each member, with `member` replaced by its seed; one entry if all are equal."""
    listed: list[Spec] = []
    for member in of(spec):
        listed.append({k: member["seed"] if v == "member" else v for k, v in spec["task"].items()})
    return listed[:1] if all(task == listed[0] for task in listed) else listed
