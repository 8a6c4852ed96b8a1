"""Runs that start from a snapshot of others: what ``start`` of an overlay says, and what it asks.

The spec of such a run, a child, names the runs that it starts from, its parents, by their ids. So
it changes with their specs, and not with the names of experiments. A parent's spec says at which
steps the state of its optimizer is kept (``train.optimizer_states``) where a child asks for it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import Field

from grokatlas.declare import overlays
from grokatlas.declare.checked_types import WholeInt
from grokatlas.declare.model_base import Model, Name
from grokatlas.declare.models import Experiment, Paper
from grokatlas.declare.run_shares import Cell, RunShare
from grokatlas.declare.validation import check_block
from grokatlas.engine import members
from grokatlas.errors import MistakeError, nearest, shown
from grokatlas.results import hashing
from grokatlas.results.ancestry import ancestors

END: Literal["end"] = "end"


class Start(Model):
    """The snapshot of other runs that the members of a run start from."""

    experiment: Name = Field(description="of the same paper, whose runs it starts from")
    case: Name | None = Field(None, description="of that experiment; absent: it has no cases")
    step: WholeInt | Literal["end"] = Field(
        END, description="of a snapshot; `end`: the last step, of a stopped member its own"
    )
    optimizer: Literal["kept", "fresh"] = Field(
        "fresh", description="`kept`: goes on with the state that the optimizer had there"
    )

    @property
    def place(self) -> str:
        """The experiment, and the case if it has some."""
        return place(self.experiment, self.case)


@dataclass(frozen=True)
class Family:
    """A paper at a scale, of which cells are parents of others.

    Attributes:
        paper_name: its name.
        paper: what it declares.
        scale: smoke, quick or paper.
        cells: of an experiment's case; with the cases that start from it, for a circle.
    """

    paper_name: str
    paper: Paper
    scale: str
    cells: Callable[["Family", str, str | None, tuple[str, ...]], list[Cell]]

    def with_states(self, name: str, case: str | None, cell: Cell) -> Cell:
        """A cell whose runs keep the state of the optimizer at the steps that children ask for."""
        asked = [entry.get("step", END) for entry in self._starts() if _asks(entry, name, case)]
        train = cell.spec["train"]
        numbers = [train["steps"] if step == END else step for step in asked]
        steps = sorted(step for step in {*train["snapshots"]} if step in numbers)
        if not steps or "optimizer" not in cell.spec:
            return cell

        def changed(spec: dict[str, Any]) -> dict[str, Any]:
            return {**spec, "train": {**spec["train"], "optimizer_states": steps}}

        parts = [replace(part, spec=changed(part.spec)) for part in cell.parts]
        return replace(cell, spec=changed(cell.spec), parts=parts)

    def linked(
        self, cell: Cell, where: overlays.Overlays, block: dict[str, Any], behind: tuple[str, ...]
    ) -> Cell:
        """A cell whose runs start from others.

        Args:
            cell: as it is without.
            where: its overlays.
            block: what ``start`` says.
            behind: the cases that start from it, and itself at the end.

        Raises:
            UserError: there is nothing to start from, or it does not fit.
        """
        try:
            start: Start = check_block(Start, block)
        except MistakeError as mistake:
            raise where.error(["start", *mistake.path], mistake.problem) from None
        self._check_named(start, where, behind)
        parents = self.cells(self, start.experiment, start.case, behind)
        parent = _of_same_point(start, cell, parents, where)
        if "train" not in parent.spec:
            why = f"{start.place} is not trained by the engine, so that it has no snapshots"
            raise where.error(["start"], f"{why}; name another experiment")
        step = start.step if isinstance(start.step, int) else parent.spec["train"]["steps"]
        if problem := _why_not(start, step, cell.spec, parent.spec):
            raise where.error(["start", *problem[0]], problem[1])
        parts = [_linked(start, step, part, parent, where) for part in cell.parts]
        runs = dict.fromkeys(run for part in parts for run in part.spec["start"]["runs"])
        spec = {**cell.spec, "start": {**parts[0].spec["start"], "runs": [*runs]}}
        return replace(cell, spec=spec, parts=parts)

    def _check_named(self, start: Start, where: overlays.Overlays, behind: tuple[str, ...]) -> None:
        experiments = self.paper.experiments
        if start.experiment not in experiments:
            hint = nearest(start.experiment, [*experiments])
            raise where.error(["start", "experiment"], f"no such experiment here; {hint}")
        cases = [*(experiments[start.experiment].cases or {})]
        if start.case is not None and start.case not in cases:
            problem = f"{start.experiment} has no such case; {nearest(start.case, cases)}"
            raise where.error(["start", "case"], problem)
        if cases and start.case is None:
            problem = f"{start.experiment} has cases; give one: case: {' or '.join(cases)}"
            raise where.error(["start"], problem)
        if start.place in behind:
            circle = " -> ".join((*behind[behind.index(start.place) :], start.place))
            problem = f"a run cannot start from itself ({circle}); name another experiment"
            raise where.error(["start"], problem)

    def _starts(self) -> Iterator[dict[str, Any]]:
        """The block ``start`` of every cell of the paper, unchecked."""
        for name, experiment in self.paper.experiments.items():
            if not (experiment.starts_from or "start" in self.paper.defaults.model_fields_set):
                continue
            for case in experiment.cases or [None]:
                merged = overlays.of(self.paper_name, self.paper, name, case, self.scale)
                for _, _, values in merged.points():
                    if isinstance(values.get("start"), dict):
                        yield values["start"]


def place(name: str, case: str | None) -> str:
    """An experiment and its case, as errors name them."""
    return name if case is None else f"{name}.{case}"


def related(experiments: dict[str, Experiment], names: Iterable[str]) -> set[str]:
    """Some experiments with all that they start from, and all that start from these.

    A child may ask its parent for the state of the optimizer, so that the parent's runs are other
    ones without it.
    """
    near = {name: each.starts_from & experiments.keys() for name, each in experiments.items()}
    for name, experiment in experiments.items():
        for other in experiment.starts_from & experiments.keys():
            near[other] = near[other] | {name}
    return set(ancestors(names, lambda name: sorted(near.get(name, ()))))


def behind(experiments: dict[str, Experiment], name: str) -> set[str]:
    """The other experiments that cells of an experiment start from, directly or not."""
    known = experiments.keys()
    named = ancestors([name], lambda each: sorted(experiments[each].starts_from & known))
    return set(named) - {name}


def _asks(entry: dict[str, Any], name: str, case: str | None) -> bool:
    """True if a cell asks for the state of the optimizer of a case."""
    asked = (entry.get("experiment"), entry.get("case"), entry.get("optimizer"))
    return asked == (name, case, "kept")


def _of_same_point(start: Start, cell: Cell, parents: list[Cell], where: overlays.Overlays) -> Cell:
    """The parent with the value of every axis of the sweep that both have."""
    same = [
        parent
        for parent in parents
        if all(cell.point[axis] == parent.point[axis] for axis in cell.point.keys() & parent.point)
    ]
    if not same:
        axis, value = next(
            (axis, value)
            for axis, value in cell.point.items()
            if axis in parents[0].point and all(parent.point[axis] != value for parent in parents)
        )
        values = ", ".join(dict.fromkeys(shown(parent.point[axis]) for parent in parents))
        problem = f"{start.place} has no run with {axis} {shown(value)}; it has {values}"
        raise where.error(["start"], f"{problem}: add it there")
    if len(same) > 1:
        axes = sorted(same[0].point.keys() - cell.point.keys())
        problem = f"{start.place} is a run for each {', '.join(axes)}, and one is to be chosen"
        raise where.error(["start"], f"{problem}; give the axis in `sweep` here too")
    return same[0]


def _why_not(
    start: Start, step: int, child: dict[str, Any], parent: dict[str, Any]
) -> tuple[list[str], str] | None:
    """The place below ``start`` of what does not fit, and what it is."""
    train, there = child["train"], parent["train"]
    if "coordinates" in train:
        return [], "the run trains in coordinates of its own (train.coordinates); remove these"
    if step not in there["snapshots"]:
        taken = ", ".join(map(str, there["snapshots"])) or "none"
        problem = f"{start.place} has no snapshot at step {step} (it has {taken})"
        return ["step"], f"{problem}; add {step} to its train.snapshots"
    if train["dtype"] != there["dtype"]:
        problem = f"{start.place} is in {there['dtype']}, and this run in {train['dtype']}"
        return [], f"{problem}; give both one train.dtype"
    if start.optimizer == "kept":
        own, its = ((spec.get("optimizer") or {}).get("name") for spec in (child, parent))
        if own != its or own is None:
            problem = f"{start.place} has optimizer {its or 'none'}, and this run {own or 'none'}"
            return ["optimizer"], f"{problem}; give both the same one, or write fresh"
    return None


def _linked(
    start: Start, step: int, part: RunShare, parent: Cell, where: overlays.Overlays
) -> RunShare:
    """A run of a cell, with the runs of the parent that it starts from."""
    origins = members.origins(part.spec, [each.spec for each in parent.parts])
    own, its = ({*members.paths(spec)} for spec in (part.spec, parent.spec))
    axes = own & its
    for member, of_member in zip(members.of(part.spec), origins, strict=True):
        if not of_member:
            raise where.error(["start"], _no_member(start, member, sorted(axes)))
    if any(len(of_member) > 1 for of_member in origins):
        more = sorted(its - axes)
        problem = f"the members of {start.place} differ in {', '.join(more)}, and one is to be"
        raise where.error(["start"], f"{problem} chosen; give the axis in `ensemble` here too")
    used = sorted({run for ((run, _),) in origins})
    parents = tuple(parent.parts[run] for run in used)
    runs = [hashing.of(each.spec)[:12] for each in parents]
    block = {"runs": runs, "step": step, "optimizer": start.optimizer}
    return replace(part, spec={**part.spec, "start": block}, parents=parents)


def _no_member(start: Start, member: dict[str, Any], axes: list[str]) -> str:
    values = ", ".join(f"{axis} {shown(member[axis])}" for axis in axes)
    return f"{start.place} has no member with {values}; give both the same values, or more there"
