"""YAML as plain data: 1.2 numbers, no duplicate keys, no tags, no aliases, a line in errors."""

import math
import re
from pathlib import Path
from typing import Any

import yaml

from grokatlas.errors import UserError, shown

LARGEST = 2**63 - 1
NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INT = re.compile(r"[-+]?[0-9]+")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF|nan|NaN|NAN)")
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(path: Path, label: str | None = None) -> Any:
    """Read one YAML document as dicts, lists, strings, numbers, booleans and None.

    Numbers follow YAML 1.2 (``1e-3`` is a number, ``010`` is ten, ``yes`` is text). Infinities and
    NaN, duplicate keys, explicit tags, anchors, aliases and non-text keys are refused. Errors name
    the file (by `label`), the line and the keys that lead there.
    """
    label = label or str(path)
    return parse(_text(path, label), label)


def parse(text: str, label: str) -> Any:
    """The same of a text; errors name it by `label`."""
    try:
        _refuse_references(text, label)
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "unreadable"
        if "another document" in problem:
            problem = "a second document starts here; keep one"
        elif mark and text.split("\n")[mark.line][: mark.column + 1].endswith("\t"):
            problem = "a tab is not allowed; indent with spaces"
        line = mark.line + 1 if mark else 1
        raise UserError(f"{label}: line {line}", f"not valid YAML: {problem}") from None
    except yaml.YAMLError as error:
        raise UserError(label, f"not valid YAML: {error}") from None
    except RecursionError:
        raise UserError(label, "not valid YAML: nested too deeply") from None
    return None if node is None else _plain(node, label, ())


def _text(path: Path, label: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(label, "no such file; add it") from None
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 text (byte {error.start}); save it as UTF-8"
        raise UserError(label, problem) from None
    except OSError as error:
        raise UserError(label, f"cannot be read: {error.strerror}") from None


def _refuse_references(text: str, label: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        where = f"{label}: line {event.start_mark.line + 1}"
        if depth > 50:
            raise UserError(where, "nested too deeply")
        if isinstance(event, yaml.AliasEvent):
            raise UserError(where, f"alias *{event.anchor} is not allowed; write the values out")
        if getattr(event, "anchor", None) is not None:
            raise UserError(where, f"anchor &{event.anchor} is not allowed; remove it")
        if getattr(event, "tag", None) is not None:
            raise UserError(where, f"tag {event.tag} is not allowed; write plain YAML values")


def _plain(node: yaml.Node, label: str, keys: tuple[str, ...]) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, label, keys)
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, label, (*keys, str(k))) for k, item in enumerate(node.value)]
    result: dict[str, Any] = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise UserError(_where(key_node, label, keys), "a key must be text, not a block")
        key = _scalar(key_node, label, keys)
        if not isinstance(key, str):
            problem = f"key {shown(key)} is not text; quote it"
            raise UserError(_where(key_node, label, keys), problem)
        if key in result:
            problem = "is written twice in one block; remove one"
            raise UserError(_where(key_node, label, (*keys, key)), problem)
        result[key] = _plain(value_node, label, (*keys, key))
    return result


def _scalar(node: yaml.ScalarNode, label: str, keys: tuple[str, ...]) -> Any:
    text = node.value
    if node.style in ("'", '"', "|", ">"):
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INT.fullmatch(text):
        if len(text) > 40 or abs(int(text)) > LARGEST:
            problem = f"{text[:20]}... is not allowed: at most {LARGEST}; write a smaller one"
            raise UserError(_where(node, label, keys), problem)
        return int(text)
    if NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return float(text) + 0.0  # -0.0 is 0.0: two spellings of a number are one run
    if NUMBER.fullmatch(text) or _NOT_FINITE.fullmatch(text):
        problem = f"{text} is not a finite number; write a finite one"
        raise UserError(_where(node, label, keys), problem)
    return text


def _where(node: yaml.Node, label: str, keys: tuple[str, ...]) -> str:
    place = f"{label}: line {node.start_mark.line + 1}"
    return f"{place}: {'.'.join(keys)}" if keys else place
