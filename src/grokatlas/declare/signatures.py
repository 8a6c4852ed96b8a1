"""Signatures and constants of components, read from sources: a plan never imports torch."""

import ast
import copy
import functools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from grokatlas import registry
from grokatlas.code import module_shape
from grokatlas.declare import renaming
from grokatlas.errors import MistakeError, UserError, nearest

DIRECTIONS = ("rises", "falls", None)  # of a logged column
# keywords that the engine passes itself; a YAML must not
ENGINE_KEYWORDS = {"generator", "data"}


@dataclass(frozen=True)
class Signature:
    """The signature of a component's `build`, with its docstrings.

    Attributes:
        blocks: names of its positional arguments.
        keywords: annotation of each keyword.
        summary: first line of the file's docstring.
        meanings: of keywords by the docstring of ``build``, in one line each.
    """

    blocks: tuple[str, ...]
    keywords: dict[str, ast.expr]
    summary: str = ""
    meanings: dict[str, str] = field(default_factory=dict)


@functools.cache
def signature(block: str, name: str) -> Signature:
    """The signature of ``build`` in the component's file, read from its source."""
    label = registry.shown_component(block, name)
    build = _definition(block, name, "build")
    if not isinstance(build, ast.FunctionDef):
        raise UserError(label, "has no function `build`; add one")
    blocks = tuple(argument.arg for argument in build.args.args)
    module = ast.get_docstring(module_shape.syntax_tree(registry.path(block, name))) or ""
    meanings = _meanings(ast.get_docstring(build) or "")
    return Signature(blocks, _keywords(build, label), module.partition("\n")[0], meanings)


def defaults(block: str, name: str) -> list[str]:
    """The keywords of a component's ``build`` that have a default."""
    node = _definition(block, name, "build")
    if not isinstance(node, ast.FunctionDef):
        return []
    pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return [argument.arg for argument, default in pairs if default is not None]


@functools.cache
def defines(block: str, name: str, what: str) -> bool:
    """True if a component's file has a function, or a constant that is true, of that name."""
    node = _definition(block, name, what)
    return isinstance(node, ast.FunctionDef) or (
        isinstance(node, ast.Constant) and node.value is True
    )


@functools.cache
def that_define(block: str, what: str) -> list[str]:
    """The components of a block that define a function or a constant; see `defines`."""
    return [name for name in registry.names(block) if defines(block, name, what)]


def fact(block: str, name: str, what: str, *known: Any, **keywords: Any) -> Any:
    """A constant of a component's file, or the value of a function of it; None for neither.

    Such a function sees the modules and the numbers of `_NAMES` alone: it is compiled by itself, so
    that a plan imports no component.

    Args:
        block: of the component.
        name: of the component.
        what: the constant, such as ``COST``, or the function, such as ``size``.
        known: positional arguments of the function.
        keywords: its keywords; None of them is needed by a constant.
    """
    value = _compiled(block, name, what)
    if not callable(value):
        return value
    entry = renaming.today(block, {"name": name, **keywords})
    try:
        return value(*known, **(renaming.later_defaults(block, name) | registry.keywords(entry)))
    except Exception as error:
        place = f"{registry.shown_component(block, name)}: {what}"
        raise UserError(place, f"failed: {type(error).__name__}: {error}") from None


def noise(spec: dict[str, Any], parameters: int, samples: int) -> Iterator[tuple[str, int]]:
    """The numbers of noise that model, optimizer and gradients of a run take in a step.

    Args:
        spec: of the run.
        parameters: of one member.
        samples: of a batch.

    Yields:
        the block's path, and what ``noise`` of its component says; nothing where there is none.
    """
    blocks = ("model", "optimizer", "gradients", "updates")
    for path, block, entry in registry.entries(spec, blocks):
        axes = {
            axis.removeprefix(f"{path}."): values[0]
            for axis, values in spec["ensemble"].items()
            if axis.startswith(f"{path}.")
        }
        keywords = registry.keywords(entry) | axes
        if count := fact(block, entry["name"], "noise", parameters, samples, **keywords):
            yield path, int(count)


