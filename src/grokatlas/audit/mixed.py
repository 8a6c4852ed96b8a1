"""Results of one kind that were made by different software or on different devices.

The numbers of runs that a figure compares may then differ for another reason than their specs.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from grokatlas.audit.tree import Tree
from grokatlas.results.environment import COMPUTING
from grokatlas.text import some_of

KINDS = {"dataset": "data sets", "run": "runs", "measure": "measures", "table": "tables"}
SHOWN = 3  # figures that are named

Counted = dict[tuple[str, str], Counter[str]]  # kind and package, or device: results by version


def of(contents: Iterable[dict[str, Any]]) -> list[str]:
    """A line for each package or device that differs: ``runs of torch 2.13 (2) and 2.99 (1)``."""
    return list(_lines(_counted(contents)).values())


def notes(tree: Tree, chosen: list[str]) -> list[str]:
    """The same for some results of a tree, with the figures that have both behind them."""
    lines = _lines(_counted(tree.results[target].sound for target in chosen))
    if not lines:
        return []
    figures = [target for target in chosen if tree.results[target].sound.get("kind") == "figure"]
    mixing: dict[tuple[str, str], list[str]] = {}
    for figure in figures:
        for key in _lines(_counted(behind(tree, figure))):
            mixing.setdefault(key, []).append(figure)
    return [line + _where(mixing.get(key, [])) for key, line in lines.items()]


def behind(tree: Tree, target: str) -> list[dict[str, Any]]:
    """The manifests of a result and of all that it was made from, as far as they are sound."""
    manifests = (tree.results[name].sound for name in tree.ancestors([target]))
    return [content for content in manifests if content]


def versions(content: dict[str, Any]) -> dict[str, set[str]]:
    """The versions of each package that computed a result; several if a run changed on its way."""
    by_package: dict[str, set[str]] = {}
    segments = content.get("segments")
    for part in [content, *(segments if isinstance(segments, list) else [])]:
        for package, version in _entries(part, "versions").items():
            by_package.setdefault(package, set()).add(str(version))
    return by_package


def _counted(contents: Iterable[dict[str, Any]]) -> Counted:
    counts: Counted = {}
    for content in contents:
        kind = content.get("kind", "")
        if kind not in KINDS:
            continue
        made_by = {f"of {name}": versions(content).get(name, set()) for name in COMPUTING}
        for what, values in (made_by | _devices(content)).items():
            counts.setdefault((kind, what), Counter()).update(values)
    return counts


def _devices(content: dict[str, Any]) -> dict[str, set[str]]:
    """The device of a run, and the vector instructions of what torch computed on a CPU."""
    device, host = _entries(content, "device"), _entries(content, "host")
    if device.get("type") == "cuda":
        return {"on": {str(device.get("name", "a GPU"))}}
    devices = {"on": {"a CPU"}} if device else {}
    if "cpu_capability" in host:
        devices["with vector instructions"] = {str(host["cpu_capability"])}
    return devices


def _lines(counted: Counted) -> dict[tuple[str, str], str]:
    return {
        (kind, what): f"{KINDS[kind]} {what} {_listed(values)}"
        for (kind, what), values in sorted(counted.items())
        if len(values) > 1
    }


def _listed(values: Counter[str]) -> str:
    """``2.13.0 (2) and 2.99.0 (1)``: the most frequent first."""
    ordered = sorted(values.items(), key=lambda each: (-each[1], each[0]))
    texts = [f"{value} ({count})" for value, count in ordered]
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def _where(figures: list[str]) -> str:
    if not figures:
        return ""
    return f"; together in {some_of(figures, SHOWN)}"


def _entries(content: Any, key: str) -> dict[str, Any]:
    entries = content.get(key) if isinstance(content, dict) else None
    return entries if isinstance(entries, dict) else {}
