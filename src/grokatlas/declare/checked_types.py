"""The types of keywords and of blocks: as pydantic checks them, and in words."""

import ast
import contextlib
import types
import typing
from typing import Annotated, Any, Literal, Union

from pydantic import AfterValidator, BaseModel, Field, TypeAdapter, ValidationError

from grokatlas.errors import MistakeError

PositiveInt = Annotated[int, Field(ge=1)]
WholeInt = Annotated[int, Field(ge=0)]
ONE_ZERO = AfterValidator(lambda value: value + 0.0)  # -0.0 is 0.0, and no run of its own
Number = Annotated[float, Field(allow_inf_nan=False), ONE_ZERO]
SeedInt = Annotated[int, Field(ge=0, le=2**32 - 1)]  # NumPy takes no larger seed

# the names of `engine.keyword_types` (and the plain ones) as validated types
KINDS: dict[str, Any] = {
    "float": Number,
    "int": int,
    "bool": bool,
    "str": str,
    "Positive": Annotated[float, Field(gt=0, allow_inf_nan=False), ONE_ZERO],
    "NonNegative": Annotated[float, Field(ge=0, allow_inf_nan=False), ONE_ZERO],
    "Fraction": Annotated[float, Field(gt=0, lt=1), ONE_ZERO],
    "Unit": Annotated[float, Field(ge=0, le=1), ONE_ZERO],
    "Decay": Annotated[float, Field(ge=0, lt=1), ONE_ZERO],
    "Count": PositiveInt,
    "Whole": WholeInt,
    "Vector": Annotated[list[Number], Field(min_length=1)],
    "Counts": Annotated[list[PositiveInt], Field(min_length=1)],
    "Column": str,
    "Seed": SeedInt | Literal["member"],
}
# a keyword of one of these types may differ from member to member: it changes no shape
MEMBER_KINDS = {"float", "Positive", "NonNegative", "Fraction", "Unit", "Decay", "Vector"}


def fits(kind: Any, value: Any) -> bool:
    """True if a value is of a type."""
    try:
        TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


def annotation_type(node: ast.expr) -> Any:
    """An annotation's source as a type: a name of `KINDS`, ``Literal``, ``list`` or a union."""
    if isinstance(node, ast.Constant) and node.value is None:
        return None
    if isinstance(node, ast.Name) and node.id in KINDS:
        return KINDS[node.id]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return annotation_type(node.left) | annotation_type(node.right)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        if node.value.id == "Literal":
            with contextlib.suppress(ValueError, TypeError):  # no constants
                values = ast.literal_eval(node.slice)
                values = values if isinstance(values, tuple) else (values,)
                if all(isinstance(value, str | int | float | None) for value in values):
                    return Literal[values]
        if node.value.id == "list":
            return types.GenericAlias(list, annotation_type(node.slice))
    allowed = f"{', '.join(KINDS)}, None, Literal of plain values, list and unions (|) of these"
    raise MistakeError([], f"{ast.unparse(node)} is no type of a keyword; allowed: {allowed}")


def phrase(kind: Any, metadata: tuple[Any, ...] = ()) -> str:
    """A type in words: ``a whole number >= 1``, ``a list (each a number, at least one)``."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        limits = [limit for field in arguments[1:] for limit in getattr(field, "metadata", [])]
        return phrase(arguments[0], tuple(limits))
    if origin in (Union, types.UnionType):
        return " or ".join(phrase(a, metadata) for a in arguments)
    if origin is Literal:
        *first, last = (str(value) for value in arguments)
        return f"{', '.join(first)} or {last}" if first else last
    if origin is list:
        inner = "" if arguments[0] is Any else f"each {phrase(arguments[0])}"
        return "a list" + _notes(inner, _least(metadata))
    if kind is None or kind is type(None):
        return "null"
    if origin is dict or (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return "a block of keys" + _notes(_least(metadata))
    words = {float: "a number", int: "a whole number", bool: "true or false", str: "text"}
    return words.get(kind, "any value") + _limits(metadata)


def _notes(*notes: str) -> str:
    text = ", ".join(filter(None, notes))
    return f" ({text})" if text else ""


def _least(metadata: tuple[Any, ...]) -> str:
    return "at least one" if any(getattr(m, "min_length", 0) for m in metadata) else ""


def _limits(metadata: tuple[Any, ...]) -> str:
    signs = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}
    limits = [
        f"{sign} {getattr(limit, name)}"
        for limit in metadata
        for name, sign in signs.items()
        if hasattr(limit, name)
    ]
    return f" {' and '.join(limits)}" if limits else ""
