"""Claims under other interpretations of their papers, from the tables that are there."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grokatlas.errors import UserError
from grokatlas.plan import resources
from grokatlas.results import files, layout
from grokatlas.rules.partial import origin

if TYPE_CHECKING:
    from grokatlas.claims.interpretations import Otherwise

Row = dict[str, Any]


class Judge:
    """Judges what the spec of a claims job lists as ``interpretations``.

    Args:
        spec: of the job.
        ages: of the job's tables, see `grokatlas.rules.partial`.
        read: the table of a target.
    """

    def __init__(
        self, spec: dict[str, Any], ages: dict[Path, str], read: Callable[[Path], Any]
    ) -> None:
        self._spec = spec
        self._ages = ages
        self._read = read
        self._last: tuple[Any, Otherwise] | None = None  # many claims share it

    def rows(self) -> Iterator[Row]:
        """A row for each claim under each other interpretation that concerns it."""
        from grokatlas.claims import interpretations

        scale = self._spec["scale"]
        for paper, listed in self._spec.get("interpretations", {}).items():
            claims = {claim["id"]: claim for claim in self._spec["papers"][paper]}
            for each in listed:
                claim = claims[each["claim"]]
                other = claims[each["same_as"]] if each["same_as"] else None
                stems, taken = self._stems(paper, other or claim, each)
                if each["instead"] and not taken and each["keywords"] == claim["keywords"]:
                    continue  # nothing that it reads is otherwise
                needed = [*stems.values(), *taken.values()]
                there = all(self._ages.get(target) for target in needed)
                tables = self._tables(each, stems, taken) if there else None
                if other:
                    row = interpretations.from_claim(paper, claim, each, other, tables, scale)
                else:
                    row = interpretations.row(paper, claim, each, tables, scale)
                if row is None:
                    continue
                if row["state"] == interpretations.ABSENT:
                    row["forecast_seconds"] = _forecast(taken or stems, each["instead"])
                if row["state"] == interpretations.JUDGED:
                    row |= origin(needed, self._ages)
                yield row

    def _stems(self, paper: str, claim: Row, each: Row) -> tuple[dict[str, Path], dict[str, Path]]:
        """The tables that a claim reads, and those that stand in for some, by experiment."""
        scale = self._spec["scale"]
        stems = layout.table_stems(scale, paper, claim["read"])
        entries = {name: entry for name, entry in each["instead"].items() if name in stems}
        others = {name: entry["table"] for name, entry in entries.items()}
        return stems, {name: layout.table_stem(scale, paper, to) for name, to in others.items()}

    def _tables(self, each: Row, stems: dict[str, Path], taken: dict[str, Path]) -> "Otherwise":
        """Tables under an interpretation, made once for the claims that read them."""
        from grokatlas.claims.interpretations import Otherwise

        key = (each["interpretation"], stems, taken)
        if self._last is None or self._last[0] != key:
            drawn = {name: self._read(target) for name, target in stems.items()}
            own = {target: drawn[name] for name, target in stems.items()}
            others = {name: own.get(to) for name, to in taken.items()}
            others |= {name: self._read(taken[name]) for name in taken if taken[name] not in own}
            cases = {name: each["instead"][name]["cases"] for name in taken}
            self._last = (key, Otherwise(drawn, others, cases))
        return self._last[1]


def _forecast(targets: dict[str, Path], instead: dict[str, Row]) -> float | None:
    """Seconds of one core that the runs of cases take which are not made, by the plan's formula.

    None where the plan has no such table.
    """
    seconds: dict[str, float] = {}
    for name, target in targets.items():
        try:
            cells = files.read_sealed(layout.spec_path("table", target))["spec"]["cells"]
            cases = (instead.get(name) or {}).get("cases")
            for cell in cells:
                folder = layout.run_folder(cell["run"])
                wanted = cases is None or cell["case"] in cases.values()
                if wanted and not layout.manifest_of("run", folder).exists():
                    spec = files.read_sealed(layout.spec_path("run", folder))["spec"]
                    seconds[cell["run"]] = resources.seconds(spec)
        except (UserError, KeyError):
            return None
    return sum(seconds.values()) or None