@functools.cache
def _compiled(block: str, name: str, what: str) -> Any:
    node = _definition(block, name, what)
    if not isinstance(node, ast.FunctionDef):
        return ast.literal_eval(node) if isinstance(node, ast.Constant) else None
    alone = copy.deepcopy(node)
    alone.returns = None
    for argument in ast.walk(alone):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    names = dict(_NAMES)
    module = ast.fix_missing_locations(ast.Module([alone], []))
    exec(compile(module, str(registry.path(block, name)), "exec"), names)
    return names[what]


_NAMES = {"math": math}  # what a function that `fact` calls may use, beside Python's own names


@functools.cache
def needs(name: str) -> list[str]:
    """The observables, or ``snapshots``, that a measure needs of its run: ``NEEDS`` of its file."""
    named = renaming.constant("measures", name, "NEEDS", ())
    needed: list[Any] = [named] if isinstance(named, str | None) else [*named]
    known = ["snapshots", *registry.names("observables")]
    for need in needed:
        if need not in known:
            place = f"{registry.shown_component('measures', name)}: NEEDS"
            raise UserError(place, f"no {need!r}; {nearest(str(need), known)}")
    return needed


@functools.cache
def columns(name: str) -> dict[str, str | None] | None:
    """The columns that an observable logs, as its file says by ``COLUMNS``, with their direction.

    Returns:
        the way that each goes as a member learns: ``rises``, ``falls``, or None if neither.
        In a name ``{keyword}`` becomes each value of a keyword, and ``*`` what the plan does not
        know, such as the place in a vector. None where the file does not say.
    """
    example = '{"train_loss": "falls", "l2_norm": None} (or rises)'
    directions = renaming.dictionary("observables", name, "COLUMNS", example, DIRECTIONS)
    return directions or None


def logged(observables: list[dict[str, Any]]) -> tuple[dict[str, str | None], bool]:
    """The columns of a history, with directions, and true if these are all that can be known.

    In a column ``*`` matches anything; false if an observable does not say what it logs.
    """
    directions: dict[str, str | None] = {}
    whole = True
    for entry in (renaming.today("observables", observable) for observable in observables):
        named = columns(entry["name"])
        whole = whole and named is not None
        for template, direction in (named or {}).items():
            field = re.search(r"\{(\w+)\}", template)
            values = entry.get(field[1]) if field else None
            for value in values if isinstance(values, list) else [values]:
                name = template.replace(field[0], str(value)) if field else template
                directions[name] = direction
    return directions, whole


@functools.cache
def settled(dynamics: str) -> dict[str, Any]:
    """Keywords of the model whose value a dynamics has in its equation: its file's ``MODEL``."""
    return renaming.dictionary("dynamics", dynamics, "MODEL", '{"output_scale": 1.0}')


def _definition(block: str, name: str, what: str) -> ast.AST | None:
    """A function of a component's file, or what a constant of it is set to."""
    for node in module_shape.syntax_tree(registry.path(block, name)).body:
        if isinstance(node, ast.FunctionDef) and node.name == what:
            return node
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(target, ast.Name) and target.id == what for target in targets):
            return node.value
    return None


def _keywords(build: ast.FunctionDef, label: str) -> dict[str, ast.expr]:
    from grokatlas.declare import checked_types  # pydantic, which a training does without

    keywords = {}
    for argument in build.args.kwonlyargs:
        if argument.arg in ENGINE_KEYWORDS:
            continue
        place = f"{label}: keyword {argument.arg} of build"
        if argument.annotation is None:
            problem = "has no type; annotate it with one of grokatlas.engine.keyword_types"
            raise UserError(place, problem)
        try:
            checked_types.annotation_type(argument.annotation)
        except MistakeError as mistake:
            raise UserError(place, mistake.problem) from None
        keywords[argument.arg] = argument.annotation
    return keywords


def _meanings(docstring: str) -> dict[str, str]:
    """The entries of a Google docstring's ``Args`` section, each as one line."""
    section = re.search(r"^Args:\n((?:(?:[ ]{4}.*)?(?:\n|\Z))*)", docstring, re.MULTILINE)
    entries = re.split(r"^[ ]{4}(?=\w+:)", section[1], flags=re.MULTILINE) if section else []
    pairs = (entry.partition(":") for entry in entries if entry.strip())
    return {keyword: " ".join(text.split()) for keyword, _, text in pairs}
