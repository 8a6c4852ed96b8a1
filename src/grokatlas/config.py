"""What a YAML may say: the models behind `config/`, frozen, unknown keys forbidden.

Only this module and `plan.py` know the YAML. Defaults of the experiment's frame (`Train`, `Log`)
live here; the keywords of a component have no defaults, so that every number a run used stands in
its spec.
"""

import ast
import functools
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from grokatlas import signatures, strict_yaml
from grokatlas.errors import UserError, nearest

SCALES = ("smoke", "quick", "paper")

_Finite = Field(allow_inf_nan=False)
_PositiveInt = Annotated[int, Field(ge=1)]
_WholeInt = Annotated[int, Field(ge=0)]
_Number = Annotated[float, _Finite]

# the names of kinds.py (and the plain ones) as validated types
KINDS: dict[str, Any] = {
    "float": _Number,
    "int": int,
    "bool": bool,
    "str": str,
    "None": None,
    "Positive": Annotated[float, Field(gt=0, allow_inf_nan=False)],
    "NonNegative": Annotated[float, Field(ge=0, allow_inf_nan=False)],
    "Fraction": Annotated[float, Field(gt=0, lt=1)],
    "Unit": Annotated[float, Field(ge=0, le=1)],
    "Count": _PositiveInt,
    "Whole": _WholeInt,
    "Vector": Annotated[list[_Number], Field(min_length=1)],
    "Counts": Annotated[list[_PositiveInt], Field(min_length=1)],
    "Seed": _WholeInt | Literal["member"],
}
# a keyword of one of these types may differ from member to member: it changes no shape
MEMBER_KINDS = {"float", "Positive", "NonNegative", "Fraction", "Unit", "Vector"}


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Log(_Model):
    """When the loop writes a row of the history: exactly one of `every` and `points`."""

    every: _PositiveInt | None = Field(None, description="log every this many steps")
    first: _WholeInt = Field(0, description="and every step up to this one")
    points: Annotated[int, Field(ge=2)] | None = Field(
        None, description="or at this many steps, evenly spaced in log(1 + step)"
    )

    @model_validator(mode="after")
    def _one_schedule(self) -> "Log":
        if (self.every is None) == (self.points is None):
            raise ValueError("give exactly one of `every` and `points`")
        return self


class Train(_Model):
    """How long, in what precision, and what is kept."""

    steps: _PositiveInt = Field(description="parameter updates (never epochs)")
    batch_size: _PositiveInt | None = Field(
        None, description="samples per update, reshuffled every epoch; absent: the full batch"
    )
    dtype: Literal["float32", "float64"] = Field("float32", description="precision of the run")
    log: Log = Field(default=Log(every=1), description="when observables are logged")
    snapshots: list[_WholeInt | Literal["initial", "final"]] = Field(
        default=["initial", "final"], description="steps whose parameters are kept"
    )


class Deviation(_Model):
    """A place where paper and code disagree or are silent."""

    where: str = Field(description="figure or section of the paper")
    paper: str = Field(description="what the paper says")
    ours: str = Field(description="what we do")
    why: str = Field(description="the reason")
    code: str | None = Field(None, description="what the authors' code does, if there is any")


class Source(_Model):
    """Where the paper is to be found."""

    title: str
    arxiv: str = Field(description="arXiv number, as text")
    authors: str | None = None
    code: str | None = Field(None, description="repository of the authors, as owner/name")


class Figure(_Model):
    """A figure: the tables it draws and its caption."""

    experiments: Annotated[list[str], Field(min_length=1)]
    caption: str = Field(description="what the figure shows, for its page and the report")


class Overrides(_Model):
    """A layer of an experiment: any block, whole or in part."""

    task: dict[str, Any] | None = None
    model: dict[str, Any] | None = None
    loss: dict[str, Any] | None = None
    optimizer: dict[str, Any] | None = None
    dynamics: dict[str, Any] | None = None
    penalties: list[dict[str, Any]] | None = None
    gradients: list[dict[str, Any]] | None = None
    inputs: list[dict[str, Any]] | None = None
    observables: list[dict[str, Any]] | None = None
    measures: list[dict[str, Any]] | None = None
    train: dict[str, Any] | None = None
    ensemble: dict[str, Any] | None = Field(
        None, description="axes vectorised inside one run: `seed` and any number of a component"
    )
    sweep: dict[str, list[Any]] | None = Field(
        None, description="axes whose product makes separate runs"
    )


class Layer(Overrides):
    """A layer with its overrides for the smaller scales (`smoke` comes on top of `quick`)."""

    quick: Overrides | None = None
    smoke: Overrides | None = None


class Experiment(Layer):
    """A named set of runs."""

    about: str | None = Field(None, description="one sentence for readers")
    cases: Annotated[dict[str, Layer], Field(min_length=1)] | None = Field(
        None, description="explicit cells, each a layer of its own"
    )


class Paper(_Model):
    """One file of `config/papers/`."""

    source: Source
    deviations: list[Deviation] = []
    defaults: Layer = Field(Layer(), description="blocks that every experiment starts from")
    experiments: Annotated[dict[str, Experiment], Field(min_length=1)]
    figures: Annotated[dict[str, Figure], Field(min_length=1)]


class Settings(_Model):
    """`config/config.yaml`: what a user changes between two runs."""

    scale: Literal["smoke", "quick", "paper"] = Field("quick", description="size of every run")
    papers: Literal["all"] | Annotated[list[str], Field(min_length=1)] = Field(
        "all", description="papers to redraw, or all"
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="auto takes a GPU where there is one"
    )
    data_dir: str | None = Field(
        None, description="folder of downloaded image data, looked at before any fetch"
    )


