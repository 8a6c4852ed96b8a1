"""A results tree as a side of a comparison: what the workflow left, if its manifests hold."""

from functools import partial
from pathlib import Path
from typing import Any

from grokatlas import text as words
from grokatlas.audit import diff
from grokatlas.audit.tree import Tree
from grokatlas.publish.compare.sides import CSV, Drawn, Judged, Side
from grokatlas.results import csv_file, layout


def read(label: str, folder: Path) -> Side:
    """Figures and claims of a results tree, at all scales."""
    tree = Tree(folder)
    figures = [
        _figure(tree, target, content) for target, content in _manifests(tree, "figure").items()
    ]
    claims = [claim for target in _manifests(tree, "claims") for claim in _claims(tree, target)]
    about = f"results folder, {words.count(len(figures), 'figure')}"
    return Side(label, about, str(folder.resolve()), _damaged(label, tree), figures, claims)


def _manifests(tree: Tree, kind: str) -> dict[str, dict[str, Any]]:
    """The manifests of a kind, by target."""
    return {t: each.sound for t, each in tree.results.items() if each.sound.get("kind") == kind}


def _damaged(label: str, tree: Tree) -> list[str]:
    """The results that are left out because their manifests do not hold, in one line."""
    damaged = [result for result in tree.results.values() if result.manifest and not result.sound]
    shown = [each for each in damaged if "/figures/" in each.target or "/claims" in each.target]
    if not shown:
        return []
    problem = f"{shown[0].target}: {shown[0].problem}"
    return [f"{words.count(len(shown), 'result')} of {label} left out, such as {problem}"]


def _claims(tree: Tree, target: str) -> list[Judged]:
    """The rows of a scale; a judgement that two papers share is of one."""
    rows = csv_file.read(diff.sound_file(tree, f"{target}.csv"))
    scale = {"scale": target.split("/")[1]}
    return [Judged(row | scale) for row in rows if not row.get("same_as")]


def _figure(tree: Tree, target: str, content: dict[str, Any]) -> Drawn:
    spec = content["spec"]
    shown = layout.outputs("figure", Path(target))
    file = shown[0 if layout.is_published_table(spec["figure"]) else 1].as_posix()
    stems = layout.table_stems(spec["scale"], spec["paper"], spec.get("experiments", []))
    tables = [stem.as_posix() for stem in stems.values()]
    numbers = {f"table {t.split('/')[-1]}": f"{t}.parquet" for t in tables}
    numbers[CSV] = f"{target}.csv"
    for shown_file in (file, numbers[CSV]):
        diff.sound_file(tree, shown_file)
    return Drawn(
        key=(spec["paper"], spec["figure"]),
        scale=spec["scale"],
        so_far=spec.get("so_far", ""),
        path=str(tree.path(file).resolve()),
        version=_sha256(tree, file),
        read=lambda: diff.sound_file(tree, file).read_bytes(),
        numbers={
            name: (_sha256(tree, each), partial(diff.sound_file, tree, each))
            for name, each in numbers.items()
            if _sha256(tree, each)
        },
    )


def _sha256(tree: Tree, name: str) -> str:
    """The recorded hash of a file that is here; empty for one that is not."""
    owner = tree.owner(name)
    return owner.outputs.get(name, "") if owner and tree.path(name).exists() else ""
