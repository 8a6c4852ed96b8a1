"""The members of a cell that share a run, by `members_per_run` and `run_first`.

An ensemble is one run unless an axis of it is split: then so many values of that axis share one,
and the product of the parts of all split axes makes the runs. The spec of a run holds its own
values alone, as if nothing else were declared, so that a further value makes a further run and
leaves the others as they are. A joined axis has the name of any of its paths.
"""

import itertools
from dataclasses import dataclass, field
from typing import Any

from grokatlas.engine import members as run_members
from grokatlas.engine.members import Axis
from grokatlas.errors import nearest

KEYS = ("members_per_run", "run_first")  # of an overlay


@dataclass(frozen=True)
class RunShare:
    """One run of a cell.

    Attributes:
        label: which values are its own, such as ``seed=3``; empty where it is the cell's only run.
        spec: of the run.
        members: the numbers of its members among those of all the cell's runs.
        parents: the runs that it starts from.
    """

    label: str
    spec: dict[str, Any]
    members: list[int]
    parents: tuple["RunShare", ...] = ()


@dataclass(frozen=True)
class Cell:
    """One cell of an experiment: its runs, and what is measured after them.

    Attributes:
        case: its case, or its place in the sweep if the experiment has no cases.
        label: both, so that no two cells of an experiment share it.
        spec: of one run of all its members.
        measures: what is computed after a run.
        parts: its runs: one of this spec, unless the ensemble is split.
        left_out: the axes of which values are not run so far: name, values run, values declared.
        point: its value of every axis of the sweep.
    """

    case: str
    label: str
    spec: dict[str, Any]
    measures: list[dict[str, Any]]
    parts: list[RunShare]
    left_out: list[tuple[str, int, int]]
    point: dict[str, Any] = field(default_factory=dict)


def why_not(
    axes: list[Axis], members_per_run: dict[str, int], run_first: dict[str, int]
) -> tuple[list[str], str] | None:
    """The mistake in a split, if there is one.

    Args:
        axes: of the ensemble, with all their values.
        members_per_run: how many values of an axis share a run.
        run_first: how many values of an axis are run.

    Returns:
        the place, and what is wrong and allowed there.
    """
    known = {path: axis for axis in axes for path in axis}
    for key, counts in zip(KEYS, (members_per_run, run_first), strict=True):
        for path in counts:
            if path not in known:
                problem = f"not an axis of the ensemble here; {nearest(path, list(known))}"
                return [key, path], f"{problem}; null takes it away"
            twin = next((other for other in known[path] if other in counts and other != path), None)
            if twin is not None:
                return [key, path], f"is joined with {twin}, which is named too; keep one of both"
    for path, number in run_first.items():
        place, values = ["run_first", path], len(known[path][path])
        together = _of(known[path], members_per_run)
        if together is None:
            problem = f"all values of {path} share a run; write members_per_run: {{{path}: 1}}"
            return place, f"{problem}, or null where a scale does not split"
        if number > values:
            problem = f"{number} are more than the ensemble has ({values}); write at most {values}"
            return place, f"{problem}, or null where a scale has fewer"
        if number % together and number < values:
            below = number - number % together
            ends = [end for end in (below, min(below + together, values)) if end]
            problem = f"cuts a run in two, as {together} values share one (members_per_run)"
            return place, f"{number} {problem}; write {' or '.join(map(str, ends))}"
    return None


def parts(
    spec: dict[str, Any], members_per_run: dict[str, int], run_first: dict[str, int]
) -> list[RunShare]:
    """The runs of a cell, in the order of their values; the arguments as for `why_not`.

    Args:
        spec: what one run of the whole ensemble has.
        members_per_run: see there.
        run_first: see there.
    """
    axes = [
        {path: values[: _of(axis, run_first)] for path, values in axis.items()}
        for axis in run_members.axes(spec)
    ]
    sizes = [len(next(iter(axis.values()))) for axis in axes]
    runs = [_runs(size, _of(axis, members_per_run)) for axis, size in zip(axes, sizes, strict=True)]
    indices = itertools.product(*map(range, sizes))
    numbers = {index: number for number, index in enumerate(indices)}
    shares = []
    for chosen in itertools.product(*runs):
        own = [
            {path: [values[k] for k in share] for path, values in axis.items()}
            for axis, share in zip(axes, chosen, strict=True)
        ]
        split_axes = (axis for axis, several in zip(own, runs, strict=True) if len(several) > 1)
        named = (f"{path}={_ends(ends)}" for axis in split_axes for path, ends in axis.items())
        members = [numbers[index] for index in itertools.product(*chosen)]
        block = run_members.block_of(own)
        shares.append(RunShare(", ".join(named), {**spec, "ensemble": block}, members))
    return shares


def left_out(axes: list[Axis], run_first: dict[str, int]) -> list[tuple[str, int, int]]:
    """Each axis of which values are left out so far, with how many are run and declared."""
    known = {path: values for axis in axes for path, values in axis.items()}
    counted = [(path, number, len(known[path])) for path, number in run_first.items()]
    return [(path, number, of) for path, number, of in counted if number < of]


def _of(axis: Axis, counts: dict[str, int]) -> int | None:
    """The number that is given for an axis, by the name of any of its paths."""
    return next((counts[path] for path in axis if path in counts), None)


def _runs(values: int, together: int | None) -> list[range]:
    """The places of an axis that share a run, for each run."""
    size = together or values
    return [range(first, min(first + size, values)) for first in range(0, values, size)]


def _ends(values: list[Any]) -> str:
    return str(values[0]) if len(values) == 1 else f"{values[0]}..{values[-1]}"
