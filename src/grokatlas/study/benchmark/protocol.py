"""The protocol, its tasks and a file of methods, as `config/benchmark` and a user write them."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from grokatlas import registry
from grokatlas.declare import strict_yaml
from grokatlas.declare.checked_types import Number, PositiveInt, WholeInt
from grokatlas.declare.model_base import Model, Name
from grokatlas.declare.models import Experiment
from grokatlas.declare.overlays import merged
from grokatlas.declare.signatures import signature
from grokatlas.declare.validation import check_file
from grokatlas.errors import MistakeError, UserError, check_known, closest, nearest
from grokatlas.results import dotted
from grokatlas.study import shipped

FOLDER = "config/benchmark"
REGULARISER = "regulariser"  # the path that means the knob of a task's own regulariser
# scale of a knob -> its value, from the number in the grid and the task's own value
SCALES = {
    "value": lambda number, own: number,
    "times": lambda number, own: number * own,
    "memory": lambda number, own: 1 - 1 / number,
}
Positive = Annotated[Number, Field(gt=0)]
Values = dict[Literal["times", "memory"], list[Positive]] | list[Positive]
Blocks = list[dict[str, Any]] | None


class Task(Model):
    """A task of the benchmark.

    Attributes:
        title: with network and regulariser.
        regulariser: the path of its regulariser's weight.
        experiment: without cases and seeds; its first measure has the time ``t2``.
    """

    title: str
    regulariser: str
    experiment: Experiment

    def at(self, scale: str) -> dict[str, Any]:
        """The experiment's blocks at a scale."""
        every = self.experiment.model_dump(mode="json", by_alias=True, exclude_unset=True)
        overlays = {name: every.pop(name, {}) for name in ("quick", "smoke")}
        for name in {"paper": [], "quick": ["quick"], "smoke": ["quick", "smoke"]}[scale]:
            every = merged(every, overlays[name])
        return every


class Changes(Model):
    """The blocks of a method; entries of a list stand before those that the task has."""

    penalties: Blocks = None
    gradients: Blocks = None
    updates: Blocks = None
    inputs: Blocks = None
    model: dict[str, Any] | None = None
    loss: dict[str, Any] | None = None
    optimizer: dict[str, Any] | None = None
    regulariser: Annotated[Number, Field(ge=0)] | None = Field(
        None, description="factor of the weight of the task's own regulariser; absent: 1"
    )
    vary: Annotated[dict[str, Values], Field(min_length=1, max_length=1)] | None = Field(
        None, description="the path of the knob and its values, ascending, or their `times`"
    )

    @model_validator(mode="after")
    def _ascending(self) -> "Changes":
        for path, values in (self.vary or {}).items():
            if isinstance(values, dict) and len(values) != 1:
                raise ValueError(f"`vary` {path}: give either times or memory")
            numbers = _numbers(values)
            if not numbers or sorted(set(numbers)) != numbers:
                raise ValueError(f"`vary` {path}: give values that ascend, each once")
        return self


class Method(Changes):
    """A method: its blocks, its knob, and what differs on some tasks."""

    title: str
    source: str
    tasks: dict[str, Changes | None] = Field(
        default={}, description="changes on a task; null: the method is not defined there"
    )

    def on(self, task: str) -> Changes | None:
        """The changes of the method on a task; None where it is not defined."""
        if task in self.tasks and self.tasks[task] is None:
            return None
        own = self.tasks.get(task)
        return Changes(
            **{
                name: getattr(own, name) if own and name in own.model_fields_set else value
                for name, value in self
                if name in Changes.model_fields
            }
        )


class Methods(Model):
    """A file of methods."""

    methods: Annotated[dict[Name, Method], Field(min_length=1)]


class Protocol(Model):
    """`protocol.yaml`; its comments say what each number is."""

    version: PositiveInt
    baseline: Name
    choose: WholeInt
    judge: Annotated[list[WholeInt], Field(min_length=2)]
    trials: PositiveInt
    extensions: WholeInt
    level: Number
    confidence: Number
    tasks: Annotated[dict[Name, Task], Field(min_length=1)]

    def chosen(self, names: str | None) -> list[str]:
        """The tasks that a list ``a,b`` names, in the protocol's order; all of them for None."""
        listed = names.split(",") if names is not None else [*self.tasks]
        for name in listed:
            check_known("--tasks", "no task", name, self.tasks)
        return [name for name in self.tasks if name in listed]

    def read(self, file: Path) -> dict[str, Method]:
        """The methods of a file, checked against this protocol; a `UserError` for a mistake."""
        methods: dict[str, Method] = check_file(Methods, strict_yaml.load(file), str(file)).methods
        for name, method in methods.items():
            place = f"{file}: methods.{name}"
            for task in self.tasks:
                changes = method.on(task)
                if changes and not changes.vary:
                    raise UserError(f"{place}.vary", "missing; give the knob and its values")
                for path, values in (changes.vary if changes and changes.vary else {}).items():
                    if len(_numbers(values)) != self.trials:
                        problem = f"{len(_numbers(values))} values; give {self.trials}, as all have"
                        raise UserError(f"{place}.vary.{path}", problem)
            for task in method.tasks:
                if task not in self.tasks:
                    problem = f"no task of the benchmark; {nearest(task, [*self.tasks])}"
                    raise UserError(f"{place}.tasks.{task}", problem)
        return methods


