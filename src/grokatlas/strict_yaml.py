"""YAML as plain data: 1.2 numbers, no duplicate keys, no tags, no aliases, every error with its line."""

import math
import re
from pathlib import Path
from typing import Any

import yaml

from grokatlas.errors import UserError

_INT = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_CONSTANTS = {"null": None, "~": None, "": None, "true": True, "false": False}
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(path: Path, label: str | None = None) -> Any:
    """Read one YAML document as dicts, lists, strings, numbers, booleans and None.

    Numbers follow YAML 1.2 (``1e-3`` is a number, ``010`` is ten, ``yes`` is text). Infinities and
    NaN, duplicate keys, explicit tags, aliases and non-text keys are refused.

    Args:
        path: the file.
        label: how errors call the file; its path by default.

    Raises:
        UserError: naming the file and the line.
    """
    label = label or str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(label, "no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(label, f"cannot be read as UTF-8 text ({error})") from None
    try:
        _refuse_aliases(text, label)
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UserError(f"{label}: line {line}", f"not valid YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise UserError(label, f"not valid YAML: {error}") from None
    return None if node is None else _plain(node, label)


def _refuse_aliases(text: str, label: str) -> None:
    for event in yaml.parse(text, Loader=_LOADER):
        where = f"{label}: line {event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent):
            raise UserError(where, f"alias *{event.anchor} is not allowed; write the values out")
        if getattr(event, "tag", None) is not None:
            raise UserError(where, f"tag {event.tag} is not allowed; write plain YAML values")


def _plain(node: yaml.Node, label: str) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, label)
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, label) for item in node.value]
    result: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = _plain(key_node, label)
        where = f"{label}: line {key_node.start_mark.line + 1}"
        if not isinstance(key, str):
            raise UserError(where, f"key {key!r} is not text; quote it")
        if key in result:
            raise UserError(where, f"key {key!r} stands twice in one block; keep one")
        result[key] = _plain(value_node, label)
    return result


def _scalar(node: yaml.ScalarNode, label: str) -> Any:
    text = node.value
    if node.style in ("'", '"', "|", ">"):
        return text
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        number = float(text)
        if math.isfinite(number):
            return number
    if re.fullmatch(r"[-+]?\.(inf|nan)", text, re.IGNORECASE) or _FLOAT.fullmatch(text):
        where = f"{label}: line {node.start_mark.line + 1}"
        raise UserError(where, f"{text} is not a finite number; write a finite one")
    return text
