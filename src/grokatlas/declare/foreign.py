"""Experiments that the engine does not train: `import` of logs, and `script`, checked.

Either block stands in place of task, model and training. Members are declared by `ensemble` as of
any experiment. Its axes have names of their own; each member's values fill the braces of a file's
name (``logs/seed{seed}.csv``), of a column's name or of a command.
"""

import ast
import fnmatch
import re
import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from grokatlas.declare import joined, run_shares, signatures
from grokatlas.declare.cell_check import Checker
from grokatlas.declare.checked_types import Number, fits
from grokatlas.declare.model_base import SHA256, Model
from grokatlas.declare.run_shares import Cell
from grokatlas.declare.validation import check_block
from grokatlas.engine import members
from grokatlas.errors import MistakeError, nearest, shown
from grokatlas.results.foreign import IMPORT, SCRIPT, TAKEN, files_sha256, kind
from grokatlas.results.placeholders import PLACEHOLDER, filled

AXIS = re.compile(r"[a-z][a-z0-9_.]*")
ENGINE_ALONE = "cost"  # a light measure that reads the manifest


class ForeignLog(Model):
    """A log of other hands: how it is read."""

    format: Literal["csv", "jsonl", "tensorboard", "wandb"] = Field(
        "csv",
        description="csv: a title, then a row a step; jsonl: an object a step, others are left "
        "out; wandb (an exported csv) and tensorboard (event files; needs the extra tensorboard): "
        "the steps at which all columns are logged",
    )
    columns: Annotated[dict[str, str], Field(min_length=1)] | None = Field(
        None,
        description="name in the log: name here, of which one is `step`, or an axis of `ensemble` "
        "that tells members apart; absent: all columns of numbers, by their own names",
    )
    factors: dict[str, Number] = Field(
        default={},
        description="what a column is multiplied by: {test_accuracy: 0.01} turns percent into "
        "shares, {step: 50} epochs of 50 batches into steps",
    )
    where: dict[str, int | float | str | bool] = Field(
        default={}, description="only rows with these values, by the names of the log"
    )


class Import(ForeignLog):
    """Logs that are a run: the files, what they must hash to, and whose they are."""

    file: Annotated[str, Field(min_length=1)] = Field(
        description="from the folder in which snakemake runs; an axis in braces is the member's: "
        "logs/seed{seed}.csv; for tensorboard a file or its folder"
    )
    sha256: Annotated[str, Field(pattern=SHA256)] = Field(
        description="of the file; of several, of what sha256sum prints of them sorted by name"
    )
    source: str = Field(description="the address at which it was found, or whose it is")
    commit: str | None = Field(None, description="the version there")
    licence: str | None = Field(None, description="under which it may be used")


class Script(ForeignLog):
    """A program that trains one member and writes its log."""

    folder: str = Field(description="of its files, from the folder in which snakemake runs")
    command: str = Field(
        description="in a copy of that folder, without a shell; an axis in braces is the "
        "member's: python train.py --seed {seed}"
    )
    files: Annotated[list[str], Field(min_length=1)] = Field(
        description="patterns of all that it reads there, such as '*.py': what is not named is not "
        "there when it runs"
    )
    history: str = Field(description="the log that it writes, in its working folder")
    environment: str | None = Field(
        None, description="a lock file beside it: hashed and recorded, not installed"
    )
    gpu: bool = Field(False, description="whether a job asks for a GPU")


MODELS: dict[str, type[ForeignLog]] = {IMPORT: Import, SCRIPT: Script}


def cell(checker: Checker, case: str, label: str, values: dict[str, Any]) -> Cell:
    """The checked cell of merged values that have `import` or `script`.

    A script's members are runs of their own unless `members_per_run` says otherwise.

    Raises:
        UserError: for the first mistake, at the overlay that holds it.
    """
    block = kind(values)
    allowed = (block, "ensemble", "measures", *(run_shares.KEYS if block == SCRIPT else ()))
    for key in values:
        if key not in allowed:
            why = f"the engine does not train it ({block})"
            if key in run_shares.KEYS:
                why = "all members of an import are one run"
            problem = f"{why}, so this says nothing; remove it"
            allowed_keys = f"allowed: {', '.join(allowed)}"
            checker.fail([key], f"{problem}, or undo it with null ({allowed_keys})")
    axes = _axes(checker, values)
    try:
        log = check_block(MODELS[block], values[block])
    except MistakeError as mistake:
        raise checker.overlays.error([block, *mistake.path], mistake.problem) from None
    _check_placeholders(checker, block, log, axes)
    entry = {k: v for k, v in log.model_dump(exclude_none=True).items() if v != {}}
    spec = {"ensemble": joined.again(axes, checker.joined), block: entry}
    if isinstance(log, Script):
        entry["sources"] = _sources(checker, log, members.of(spec))
    measures = _measures(checker, values.get("measures", []), log)
    if block == SCRIPT:
        one_by_one = {next(iter(axis)): 1 for axis in members.axes(spec)}
        values = {"members_per_run": one_by_one, **values}
    return checker.divided(case, label, spec, measures, values)


def _axes(checker: Checker, values: dict[str, Any]) -> dict[str, list[Any]]:
    """The axes of members, the seed last: numbers or words, under any name."""
    axes = checker.flat_axes(values)
    seeds = checker.seeds(axes.pop("seed", 1))
    for path, axis in axes.items():
        place = ["ensemble", path]
        if not AXIS.fullmatch(path) or path in (*TAKEN, "step"):
            checker.fail(place, "is no name of an axis here: use a-z, 0-9, _ and dots")
        if not axis or not fits(list[int | float | str], axis):
            checker.fail(place, f"{shown(axis)} is not allowed: give a list of numbers or words")
    return checker.counted({**{path: axes[path] for path in sorted(axes)}, "seed": seeds})


