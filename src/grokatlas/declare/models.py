"""The models of a paper's YAML: frozen, unknown keys forbidden.

`settings.py` has the model of `config.yaml`, `papers.py` reads the files of a paper. Defaults of
the experiment's frame (`Train`, `Log`) are here; the keywords of a component have no defaults, so
that every number a run used is in its spec.
"""

import functools
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from grokatlas.declare.checked_types import Number, PositiveInt, WholeInt
from grokatlas.declare.claim_models import Claim
from grokatlas.declare.drawing import Curves
from grokatlas.declare.interpretations import Interpretation
from grokatlas.declare.model_base import Model, Name
from grokatlas.declare.prose import Deviation, Finding, Report

# files of a paper
PAPER, EXPERIMENTS, CLAIMS = "paper.yaml", "experiments.yaml", "claims.yaml"
DIGITISED_POINTS = "digitised_points.csv"
# keys of `Paper` that a file of their own has
OTHER_FILES = {"experiments": EXPERIMENTS, "claims": CLAIMS, "digitised_points": DIGITISED_POINTS}


class Log(Model):
    """The steps of logs or snapshots, with the last one: exactly one of `every` and `points`."""

    every: PositiveInt | None = Field(None, description="each multiple of this many steps")
    first: WholeInt = Field(0, description="and every step up to this one")
    points: Annotated[int, Field(ge=2)] | None = Field(
        None, description="or at this many steps, evenly spaced in log(1 + step)"
    )

    @model_validator(mode="after")
    def _one_schedule(self) -> "Log":
        if (self.every is None) == (self.points is None):
            raise ValueError("give exactly one of `every` and `points`")
        return self


class Level(Model):
    """The level that a column of `stop` has to reach: exactly one of `above` and `below`."""

    above: Number | None = Field(None, description="at least this value")
    below: Number | None = Field(None, description="at most this value")

    @model_validator(mode="after")
    def _one_side(self) -> "Level":
        if (self.above is None) == (self.below is None):
            raise ValueError("give exactly one of `above` and `below`")
        return self


Snapshots = list[WholeInt | Literal["initial", "final"]]
ENDS: Snapshots = ["initial", "final"]


class Train(Model):
    """Length, precision and logging of a training."""

    steps: PositiveInt = Field(description="parameter updates (never epochs)")
    batch_size: PositiveInt | None = Field(
        None, description="samples per update; absent: the full batch"
    )
    shuffle: bool | None = Field(
        None, description="whether each epoch has its own order of samples (with batch_size: true)"
    )
    dtype: Literal["float32", "float64"] = Field("float32", description="precision of the run")
    loss_dtype: Literal["float64"] | None = Field(
        None,
        description="`float64`: outputs and loss in that precision, all else in `dtype` (float32); "
        "absent: the run's",
    )
    log: Log = Field(default=Log(every=1), description="when observables are logged")
    snapshots: Snapshots | Log = Field(
        default=ENDS,
        description="steps whose parameters are kept: a list, or a schedule as `log` has it",
    )
    stop: Annotated[dict[str, Number | Level], Field(min_length=1)] | None = Field(
        None,
        description="columns and levels: a member stops at the first log where all are reached; "
        "a number is reached from below, as by an accuracy",
    )
    only: Annotated[list[str], Field(min_length=1)] | None = Field(
        None, description="names of the parameters that move (`*` stands for anything); absent: all"
    )
    coordinates: Literal["span"] | None = Field(
        None,
        description="`span`: the same training in the space of samples and first-layer weights",
    )

    @model_validator(mode="after")
    def _shuffle_minibatches(self) -> "Train":
        if self.batch_size is None and self.shuffle is not None:
            raise ValueError("`shuffle` says how minibatches are made; give batch_size as well")
        return self


class Source(Model):
    """Title and addresses of the paper."""

    title: str = Field(description="title of the paper")
    short: str | None = Field(None, description="the title in a menu; absent: the folder's name")
    arxiv: str | None = Field(
        None, description="arXiv number, as text; absent: figures of this project's own"
    )
    authors: str | None = Field(None, description="its authors")
    code: str | None = Field(None, description="repository of the authors, as owner/name")


