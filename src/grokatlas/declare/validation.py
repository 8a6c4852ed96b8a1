"""Checking plain data against types, and telling the first mistake in words.

Two things are checked: blocks against the pydantic models of `models.py`, and a component's
keywords against the annotations of its `build`, read from the source (no import).
"""

import ast
import functools
import types
import typing
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, TypeAdapter, ValidationError

from grokatlas.declare import signatures, strict_yaml
from grokatlas.declare.checked_types import annotation_type, phrase
from grokatlas.declare.model_base import PATTERNS
from grokatlas.errors import MistakeError, nearest, shown


def check_block(model: type[BaseModel], data: Any) -> Any:
    """`data` as a `model`; a `MistakeError` for the first mistake, with its path inside `data`."""
    if not isinstance(data, dict):
        raise MistakeError([], f"must be a block of keys, not {shown(data)}")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise _mistake(model, error) from None


def check_file(model: type[BaseModel], data: Any, file: str, *keys: str) -> Any:
    """`data` as a `model`; a `UserError` for the first mistake, below some keys of a file."""
    try:
        return check_block(model, data)
    except MistakeError as mistake:
        raise mistake.at(file, *keys) from None


def check_keywords(
    block: str, name: str, values: dict[str, Any], varied: set[str]
) -> dict[str, Any]:
    """The keywords of one component, checked against its ``build``.

    Args:
        block: such as ``optimizer`` or ``penalties``.
        name: the component.
        values: keywords as the YAML gives them, without ``name``.
        varied: keywords that an ensemble axis provides.

    Returns:
        the keywords with numbers normalised (an integer where a float is meant becomes a float);
        one that may be null is null where `values` lacks it, as overlays drop nulls.
    """
    allowed = signatures.signature(block, name).keywords
    for keyword in values:
        if keyword not in allowed:
            problem = f"not a keyword of {name}; {nearest(keyword, [*allowed])}"
            raise MistakeError([keyword], problem)
    for keyword, annotation in allowed.items():
        if keyword not in values and keyword not in varied and not _optional(annotation):
            kind = phrase(annotation_type(annotation))
            problem = f"missing: {name} needs it ({kind}); give a value"
            raise MistakeError([keyword], problem, missing=True)
    checked = {key: check_value(allowed[key], value, key) for key, value in values.items()}
    absent = [key for key in allowed if key not in values and key not in varied]
    return checked | dict.fromkeys(absent)


def check_value(annotation: ast.expr, value: Any, keyword: str) -> Any:
    """One value against the annotation of its keyword."""
    try:
        return _adapter(ast.unparse(annotation)).validate_python(value, strict=True)
    except ValidationError:
        raise MistakeError([keyword], _refusal(value, annotation_type(annotation))) from None


@functools.cache
def _adapter(annotation: str) -> TypeAdapter[Any]:
    return TypeAdapter(annotation_type(ast.parse(annotation, mode="eval").body))


def _optional(annotation: ast.expr) -> bool:
    return any(leaf is type(None) for leaf in _leaves(annotation_type(annotation)))


def _mistake(model: type[BaseModel], error: ValidationError) -> MistakeError:
    """The first mistake: an unknown key before a missing one, as it often is the same one."""
    mistakes = error.errors()
    # where a number, a word or a block is allowed, a block is meant to be that block
    other = ("_type", "literal_error")
    blocks = [
        mistake
        for mistake in mistakes
        if not isinstance(mistake["input"], dict) or not mistake["type"].endswith(other)
    ]
    mistakes = blocks or mistakes
    unknown = [mistake for mistake in mistakes if mistake["type"] == "extra_forbidden"]
    first = unknown[0] if unknown and mistakes[0]["type"] == "missing" else mistakes[0]
    if first["type"] in ("extra_forbidden", "missing"):
        path, kind, _ = _walk(model, [*first["loc"][:-1]])
        name = str(first["loc"][-1])
        block = next(branch for branch in _branches(kind) if hasattr(branch, "model_fields"))
        if first["type"] == "extra_forbidden":
            gone = getattr(block, "GONE", {})
            if name in gone:
                problem = f"is no longer a key, remove it: {gone[name]}"
                return MistakeError([*path, name], problem)
            if new := getattr(block, "RENAMED", {}).get(name):
                return MistakeError([*path, name], f"is named {new} now; write {new}")
            fields = block.model_fields.items()
            hint = nearest(name, [field.alias or key for key, field in fields])
            return MistakeError([*path, name], f"unknown key; {hint}")
        field = block.model_fields[name]
        needed = phrase(field.annotation, tuple(field.metadata))
        return MistakeError([*path, name], f"missing; give {needed}", missing=True)
    if first["type"] == "string_pattern_mismatch":
        problem = PATTERNS[first["ctx"]["pattern"]]
        return MistakeError(_walk(model, [*first["loc"]])[0], problem)
    # of the branches of a union, the one that got furthest
    walked = [(_walk(model, [*mistake["loc"]]), mistake) for mistake in mistakes]
    (path, kind, metadata), first = max(
        (pair for pair in walked if pair[0][0][: len(walked[0][0][0])] == walked[0][0][0]),
        key=lambda pair: len(pair[0][0]),
    )
    if first["type"] == "value_error":
        return MistakeError(path, str(first["ctx"]["error"]))
    return MistakeError(path, _refusal(first["input"], kind, metadata))