def validate(model: type[BaseModel], data: Any, label: str, place: str = "") -> Any:
    """`data` as a `model`; the first mistake becomes a one-line `UserError`."""
    if not isinstance(data, dict):
        raise UserError(_join(label, place), f"must be a block of keys, not {_shown(data)}")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        path = [str(part) for part in first["loc"] if not _is_branch(part)]
        where = _join(label, ".".join(filter(None, [place, *path])))
        raise UserError(where, _explain(first, model, path)) from None


def check_keywords(block: str, name: str, values: dict[str, Any], varied: set[str]) -> dict:
    """The keywords of one component, checked against its ``build``.

    Args:
        block: such as ``optimizer`` or ``penalties``.
        name: the component.
        values: keywords as the YAML gives them, without ``name``.
        varied: keywords that an ensemble axis provides.

    Returns:
        the keywords with numbers normalised (an integer where a float is meant becomes a float).

    Raises:
        KeywordError: with the keyword and the problem.
    """
    allowed = signatures.signature(block, name).keywords
    for keyword in values:
        if keyword not in allowed:
            raise KeywordError(keyword, f"not a keyword of {name}; {nearest(keyword, [*allowed])}")
    missing = [key for key in allowed if key not in values and key not in varied]
    for keyword in missing:
        if not _optional(allowed[keyword]):
            kind = ast.unparse(allowed[keyword])
            raise KeywordError(keyword, f"missing: {name} needs it ({kind}); give a value")
    return {key: check_value(allowed[key], value, key) for key, value in values.items()}


def check_value(annotation: ast.expr, value: Any, keyword: str) -> Any:
    """One value against the annotation of its keyword."""
    try:
        return _adapter(ast.unparse(annotation)).validate_python(value, strict=True)
    except ValidationError as error:
        kind = ast.unparse(annotation)
        message = f"{_shown(value)} is not allowed: {_reason(error.errors()[0])} (type {kind})"
        raise KeywordError(keyword, message + _text_number(value)) from None


class KeywordError(Exception):
    """A keyword of a component is wrong; the plan adds file and place."""

    def __init__(self, keyword: str, problem: str) -> None:
        super().__init__(problem)
        self.keyword = keyword


@functools.cache
def _adapter(annotation: str) -> TypeAdapter:
    return TypeAdapter(_type(ast.parse(annotation, mode="eval").body))


def _type(node: ast.expr) -> Any:
    """An annotation's source as a validated type: a name of KINDS, Literal[...] or a union."""
    if isinstance(node, ast.Constant) and node.value is None:
        return None
    if isinstance(node, ast.Name) and node.id in KINDS:
        return KINDS[node.id]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _type(node.left) | _type(node.right)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        if node.value.id == "Literal":
            values = ast.literal_eval(node.slice)
            return Literal[values if isinstance(values, tuple) else (values,)]
        if node.value.id == "list":
            return list[_type(node.slice)]
    raise LookupError(f"annotation {ast.unparse(node)} is not one that kinds.py names")


def _optional(annotation: ast.expr) -> bool:
    return ast.unparse(annotation).endswith("| None")


def _is_branch(part: Any) -> bool:
    """Whether a step of pydantic's error path names a branch of a union, not a key."""
    if not isinstance(part, str):
        return False
    return part in ("int", "float") or "[" in part or part.startswith("constrained")


def _explain(error: dict, model: type[BaseModel], path: list[str]) -> str:
    if error["type"] == "extra_forbidden":
        return f"unknown key; {nearest(path[-1], _keys(model, path[:-1]))}"
    if error["type"] == "missing":
        return "missing; add it"
    value = error["input"]
    return f"{_shown(value)} is not allowed: {_reason(error)}{_text_number(value)}"


def _keys(model: type[BaseModel], path: list[str]) -> list[str]:
    """The keys allowed at a path of a model, as far as the path leads through models."""
    for part in path:
        field = model.model_fields.get(part)
        inner = field.annotation if field else None
        candidates = [inner, *_arguments(inner)]
        models = [c for c in candidates if isinstance(c, type) and issubclass(c, BaseModel)]
        if models:
            model = models[0]
    return list(model.model_fields)


def _arguments(annotation: Any) -> list[Any]:
    flat = []
    for argument in getattr(annotation, "__args__", ()):
        flat += [argument, *_arguments(argument)]
    return flat


def _reason(error: dict) -> str:
    return error["msg"].replace("Input should be", "must be").replace("Value error, ", "")


def _text_number(value: Any) -> str:
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return ""
        return "; it is text: remove the quotes"
    return ""


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _join(label: str, place: str) -> str:
    return f"{label}: {place}" if place else label


def load_settings(path: Path, overrides: dict[str, Any]) -> Settings:
    """`config.yaml` with what the command line overrides.

    Raises:
        UserError: on an unknown key or a value that is not allowed.
    """
    data = strict_yaml.load(path, path.name)
    if not isinstance(data, dict):
        raise UserError(path.name, "must be a block of keys such as `scale: quick`")
    settings: Settings = validate(Settings, {**data, **overrides}, path.name)
    return settings


def load_papers(folder: Path, selection: Literal["all"] | list[str]) -> dict[str, Paper]:
    """The selected papers of `config/papers/`, by name.

    Raises:
        UserError: for an unknown paper or a malformed file.
    """
    available = sorted(file.stem for file in folder.glob("*.yaml"))
    chosen = available if selection == "all" else selection
    papers = {}
    for name in chosen:
        if name not in available:
            raise UserError("config.yaml: papers", f"no paper {name!r}; {nearest(name, available)}")
        label = f"papers/{name}.yaml"
        papers[name] = validate(Paper, strict_yaml.load(folder / f"{name}.yaml", label), label)
    return papers
