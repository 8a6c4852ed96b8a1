"""Axes of the ensemble that are joined: the key `zip`, checked, and taken apart for other checks.

``zip: [{optimizer.lr: [0.1, 0.2], model.init_scale: [1, 2]}]`` is one axis of two members. Each
path is then checked as an axis of its own.
"""

from typing import Any

from grokatlas.engine import members
from grokatlas.errors import shown

EXAMPLE = "zip: [{optimizer.lr: [0.1, 0.2], model.init_scale: [1, 2]}]"


def flat(ensemble: dict[str, Any]) -> dict[str, Any]:
    """Every axis by its path, joined or not; an entry of `zip` that is no block is left out."""
    plain = {path: axis for path, axis in ensemble.items() if path != members.ZIP}
    return {path: axis for group in _groups(ensemble) for path, axis in group.items()} | plain


def paths(ensemble: dict[str, Any]) -> list[list[str]]:
    """The paths of each joined axis."""
    return [list(group) for group in _groups(ensemble)]


def again(axes: dict[str, Any], joined: list[list[str]]) -> dict[str, Any]:
    """The block `ensemble` of these axes, with some joined; one order for every spelling."""
    groups = sorted(sorted(group) for group in joined)
    names = [path for group in groups for path in group]
    alone = [{path: axis} for path, axis in axes.items() if path not in names]
    return members.block_of([*({path: axes[path] for path in group} for group in groups), *alone])


def why_not(ensemble: dict[str, Any]) -> tuple[list[str], str] | None:
    """The mistake in `zip`, if there is one.

    Returns:
        the place in the ensemble, and what is wrong and allowed there.
    """
    if members.ZIP not in ensemble:
        return None
    groups = ensemble[members.ZIP]
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        return [members.ZIP], f"{shown(groups)} is not allowed: give a list of blocks, as {EXAMPLE}"
    known = [path for path in ensemble if path != members.ZIP]
    for index, group in enumerate(groups):
        place = [members.ZIP, str(index)]
        if len(group) < 2:
            return place, f"joins no two axes; write them beside each other, as {EXAMPLE}"
        for path in group:
            if path == "seed":
                problem = "is not joined with others: every member has one; write it beside zip"
                return [*place, path], problem
            if path in known:
                return [*place, path], "is an axis already; keep one of both"
            known.append(path)
        reason = _uneven(group)
        if reason is not None:
            return [*place, reason[0]], reason[1]
    return None


def _uneven(group: dict[str, Any]) -> tuple[str, str] | None:
    """The path whose values do not go with those of the others, and why."""
    if not all(isinstance(axis, list) for axis in group.values()):
        return None  # said of each path by itself
    first, *others = group
    for path in others:
        if len(group[path]) != len(group[first]):
            problem = f"number of values: {len(group[path])}, of {first}: {len(group[first])}"
            return path, f"{problem}; joined axes go through their values together: give as many"
    points = list(zip(*group.values(), strict=True))
    for number, point in enumerate(points):
        if point in points[:number]:
            problem = f"its values number {points.index(point)} and {number} (from 0) are the same"
            return first, f"{problem}, and so are those joined with it; remove one of both"
    return None


def _groups(ensemble: dict[str, Any]) -> list[dict[str, Any]]:
    groups = ensemble.get(members.ZIP, [])
    known = groups if isinstance(groups, list) else []
    return [group for group in known if isinstance(group, dict)]
