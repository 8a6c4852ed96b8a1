"""What a YAML may say: the models behind `config/`, frozen, unknown keys forbidden.

Only this module, `layers.py`, `cells.py` and `plan.py` know the YAML. Defaults of the experiment's
frame (`Train`, `Log`) live here; the keywords of a component have no defaults, so that every number
a run used is in its spec.
"""

import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from grokatlas.declare import strict_yaml
from grokatlas.declare.checked_types import Number, PositiveInt, WholeInt
from grokatlas.declare.validation import check_block
from grokatlas.errors import MistakeError, UserError, nearest

SCALES = ("smoke", "quick", "paper")
NAME = "^[a-z][a-z0-9_]*$"  # of papers, experiments, cases and figures: they become file names

_Name = Annotated[str, Field(pattern=NAME)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Log(_Model):
    """When the loop writes a row of the history: exactly one of `every` and `points`."""

    every: PositiveInt | None = Field(None, description="log every this many steps")
    first: WholeInt = Field(0, description="and every step up to this one")
    points: Annotated[int, Field(ge=2)] | None = Field(
        None, description="or at this many steps, evenly spaced in log(1 + step)"
    )

    @model_validator(mode="after")
    def _one_schedule(self) -> "Log":
        if (self.every is None) == (self.points is None):
            raise ValueError("give exactly one of `every` and `points`")
        return self


class Level(_Model):
    """What a column of `stop` has to reach: exactly one of `above` and `below`."""

    above: Number | None = Field(None, description="at least this value")
    below: Number | None = Field(None, description="at most this value")

    @model_validator(mode="after")
    def _one_side(self) -> "Level":
        if (self.above is None) == (self.below is None):
            raise ValueError("give exactly one of `above` and `below`")
        return self


class Train(_Model):
    """How long, in what precision, and what is kept."""

    steps: PositiveInt = Field(description="parameter updates (never epochs)")
    batch_size: PositiveInt | None = Field(
        None, description="samples per update; absent: the full batch"
    )
    shuffle: bool | None = Field(
        None, description="whether each epoch has its own order of samples (with batch_size: true)"
    )
    dtype: Literal["float32", "float64"] = Field("float32", description="precision of the run")
    log: Log = Field(default=Log(every=1), description="when observables are logged")
    snapshots: list[WholeInt | Literal["initial", "final"]] = Field(
        default=["initial", "final"], description="steps whose parameters are kept"
    )
    stop: Annotated[dict[str, Number | Level], Field(min_length=1)] | None = Field(
        None,
        description="columns and levels: a member stops at the first log where all are reached; "
        "a number is reached from below, as by an accuracy",
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


class Deviation(_Model):
    """A place where paper and code disagree or are silent."""

    where: str = Field(description="figure or section of the paper")
    paper: str = Field(description="what the paper says")
    ours: str = Field(description="what we do")
    why: str = Field(description="the reason")
    code: str | None = Field(None, description="what the authors' code does, if there is any")
    claims: list[str] = Field(
        default=[], description="ids of claims on one setting and on the other: its measured effect"
    )


class Source(_Model):
    """Where the paper is to be found."""

    title: str = Field(description="title of the paper")
    arxiv: str = Field(description="arXiv number, as text")
    authors: str | None = Field(None, description="its authors")
    code: str | None = Field(None, description="repository of the authors, as owner/name")


class Figure(_Model):
    """A figure: the tables it draws and its caption."""

    experiments: Annotated[list[str], Field(min_length=1)] = Field(
        description="whose tables it draws"
    )
    caption: str = Field(description="what the figure shows, for its page and the report")


class Claim(_Model):
    """A published statement, the number that it becomes, and the interval that it should be in."""

    id: str = Field(description="such as G1 or G1b; no two of a paper are equal")
    statement: str = Field(description="what the paper says, in a sentence")
    place: str = Field(description="where the paper says it")
    source: Literal["text", "figure", "derived"] = Field(
        description="stated in the text, read off a figure, or following from its equations"
    )
    published: str = Field(description="the paper's own number, as it is printed there")
    figure: _Name = Field(description="the figure whose tables hold it")
    value: _Name = Field(
        description="function of `papers/<paper>/claims.py`: from tables to a number for each seed"
    )
    keywords: dict[_Name, str | int | float] = Field(
        default={}, description="further arguments of that function"
    )
    unit: str = Field("", description="of the value; empty for a plain number")
    expected: list[float | None] = Field(
        description="lowest and highest value, both included; null: no limit"
    )
    spread: float | None = Field(None, description="published standard deviation")
    judged: Literal["each", "mean", "median"] = Field(
        "each", description="what has to be in the interval: every seed's value, or their middle"
    )
    seeds: PositiveInt = Field(1, description="values that a full verdict needs")
    scales: Annotated[list[Literal["quick", "paper"]], Field(min_length=1)] = Field(
        default=["paper"], description="where the statement can be judged"
    )

    @model_validator(mode="after")
    def _number_and_interval(self) -> "Claim":
        if not re.fullmatch("[A-Z]+[0-9]+[a-z]?", self.id):
            raise ValueError(f"{self.id!r} is no id of a claim: capitals and a number, such as G1")
        if len(self.expected) != 2:
            raise ValueError("`expected` must be two values: [lowest, highest]")
        low, high = self.expected
        if low is None and high is None:
            raise ValueError("`expected` has no limit; give a lowest or a highest value")
        if low is not None and high is not None and low > high:
            raise ValueError(f"`expected` is upside down: {low:g} is above {high:g}")
        return self


class Overrides(_Model):
    """A layer of an experiment: any block, whole or in part."""

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
    inputs: list[dict[str, Any]] | None = Field(
        None, description="changes of a batch before the model"
    )
    observables: list[dict[str, Any]] | None = Field(
        None, description="what is logged during a run"
    )
    measures: list[dict[str, Any]] | None = Field(None, description="what is computed after a run")
    train: dict[str, Any] | None = Field(None, description="how long, how precise, what is kept")
    ensemble: dict[str, Any] | None = Field(
        None, description="axes vectorised inside one run: `seed` and any number of a component"
    )
    sweep: dict[str, list[Any]] | None = Field(
        None, description="axes whose product makes separate runs"
    )


class Layer(Overrides):
    """A layer with its overrides for the smaller scales (`smoke` comes on top of `quick`)."""

    quick: Overrides | None = Field(None, description="overrides at the scales quick and smoke")
    smoke: Overrides | None = Field(None, description="overrides at the scale smoke")


class Experiment(Layer):
    """A named set of runs."""

    about: str | None = Field(None, description="one sentence for readers")
    cases: Annotated[dict[_Name, Layer], Field(min_length=1)] | None = Field(
        None, description="explicit cells, each a layer of its own"
    )


class Paper(_Model):
    """One file of `config/papers/`."""

    source: Source = Field(description="where the paper is to be found")
    deviations: list[Deviation] = Field(
        default=[], description="where paper and code disagree or are silent, and what we do"
    )
    defaults: Layer = Field(default=Layer(), description="blocks that every experiment starts from")
    experiments: Annotated[dict[_Name, Experiment], Field(min_length=1)] = Field(
        description="named sets of runs"
    )
    figures: Annotated[dict[_Name, Figure], Field(min_length=1)] = Field(
        description="what is drawn, by the name of the function's file"
    )
    claims: list[Claim] = Field(default=[], description="its statements, as numbers to check")


class Settings(_Model):
    """`config/config.yaml`: what a user changes between two runs."""

    scale: Literal["smoke", "quick", "paper"] = Field("quick", description="size of every run")
    papers: Literal["all"] | Annotated[list[str], Field(min_length=1)] = Field(
        "all", description="papers to redraw, or all"
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="auto takes a GPU where there is one"
    )
    data_dir: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description="folder with image files, looked at before they are fetched; null: where the "
        "environment variable GROKATLAS_DATA points, if it is set",
    )
    run_store: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description="folder of finished runs, shared between checkouts and users, looked up before "
        "anything is trained (docs/run-store.md); null: where the environment variable "
        "GROKATLAS_RUN_STORE points, if it is set",
    )
    results: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description="folder on another disk that holds what is made: the folders of `results` "
        "become links into it (docs/cluster.md); null: they are folders",
    )