def _walk(kind: Any, steps: list[Any]) -> tuple[list[str], Any, tuple[Any, ...]]:
    """The end of pydantic's path: keys without names of branches, the type there, its limits."""
    path: list[str] = []
    metadata: tuple[Any, ...] = ()
    for step in steps:
        for branch in _branches(kind):
            inner = _entry(branch, step)
            if inner is not None:
                path.append(str(step))
                kind, metadata = inner
                break
    return path, kind, metadata


def _entry(kind: Any, step: Any) -> tuple[Any, tuple[Any, ...]] | None:
    """The type of one entry of a model, a dict or a list; None where there is no such entry."""
    arguments = typing.get_args(kind)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        fields = {field.alias or name: field for name, field in kind.model_fields.items()}
        if step in fields:
            return fields[step].annotation, tuple(fields[step].metadata)
    if typing.get_origin(kind) is dict and isinstance(step, str) and step != "[key]":
        return arguments[1], ()
    if typing.get_origin(kind) is list and isinstance(step, int):
        return arguments[0], ()
    return None


def _branches(kind: Any) -> Iterator[Any]:
    """The alternatives of a type, without their limits."""
    origin = typing.get_origin(kind)
    if origin is Annotated:
        yield from _branches(typing.get_args(kind)[0])
    elif origin in (Union, types.UnionType):
        for argument in typing.get_args(kind):
            yield from _branches(argument)
    else:
        yield kind


def _leaves(kind: Any) -> set[Any]:
    """The types at the top of a type: plain ones, and the values of ``Literal``."""
    leaves: set[Any] = set()
    for branch in _branches(kind):
        origin = typing.get_origin(branch)
        if origin is Literal:
            leaves |= set(typing.get_args(branch))
        elif isinstance(branch, type) and issubclass(branch, BaseModel):
            leaves.add(dict)
        else:
            leaves.add(type(None) if branch is None else origin or branch)
    return leaves


def _refusal(value: Any, kind: Any, metadata: tuple[Any, ...] = ()) -> str:
    if typing.get_origin(kind) in (Union, types.UnionType):
        branches = [branch for branch in typing.get_args(kind) if branch is not type(None)]
        kind = branches[0] if len(branches) == 1 else kind
    return f"{shown(value)} is not allowed: must be {phrase(kind, metadata)}{_hint(value, kind)}"


def _hint(value: Any, kind: Any) -> str:
    """A hint what to write instead, where that is plain."""
    wants = _leaves(kind)
    if isinstance(value, str):
        if wants & {int, float} and strict_yaml.NUMBER.fullmatch(value):
            return "; it is text: remove the quotes"
        if wants & {int, float} and strict_yaml.NUMBER.fullmatch(value.replace("_", "")):
            return f"; it is text: write {value.replace('_', '')}"
        words = sorted(want for want in wants if isinstance(want, str))
        if words and nearest(value, words).startswith("did you mean"):
            return f"; {nearest(value, words).partition('?')[0]}?"
    if isinstance(value, float) and value.is_integer() and int in wants and float not in wants:
        return f"; write {int(value)}"
    if isinstance(value, int | float) and str in wants:
        return "; put it in quotes"
    if list in wants and not isinstance(value, list | dict) and value is not None:
        return f"; write [{value}]"
    if value is None and dict in wants:
        return "; write {} for an empty one"
    return ""