class Plate(Model):
    """The question of a figure of this project's own, its prediction and its answer."""

    number: PositiveInt | None = Field(None, description="its number as a plate")
    question: str = Field(description="what the figure is to decide")
    prediction: str = Field(description="what was expected, written down before the first run")
    answer: str | None = Field(None, description="what the runs said; absent: not run in full yet")
    limits: str = Field(description="what a reader may not conclude")


class Figure(Model):
    """A figure: the tables it draws and its caption."""

    experiments: Annotated[list[str], Field(min_length=1)] = Field(
        description="whose tables it draws; `paper/experiment` for one of another paper"
    )
    title: str | None = Field(None, description="what it shows, in a few words without its number")
    caption: str = Field(description="what the figure shows, for its page and the report")
    draw: Literal["curves"] | Curves | None = Field(
        None,
        description="`curves`, or a block of that name: curves against steps without code of their "
        "own; absent: drawn by a function",
    )
    published: dict[str, Any] = Field(
        default={},
        description="what the paper prints there, each number once: its function and the `cell` of "
        "a claim read it by name",
    )
    quick_note: str | None = Field(
        None,
        description="what it does not show at the scales smoke and quick, whose sizes are too "
        "small for it: a sentence that the figure says at its bottom there",
    )
    undrawn: list[str] = Field(
        default=[],
        description="cases that it leaves out on purpose, of several experiments as "
        "`experiment/case`. It names others at its bottom; in a study these are an error",
    )
    plate: Plate | None = Field(
        None, description="of a figure that no paper has: its question and its answer"
    )
    as_: Name | None = Field(
        None,
        alias="as",
        description="in a version of another paper: drawn as this figure of that paper, from its "
        "tables unless `experiments` names others",
    )


class DigitisedPoint(Model):
    """A point of a published curve, as it was read off the picture."""

    figure: str
    panel: str
    curve: str
    x: Annotated[Number, Field(strict=False)]
    y: Annotated[Number, Field(strict=False)]
    uncertainty: str
    source: str


class Overrides(Model):
    """An overlay of an experiment: any block, whole or in part."""

    RENAMED: ClassVar = {"split": "members_per_run", "so_far": "run_first"}
    GONE: ClassVar = {
        "watch": "nothing stops a run that goes wrong; `train.stop` ends members at a level, and "
        "`grokatlas status` counts those that are not finite"
    }

    task: dict[str, Any] | None = Field(None, description="what is learnt: data and labels")
    model: dict[str, Any] | None = Field(None, description="the network")
    loss: dict[str, Any] | None = Field(None, description="of one batch")
    optimizer: dict[str, Any] | None = Field(
        None, description="how a gradient moves the parameters"
    )
    dynamics: dict[str, Any] | None = Field(
        None, description="how a state moves; gradient_training where absent"
    )
    penalties: list[dict[str, Any]] | None = Field(None, description="terms added to the loss")
    gradients: list[dict[str, Any]] | None = Field(
        None, description="chain applied to the gradient, in this order"
    )
    updates: list[dict[str, Any]] | None = Field(
        None, description="chain applied to the step of the optimizer, in this order"
    )
    inputs: list[dict[str, Any]] | None = Field(
        None, description="changes of a batch before the model"
    )
    observables: list[dict[str, Any]] | None = Field(
        None, description="what is logged during a run"
    )
    measures: list[dict[str, Any]] | None = Field(None, description="what is computed after a run")
    train: dict[str, Any] | None = Field(None, description="how long, how precise, what is kept")
    start: dict[str, Any] | None = Field(None, description="the snapshot that members start from")
    import_: dict[str, Any] | None = Field(
        None, alias="import", description="logs of other hands, in place of task and training"
    )
    script: dict[str, Any] | None = Field(
        None, description="a program that trains, in place of task and training"
    )
    ensemble: dict[str, Any] | None = Field(
        None,
        description="axes vectorised inside one run: `seed`, any number of a component, `zip`",
    )
    members_per_run: dict[str, PositiveInt | None] | None = Field(
        None, description="how many values of an axis of `ensemble` share a run; absent: all"
    )
    run_first: dict[str, PositiveInt | None] | None = Field(
        None, description="of a split axis: how many of its values are run; absent: all"
    )
    sweep: dict[str, list[Any]] | None = Field(
        None, description="axes whose product makes separate runs"
    )

    @classmethod
    def blocks(cls) -> list[str]:
        """The keys of an overlay, as a YAML has them."""
        return [field.alias or name for name, field in Overrides.model_fields.items()]

    def content(self) -> dict[str, Any]:
        """The keys that are set, null or not, with their values."""
        fields = Overrides.model_fields.items()
        return {f.alias or n: getattr(self, n) for n, f in fields if n in self.model_fields_set}