def load_settings(
    path: Path, overrides: dict[str, Any], sources: dict[str, str] | None = None
) -> Settings:
    """`config.yaml` with what the command line overrides.

    Args:
        path: the file.
        overrides: keys that the command line sets.
        sources: where each of them is set, for errors.

    Raises:
        UserError: on an unknown key or a value that is not allowed.
    """
    data = strict_yaml.load(path, path.name)
    if not isinstance(data, dict):
        raise UserError(path.name, "must be a block of keys such as `scale: quick`")
    try:
        settings: Settings = check_block(Settings, {**data, **overrides})
    except MistakeError as mistake:
        known = dict.fromkeys(overrides, "--config") | (sources or {})
        label = known.get(mistake.path[0], path.name)
        raise at(label, mistake) from None
    return settings


def home_expanded(folder: str) -> Path:
    """A folder of the settings with its ``~`` expanded; that of an unknown user is unchanged."""
    return Path(os.path.expanduser(folder))  # noqa: PTH111 (that of Path raises then)


def load_papers(
    folder: Path, selection: Literal["all"] | list[str], place: str = "config.yaml: papers"
) -> dict[str, Paper]:
    """The selected papers of `config/papers/`, by name.

    Args:
        folder: of the papers' files.
        selection: their names, or all.
        place: of the selection, for errors.

    Raises:
        UserError: for an unknown paper or a malformed file.
    """
    files = sorted(file for file in folder.glob("*.y*ml") if not file.name.startswith("."))
    for file in files:
        if file.suffix != ".yaml" or not re.fullmatch(NAME, file.stem):
            problem = "is not a name for a paper: use a-z, 0-9 and _, a letter first, then .yaml"
            raise UserError(f"papers/{file.name}", problem)
    available = [file.stem for file in files]
    if not available:
        raise UserError("papers", f"no paper in {folder}; add one such as geometry.yaml")
    chosen = available if selection == "all" else selection
    papers: dict[str, Paper] = {}
    for position, name in enumerate(chosen):
        if name not in available:
            raise UserError(f"{place}.{position}", f"no paper {name!r}; {nearest(name, available)}")
        if name in papers:
            raise UserError(f"{place}.{position}", f"{name!r} is listed twice; remove one")
        label = f"papers/{name}.yaml"
        data = strict_yaml.load(folder / f"{name}.yaml", label)
        try:
            papers[name] = check_block(Paper, data)
        except MistakeError as mistake:
            raise at(label, mistake) from None
    return papers


def at(label: str, mistake: MistakeError) -> UserError:
    """A mistake inside a file, with its place."""
    path = ".".join(mistake.path)
    return UserError(f"{label}: {path}" if path else label, mistake.problem)