class Grid(Model):
    """A knob of a method on a task, and its numbers so far in the order in which they came."""

    path: str
    scale: str
    own: float
    added: tuple[float, ...]

    @property
    def numbers(self) -> list[float]:
        """The numbers, ascending."""
        return sorted(self.added)

    def value(self, number: float) -> float:
        """The value of the knob for a number of the grid, to ten digits."""
        return float(f"{SCALES[self.scale](number, self.own):.10g}")

    def further(self, number: float) -> "Grid":
        """The grid with the next number, by its ratio, if `number` is at one of its ends."""
        first, second, *_ = self.numbers
        *_, last, end = self.numbers
        more = {first: first * first / second, end: end * end / last}
        if number not in more:
            return self
        return self.model_copy(update={"added": (*self.added, float(f"{more[number]:.6g}"))})


def load() -> Protocol:
    """The protocol of this version."""
    file = shipped.part(FOLDER) / "protocol.yaml"
    protocol: Protocol = check_file(Protocol, strict_yaml.load(file), str(file))
    return protocol


def declared(task: Task, changes: Changes, scale: str) -> tuple[dict[str, Any], Grid]:
    """A task's blocks at a scale as a method changes them, and the grid of its knob.

    Raises:
        MistakeError: the knob has no value to multiply.
    """
    blocks, path, shift = task.at(scale), task.regulariser, 0
    factor = 1.0 if changes.regulariser is None else changes.regulariser
    entry, last = _entry(blocks, path)
    entry[last] *= factor
    content = changes.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    for name in ("penalties", "gradients", "updates", "inputs"):
        if own := content.get(name):
            blocks[name] = [*own, *blocks.get(name, [])]
            shift = len(own) if path.startswith(f"{name}.") else shift
    for name in ("model", "loss", "optimizer"):
        blocks[name] = _laid_over(name, blocks[name], content.get(name, {}))
    head, *rest = path.split(".")
    if shift:
        path = ".".join((head, str(int(rest[0]) + shift), *rest[1:]))
    ((knob, values),) = (changes.vary or {}).items()
    knob = path if knob == REGULARISER else knob
    scale_of = next(iter(values)) if isinstance(values, dict) else "value"
    own_value = _get(blocks, knob) if scale_of == "times" else 1.0
    grid = Grid(path=knob, scale=scale_of, own=own_value, added=tuple(_numbers(values)))
    entry, last = _entry(blocks, knob)
    entry.pop(last, None)  # an axis has it
    return blocks, grid


def _laid_over(block: str, own: dict[str, Any], over: dict[str, Any]) -> Any:
    """A method's component over the task's; one of another name takes what keywords both have."""
    name = over.get("name", own["name"])
    if isinstance(name, str) and name != own["name"] and registry.exists(block, name):
        known = signature(block, name).keywords
        own = {"name": name} | {key: value for key, value in own.items() if key in known}
    return merged(own, over)


def _numbers(values: Any) -> list[float]:
    listed = next(iter(values.values()), []) if isinstance(values, dict) else values
    return [float(number) for number in listed]


def _get(blocks: dict[str, Any], path: str) -> float:
    """A number in blocks; a `MistakeError` names the nearest one."""
    known = {key: n for key, n in dotted.flat(blocks).items() if isinstance(n, int | float)}
    if path not in known:
        hint = closest(path, [*known]) or "give values, without `times`"
        raise MistakeError(["vary", path], f"the task has no such number to multiply; {hint}")
    return float(known[path])


def _entry(blocks: dict[str, Any], path: str) -> tuple[dict[str, Any], str]:
    """The entry that holds a keyword, and the keyword; a `MistakeError` where there is none."""
    *keys, last = path.split(".")
    place: Any = blocks
    for key in keys:
        pairs = enumerate(place) if isinstance(place, list) else place.items()
        known = {str(name): inner for name, inner in pairs if isinstance(inner, dict | list)}
        if key not in known:
            raise MistakeError(["vary", path], f"no {key!r} is there; {nearest(key, [*known])}")
        place = known[key]
    if not isinstance(place, dict):
        raise MistakeError(["vary", path], "is no keyword of a component; name one")
    return place, last
