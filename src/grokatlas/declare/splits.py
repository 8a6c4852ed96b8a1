"""Which members of a cell share a run: what `split` and `so_far` say.

An ensemble is one run unless an axis of it is split: then so many values of that axis share one,
and the product of the parts of all split axes makes the runs. The spec of a run holds its own
values alone, as if nothing else were declared, so that a further value makes a further run and
leaves the others as they are.
"""

import itertools
from dataclasses import dataclass
from typing import Any

from grokatlas.errors import nearest

KEYS = ("split", "so_far")  # of a layer


@dataclass(frozen=True)
class Part:
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
    parents: tuple["Part", ...] = ()


def why_not(
    axes: dict[str, list[Any]], split: dict[str, int], so_far: dict[str, int]
) -> tuple[list[str], str] | None:
    """What is wrong with a split, if anything.

    Args:
        axes: of the ensemble, with all their values.
        split: how many values of an axis share a run.
        so_far: how many values of an axis are run.

    Returns:
        the place, and what is wrong and allowed there.
    """
    for key, given in zip(KEYS, (split, so_far), strict=True):
        for axis in given:
            if axis not in axes:
                problem = f"not an axis of the ensemble here; {nearest(axis, list(axes))}"
                return [key, axis], f"{problem}; null takes it away"
    for axis, number in so_far.items():
        place, values = ["so_far", axis], len(axes[axis])
        if axis not in split:
            problem = f"all values of {axis} share a run; write split: {{{axis}: 1}}"
            return place, f"{problem}, or null where a scale does not split"
        if number > values:
            problem = f"{number} are more than the ensemble has ({values}); write at most {values}"
            return place, f"{problem}, or null where a scale has fewer"
        if number % split[axis] and number < values:
            below = number - number % split[axis]
            ends = [end for end in (below, min(below + split[axis], values)) if end]
            problem = f"cuts a run in two, as {split[axis]} values share one (split)"
            return place, f"{number} {problem}; write {' or '.join(map(str, ends))}"
    return None


def parts(spec: dict[str, Any], split: dict[str, int], so_far: dict[str, int]) -> list[Part]:
    """The runs of a cell, in the order of their values; the arguments as for `why_not`.

    Args:
        spec: what one run of the whole ensemble has.
        split: see there.
        so_far: see there.
    """
    axes = {axis: values[: so_far.get(axis)] for axis, values in spec["ensemble"].items()}
    runs = {axis: _runs(len(values), split.get(axis)) for axis, values in axes.items()}
    places = itertools.product(*(range(len(values)) for values in axes.values()))
    numbers = {place: number for number, place in enumerate(places)}
    found = []
    for chosen in itertools.product(*runs.values()):
        own = {
            axis: [axes[axis][place] for place in places]
            for axis, places in zip(axes, chosen, strict=True)
        }
        label = ", ".join(f"{axis}={_ends(own[axis])}" for axis in axes if len(runs[axis]) > 1)
        members = [numbers[place] for place in itertools.product(*chosen)]
        found.append(Part(label, {**spec, "ensemble": own}, members))
    return found


def left_out(axes: dict[str, list[Any]], so_far: dict[str, int]) -> list[tuple[str, int, int]]:
    """Each axis of which values are left out so far, with how many are run and declared."""
    counted = [(axis, number, len(axes[axis])) for axis, number in so_far.items()]
    return [(axis, number, of) for axis, number, of in counted if number < of]


def _runs(values: int, together: int | None) -> list[range]:
    """The places of an axis that share a run, for each run."""
    size = together or values
    return [range(first, min(first + size, values)) for first in range(0, values, size)]


def _ends(values: list[Any]) -> str:
    return str(values[0]) if len(values) == 1 else f"{values[0]}..{values[-1]}"
