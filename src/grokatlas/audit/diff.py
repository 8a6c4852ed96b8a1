"""The differences of two figures, tables, runs or result trees."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from grokatlas.audit import locate, numbers
from grokatlas.audit.tree import Tree
from grokatlas.code import code_digest
from grokatlas.errors import UserError
from grokatlas.results import dotted
from grokatlas.results.result import ROOT


def compare(first: str, second: str, default: Path) -> tuple[list[str], bool]:
    """Compare two results or two trees; the differences, and whether the numbers are the same.

    Args:
        first: a path, id or name; or a results folder.
        second: the same of the other.
        default: the tree that ids and names are looked up in.
    """
    (tree_a, a), (tree_b, b) = _side(first, default), _side(second, default)
    if a == ROOT and b == ROOT:
        return _trees(tree_a, tree_b)
    if ROOT in (a, b):
        raise UserError(f"{first}, {second}", "one is a results folder, the other is not")
    kinds = [tree.results[target].sound["kind"] for tree, target in ((tree_a, a), (tree_b, b))]
    if kinds[0] != kinds[1]:
        raise UserError(f"{first}, {second}", f"one is a {kinds[0]}, the other a {kinds[1]}")
    lines, same = _results(tree_a, a, tree_b, b)
    verdict = "the numbers are the same" if same else "the numbers differ"
    return [f"{a} -> {b}", *lines, verdict], same


def _side(text: str, default: Path) -> tuple[Tree, str]:
    path = Path(text)
    folder = locate.tree_of(path, default)
    tree = Tree(folder)
    if path.is_dir() and folder.resolve() in (path.resolve(), path.resolve() / ROOT):
        return tree, ROOT
    target = locate.target(tree, text)
    if not tree.results[target].sound:
        raise UserError(target, f"cannot be compared: {tree.results[target].problem}")
    return tree, target


def _trees(first: Tree, second: Tree) -> tuple[list[str], bool]:
    """Two trees: what only one has, and each result that both have and whose numbers differ."""
    a = {target for target, result in first.results.items() if result.sound}
    b = {target for target, result in second.results.items() if result.sound}
    lines = [f"only in {first.folder}: {target}" for target in sorted(a - b)]
    lines += [f"only in {second.folder}: {target}" for target in sorted(b - a)]
    differing = 0
    for target in sorted(a & b):
        differences, same = _results(first, target, second, target)
        differing += not same
        lines += [target, *(f"  {line}" for line in differences)] if differences else []
    lines.append(f"{len(a & b)} results in both, the numbers of {differing} differ")
    return lines, a == b and not differing


def _results(first: Tree, a: str, second: Tree, b: str) -> tuple[list[str], bool]:
    old, new = first.results[a].sound, second.results[b].sound
    lines = _made_by(old, new, _runs(first, a, second, b))
    lines += _facts("data", _data(first, a), _data(second, b))
    lines += _entries("versions", old.get("versions", {}), new.get("versions", {}))
    if "environment" in old and "environment" in new:  # else one of the two does not record them
        lines += _entries("environment", old["environment"], new["environment"])
    machine = ("host", "device")
    lines += _entries("machine", *({k: each.get(k) for k in machine} for each in (old, new)))
    numbers_differ, same = _numbers(first, a, second, b)
    return lines + numbers_differ, same


def _made_by(old: dict[str, Any], new: dict[str, Any], runs: Iterable[str] = ()) -> list[str]:
    """The differences of specs, then of the runs behind, of code and of its commit."""
    lines = [*_entries("spec", old["spec"], new["spec"]), *runs]
    lines += [f"code: {m} changed" for m in code_digest.changed(old["code"], new["code"])]
    return lines + _facts("commit", _commit(old), _commit(new))


def _entries(label: str, old: Any, new: Any) -> list[str]:
    """The differing entries of two blocks, a line each."""
    return [f"{label}: {name}: {x} -> {y}" for name, x, y in dotted.differences(old, new)]


def _runs(first: Tree, a: str, second: Tree, b: str) -> list[str]:
    """The differences of the runs behind two tables or figures, matched by experiment and case."""
    lines = []
    old, new = _cells(first, a), _cells(second, b)
    if len(old) == len(new) == 1:  # two experiments of one cell each are compared whatever they
        new = dict(zip(old, new.values(), strict=True))  # are called
    for key in sorted(old.keys() | new.keys()):
        name = " ".join(filter(None, key)) or "run"
        if key not in old or key not in new:
            lines.append(f"runs: {name}: only in the {'first' if key in old else 'second'}")
            continue
        x, y = (tree.results[t].sound for tree, t in ((first, old[key]), (second, new[key])))
        if x and y:
            changed = (line.removeprefix("spec: ") for line in _made_by(x, y))
            lines += [f"runs: {name}: {line}" for line in changed]
    return lines


def _cells(tree: Tree, target: str) -> dict[tuple[str, str], str]:
    """The runs behind a table or a figure, by experiment and case."""
    content = tree.results[target].sound
    if content["kind"] == "table":
        cells = content["spec"].get("cells", [])
        experiment = content["spec"]["experiment"]
        runs = {
            (experiment, cell.get("label", cell["case"])): f"{ROOT}/runs/{cell['run']}"
            for cell in cells
        }
        return {key: run for key, run in runs.items() if run in tree.results}
    if content["kind"] != "figure":
        return {}
    merged: dict[tuple[str, str], str] = {}
    for name in content["inputs"]:
        owner = tree.owner(name)
        if owner and owner.sound.get("kind") == "table":
            merged |= _cells(tree, owner.target)
    return merged


def _data(tree: Tree, target: str) -> str:
    """The hashes of the data sets behind a result, sorted."""
    hashes = set()
    for ancestor in tree.ancestors([target]):
        result = tree.results[ancestor]
        if result.sound.get("kind") == "dataset":
            hashes |= {f"{ancestor.split('/')[-1]} {sha[:12]}" for sha in result.outputs.values()}
    return ", ".join(sorted(hashes)) or "none"


def _commit(content: dict[str, Any]) -> str:
    git = content.get("git") or {}
    return git.get("commit", "unknown")[:12] + (" dirty" if git.get("dirty") else "")


def _facts(label: str, old: str, new: str) -> list[str]:
    return [f"{label}: {old} -> {new}"] if old != new else []


def _numbers(first: Tree, a: str, second: Tree, b: str) -> tuple[list[str], bool]:
    """The differences of output files, and if there are none; each is hashed before it is read."""
    old, new = _files(first, a), _files(second, b)
    lines, same = [], True
    for suffix in sorted(old.keys() | new.keys()):
        if suffix not in old or suffix not in new:
            lines.append(f"numbers: {suffix}: only in the {'first' if suffix in old else 'second'}")
            same = False
            continue
        if _left_out(first, old[suffix]) or _left_out(second, new[suffix]):
            outputs = first.results[a].outputs, second.results[b].outputs
            if outputs[0][old[suffix]] != outputs[1][new[suffix]]:
                lines.append(f"bytes: {suffix} differs; it is not kept, so not compared")
                same = False
            continue
        x, y = sound_file(first, old[suffix]), sound_file(second, new[suffix])
        if first.sha256(old[suffix]) == second.sha256(new[suffix]):
            continue
        if x.suffix not in numbers.NUMERIC:
            lines.append(f"bytes: {suffix} differs")
            continue
        differences = numbers.compare(x, y)
        same = same and not differences
        lines += [f"numbers: {suffix}: {line}" for line in differences]
    return lines, same


def _left_out(tree: Tree, name: str) -> bool:
    """True if an archive left the file out and it is not here."""
    return tree.left_out(name) and not tree.path(name).exists()


def _files(tree: Tree, target: str) -> dict[str, str]:
    """The outputs by what they are: ``history.parquet`` of a run, ``.csv`` of a figure."""
    return {name.removeprefix(target).lstrip("/"): name for name in tree.results[target].outputs}


def sound_file(tree: Tree, name: str) -> Path:
    """The path of a tree's file, refused unless its hash is the recorded one."""
    owner = tree.owner(name)
    if owner is None or name in tree.refused:
        raise UserError(name, "is missing or refused; `grokatlas verify` says more")
    if tree.sha256(name) != owner.outputs.get(name):
        raise UserError(name, "is not the file its manifest records; it is not compared")
    return tree.path(name)