def _check_placeholders(
    checker: Checker, block: str, log: ForeignLog, axes: dict[str, list[Any]]
) -> None:
    """Every axis in braces is one of the ensemble, and every axis tells members apart."""
    columns = log.columns or {}
    own = ("file",) if isinstance(log, Import) else ("command", "history")
    texts = [(key, getattr(log, key)) for key in own] + [("columns", name) for name in columns]
    used = set(columns.values()) & axes.keys()
    for key, text in texts:
        for axis in PLACEHOLDER.findall(text):
            if axis not in axes:
                problem = f"no axis {axis!r} in ensemble; {nearest(axis, [*axes])}"
                checker.fail([block, key], problem)
            used.add(axis)
    for axis, values in axes.items():
        if len(values) > 1 and axis not in used:
            where = " nor ".join((*own[:1], "columns"))
            problem = f"is neither in {where}, so that its members would be equal"
            checker.fail(["ensemble", axis], f"{problem}; write {{{axis}}} where it belongs")
    for name, target in columns.items():
        place = [block, "columns", name]
        if target in TAKEN:
            checker.fail(place, f"{target} is a column of every table; choose another name")
        if list(columns.values()).count(target) > 1:
            checker.fail(place, f"{target} is the name of two columns; keep one")
    if columns and "step" not in columns.values():
        checker.fail([block, "columns"], "no column is the step; add one, such as {epoch: step}")
    for name, factor in log.factors.items():
        if factor == 0:
            checker.fail([block, "factors", name], "0 would make every value 0; give its factor")
        if columns and name not in columns.values():
            problem = f"no column is called so here; {nearest(name, [*columns.values()])}"
            checker.fail([block, "factors", name], problem)


def _sources(checker: Checker, log: Script, listed: list[dict[str, Any]]) -> str:
    """The hash of a script's files and of its lock file, whose names count; none is its log."""
    folder, sources = Path(log.folder), set[Path]()
    if not folder.is_dir():
        checker.fail([SCRIPT, "folder"], f"no folder {log.folder} in {Path.cwd()}")
    for pattern in (*log.files, *filter(None, [log.environment])):
        key = "environment" if pattern == log.environment else "files"
        try:
            files = {file for file in folder.glob(pattern) if file.is_file()}
        except (NotImplementedError, ValueError):  # an absolute or an empty pattern
            files = set()
        if not files or any(not file.resolve().is_relative_to(folder.resolve()) for file in files):
            checker.fail([SCRIPT, key], f"{shown(pattern)} is no file below {log.folder}")
        sources |= files
    for name in dict.fromkeys(filled(log.history, member) for member in listed):
        path = Path(name)
        if path.is_absolute() or ".." in path.parts:
            problem = "is outside the script's working folder; give a path below it, without .."
            checker.fail([SCRIPT, "history"], f"{shown(name)} {problem}")
        if path == Path() and log.format != "tensorboard":
            checker.fail([SCRIPT, "history"], "names no file; give the log that the script writes")
        if path != Path() and any(file.is_relative_to(folder / path) for file in sources):
            problem = "is one of its `files`, so that an old log would pass as the result"
            checker.fail([SCRIPT, "history"], f"{shown(name)} {problem}; leave it out of them")
    try:
        words = shlex.split(log.command)
    except ValueError as error:
        checker.fail([SCRIPT, "command"], f"is no command: {error}")
    if not words:
        checker.fail([SCRIPT, "command"], "is empty; write such as python train.py --seed {seed}")
    quoted = shlex.shlex(log.command, posix=False)
    quoted.whitespace_split, quoted.commenters = True, ""
    for word in quoted:
        if re.match(r"\d?[<>]|[|&;]", word):
            todo = "write the log in the script, or name a shell: bash run.sh {seed}"
            checker.fail([SCRIPT, "command"], f"{word} means nothing without a shell; {todo}")
    return files_sha256(sources, folder)


def _measures(checker: Checker, entries: list[Any], log: ForeignLog) -> list[dict[str, Any]]:
    """The measures, which have nothing but the log to go by."""
    known = {*(log.columns or {}).values()}
    checked: list[dict[str, Any]] = []
    for index, entry in enumerate(entries):
        place = ["measures", str(index)]
        measure = checker.component("measures", place, entry, {})
        name = measure["name"]
        keywords = signatures.signature("measures", name).keywords
        if not signatures.defines("measures", name, "LIGHT"):
            light = signatures.that_define("measures", "LIGHT")
            problem = f"{name} needs data or snapshots, and here is a log alone"
            checker.fail([*place, "name"], f"{problem} (allowed: {', '.join(light)})")
        if name == ENGINE_ALONE:
            problem = f"{name} reads what the engine records of a run, and here is a log alone"
            checker.fail([*place, "name"], f"{problem}; leave it out")
        for need in signatures.needs(name) if known else ():
            logged = [*(signatures.columns(need) or ())]
            # a level has the name of its column; a measure without levels may read some alone
            missing = [column for column in logged if column in keywords and column not in known]
            if missing or not any(fnmatch.filter(known, pattern) for pattern in logged):
                listed = ", ".join(missing or logged)
                problem = f"{name} reads {listed}, and `columns` has none of these; name them there"
                checker.fail([*place, "name"], problem)
        for keyword, kind_of in keywords.items():
            column = measure.get(keyword) if ast.unparse(kind_of) == "Column" else None
            if column is not None and known and column not in known:
                problem = f"no column {shown(column)} here; {nearest(column, [*known])}"
                checker.fail([*place, keyword], problem)
        checked.append(measure)
    checker.check_listed_once(checked)
    return checked
