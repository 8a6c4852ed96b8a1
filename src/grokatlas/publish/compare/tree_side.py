"""A results tree as a side of a comparison: what the workflow left, if its manifests hold."""

import csv
from functools import cache, partial
from pathlib import Path
from typing import Any

from grokatlas import text as words
from grokatlas.audit import diff
from grokatlas.audit.tree import Tree
from grokatlas.publish.compare.sides import CSV, Drawn, Judged
from grokatlas.results import layout


class TreeSide:
    """Figures and claims of a results tree, at all scales; see `sides.Side`."""

    def __init__(self, label: str, folder: Path) -> None:
        self._tree = Tree(folder)
        self.label = label
        self.identity = str(folder.resolve())
        self.about = f"results folder, {words.count(len(self._made('figure')), 'figure')}"
        self.notes = self._damaged()

    @cache  # noqa: B019 - a side lives as long as the command
    def figures(self) -> list[Drawn]:
        """All that are made."""
        return [self._figure(target, content) for target, content in self._made("figure").items()]

    @cache  # noqa: B019
    def claims(self) -> list[Judged]:
        """The rows of every scale; a judgement that two papers share is of one."""
        claims = []
        for target in self._made("claims"):
            file = diff.sound_file(self._tree, f"{target}.csv")
            with file.open(encoding="utf-8", newline="") as stream:
                rows = [row for row in csv.DictReader(stream) if not row.get("same_as")]
            claims += [Judged(row | {"scale": target.split("/")[1]}) for row in rows]
        return claims

    def _damaged(self) -> list[str]:
        """The results that are left out because their manifests do not hold, in one line."""
        results = self._tree.results.values()
        damaged = [each for each in results if each.manifest and not each.sound]
        shown = [each for each in damaged if "/figures/" in each.target or "/claims" in each.target]
        if not shown:
            return []
        problem = f"{shown[0].target}: {shown[0].problem}"
        return [f"{words.count(len(shown), 'result')} of {self.label} left out, such as {problem}"]

    def _made(self, kind: str) -> dict[str, dict[str, Any]]:
        """The manifests of a kind, by target."""
        results = self._tree.results
        return {t: each.sound for t, each in results.items() if each.sound.get("kind") == kind}

    def _figure(self, target: str, content: dict[str, Any]) -> Drawn:
        spec = content["spec"]
        shown = layout.outputs("figure", Path(target))
        file = shown[0 if layout.is_published_table(spec["figure"]) else 1].as_posix()
        stems = layout.table_stems(spec["scale"], spec["paper"], spec.get("experiments", []))
        tables = [stem.as_posix() for stem in stems.values()]
        numbers = {f"table {t.split('/')[-1]}": f"{t}.parquet" for t in tables}
        numbers[CSV] = f"{target}.csv"
        for each in (file, numbers[CSV]):
            diff.sound_file(self._tree, each)
        return Drawn(
            paper=spec["paper"],
            name=spec["figure"],
            scale=spec["scale"],
            so_far=spec.get("so_far", ""),
            path=str(self._tree.path(file).resolve()),
            version=self._sha256(file),
            read=lambda: diff.sound_file(self._tree, file).read_bytes(),
            numbers={
                name: (self._sha256(each), partial(diff.sound_file, self._tree, each))
                for name, each in numbers.items()
                if self._sha256(each)
            },
        )

    def _sha256(self, name: str) -> str:
        """The recorded hash of a file that is here; empty for one that is not."""
        owner = self._tree.owner(name)
        return owner.outputs.get(name, "") if owner and self._tree.path(name).exists() else ""
