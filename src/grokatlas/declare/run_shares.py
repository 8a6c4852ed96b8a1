"""The members of a cell that share a run, by `members_per_run` and `run_first`.

An ensemble is one run unless an axis of it is split: then so many values of that axis share one,
and the product of the parts of all split axes makes the runs. The spec of a run holds its own
values alone, as if nothing else were declared, so that a further value makes a further run and
leaves the others as they are.
"""

import itertools
from dataclasses import dataclass
from typing import Any

from grokatlas.errors import nearest

KEYS = ("members_per_run", "run_first")  # of an overlay


@dataclass(frozen=True)
class RunShare:
    """One run of a cell.

    Attributes:
        label: which values are its own, such as ``seed=3``; empty where it is the cell's only run.
        spec: of the run.
        members: the numbers of its members among those of all the cell's runs.
    """

    label: str
    spec: dict[str, Any]
    members: list[int]


def why_not(
    axes: dict[str, list[Any]], members_per_run: dict[str, int], run_first: dict[str, int]
) -> tuple[list[str], str] | None:
    """The mistake in a split, if there is one: its place, and what is wrong and allowed there."""
    for key, given in zip(KEYS, (members_per_run, run_first), strict=True):
        for axis in given:
            if axis not in axes:
                problem = f"not an axis of the ensemble here; {nearest(axis, list(axes))}"
                return [key, axis], f"{problem}; null takes it away"
    for axis, number in run_first.items():
        place, values = ["run_first", axis], len(axes[axis])
        if axis not in members_per_run:
            problem = f"all values of {axis} share a run; write members_per_run: {{{axis}: 1}}"
            return place, f"{problem}, or null where a scale does not split"
        if number > values:
            problem = f"{number} are more than the ensemble has ({values}); write at most {values}"
            return place, f"{problem}, or null where a scale has fewer"
        if number % members_per_run[axis] and number < values:
            below = number - number % members_per_run[axis]
            ends = [end for end in (below, min(below + members_per_run[axis], values)) if end]
            problem = (
                f"cuts a run in two, as {members_per_run[axis]} values share one (members_per_run)"
            )
            return place, f"{number} {problem}; write {' or '.join(map(str, ends))}"
    return None


def parts(
    spec: dict[str, Any], members_per_run: dict[str, int], run_first: dict[str, int]
) -> list[RunShare]:
    """The runs of a cell, in the order of their values; `spec` is that of all members together."""
    axes = {axis: values[: run_first.get(axis)] for axis, values in spec["ensemble"].items()}
    runs = {axis: _runs(len(values), members_per_run.get(axis)) for axis, values in axes.items()}
    places = itertools.product(*(range(len(values)) for values in axes.values()))
    numbers = {place: number for number, place in enumerate(places)}
    shares = []
    for chosen in itertools.product(*runs.values()):
        own = {
            axis: [axes[axis][place] for place in places]
            for axis, places in zip(axes, chosen, strict=True)
        }
        label = ", ".join(f"{axis}={_ends(own[axis])}" for axis in axes if len(runs[axis]) > 1)
        members = [numbers[place] for place in itertools.product(*chosen)]
        shares.append(RunShare(label, {**spec, "ensemble": own}, members))
    return shares


def left_out(axes: dict[str, list[Any]], run_first: dict[str, int]) -> list[tuple[str, int, int]]:
    """Each axis of which values are left out so far, with how many are run and declared."""
    counted = [(axis, number, len(axes[axis])) for axis, number in run_first.items()]
    return [(axis, number, of) for axis, number, of in counted if number < of]


def _runs(values: int, together: int | None) -> list[range]:
    """The places of an axis that share a run, for each run."""
    size = together or values
    return [range(first, min(first + size, values)) for first in range(0, values, size)]


def _ends(values: list[Any]) -> str:
    return str(values[0]) if len(values) == 1 else f"{values[0]}..{values[-1]}"