class Overlay(Overrides):
    """An overlay with its overrides for the smaller scales (`smoke` comes on top of `quick`)."""

    quick: Overrides | None = Field(None, description="overrides at the scales quick and smoke")
    smoke: Overrides | None = Field(None, description="overrides at the scale smoke")


class Experiment(Overlay):
    """A named set of runs."""

    about: str | None = Field(None, description="one sentence for readers")
    as_: Name | None = Field(
        None,
        alias="as",
        description="as this experiment, which is above it in the file (in a version of another "
        "paper: as this one of that paper), but for the keys given here",
    )
    cases: Annotated[dict[Name, Overlay], Field(min_length=1)] | None = Field(
        None, description="explicit cells, each an overlay of its own"
    )

    @functools.cached_property
    def starts_from(self) -> frozenset[str]:
        """The experiments from which its cells start, unchecked."""
        return frozenset(_started(self.model_dump(exclude_unset=True)))


def _started(block: Any) -> Iterator[str]:
    if not isinstance(block, dict):
        return
    for key, value in block.items():
        if key == "start" and isinstance(value, dict) and isinstance(value.get("experiment"), str):
            yield value["experiment"]
        elif key == "start.experiment" and isinstance(value, list):  # an axis of a sweep
            yield from (each for each in value if isinstance(each, str))
        else:
            yield from _started(value)


class Paper(Model):
    """One folder of `config/papers/`: its files put together, references filled in."""

    RENAMED: ClassVar = {"other_readings": "interpretations"}

    version_of: Name | None = Field(
        None,
        description="an earlier or later version of the same work, whose figures, experiments and "
        "claims this one may repeat by `as`",
    )
    source: Source = Field(description="where the paper is to be found")
    deviations: list[Deviation] = Field(
        default=[], description="where paper and code disagree or are silent, and what we do"
    )
    interpretations: dict[Name, Interpretation] = Field(
        default={}, description="how else it can be read, as far as that is run"
    )
    defaults: Overlay = Field(
        default=Overlay(), description="blocks that every experiment starts from"
    )
    experiments: dict[Name, Experiment] = Field(default={}, description="named sets of runs")
    figures: Annotated[dict[Name, Figure], Field(min_length=1)] = Field(
        description="what is drawn, by the name of the function's file"
    )
    findings: list[Finding] = Field(default=[], description="results, for the first page")
    report: Report | None = Field(
        None, description="texts of the report that `grokatlas report` writes"
    )
    claims: list[Claim] = Field(default=[], description="its statements, as numbers to check")
    digitised_points: list[DigitisedPoint] = Field(
        default=[], description="points of its published curves"
    )

    @model_validator(mode="after")
    def _figures_of_findings(self) -> "Paper":
        for finding in self.findings:
            if finding.figure not in self.figures:
                raise ValueError(f"`findings` {finding.number}: no figure {finding.figure!r}")
        return self


def label(paper: str, file: str) -> str:
    """The name of a paper's file in errors."""
    return f"papers/{paper}/{file}"
