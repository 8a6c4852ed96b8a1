"""The contents of the pages, from the job's spec, the claims and the manifests."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from grokatlas import text as words
from grokatlas.audit import explain, mixed, values
from grokatlas.audit.tree import Tree
from grokatlas.claims import verdicts as judging
from grokatlas.claims.view import ClaimView
from grokatlas.engine import members
from grokatlas.registry import DEFAULT_DYNAMICS
from grokatlas.results import files, layout
from grokatlas.results.ancestry import ancestors
from grokatlas.results.result import Result

# blocks of a run's spec
METHODS = ("optimizer", "penalties", "gradients", "updates", "inputs", "dynamics")


@dataclass(frozen=True)
class ClaimEntry(ClaimView):
    """A claim as the pages show it.

    Attributes:
        methods: of the runs behind its figure.
        of_tables: of how many values its tables are, if they leave out some.
        why: it is missed or partly met, a sentence by its cause.
    """

    methods: tuple[str, ...] = ()
    of_tables: str = ""
    why: dict[str, str] | None = None

    @property
    def paper(self) -> str:
        """Its paper's name."""
        return self.row["paper"]

    @property
    def earlier(self) -> bool:
        """True if earlier code made its tables."""
        return self.row["code"] == "earlier"

    @property
    def so_far(self) -> str:
        """Of how many values its tables are, if it is judged and they leave out some."""
        return self.of_tables if self.verdict != judging.NOT_RUN else ""

    @property
    def same_as(self) -> tuple[str, str] | None:
        """The paper and the id of the claim that has the same judgement and is counted."""
        paper, _, name = self.row.get("same_as", "").partition("/")
        return (paper, name) if paper else None

    @property
    def because(self) -> str:
        """Why it is missed or partly met, if it is, with the cause; else empty."""
        return judging.because(self.verdict, self.why)

    @property
    def verdict(self) -> str:
        """One of `grokatlas.claims.verdicts.VERDICTS`."""
        return self.row["verdict"]


@dataclass(frozen=True)
class FigureEntry:
    """A figure or published table as it is shown.

    Attributes:
        paper: its paper's name.
        name: of its function.
        caption: of the configuration.
        plate: of a figure of this project's own: its question, prediction, answer and limits.
        stem: of its files, without suffix.
        age: ``current``, ``earlier``, or empty where it is absent.
        error: the last line of its log, if it is absent and has one.
        cells: of a published table: its title row, then its rows.
        methods: names of optimizers, penalties, gradients, updates, inputs and dynamics.
        data: names of its tasks.
        runs: how many runs and members it draws, where they trained and how long.
        mixed: how those behind it differ in software and device.
        diverged: how many of these members diverged; empty if none did.
        stopped: how many of them the watch stopped; empty if it stopped none.
        so_far: of how many values its tables are; empty if they leave out none.
        sizes: what differs from paper scale: name, here, published.
        command: rebuilds it.
        origin: the tree behind it, if it is there.
        specs: of its job, tables, measures and runs, by target.
        claims: on it.
    """

    paper: str
    name: str
    caption: str
    plate: dict[str, str | None] | None
    stem: Path
    age: str
    error: str
    cells: list[list[str]]
    methods: tuple[str, ...]
    data: tuple[str, ...]
    runs: str
    mixed: list[str]
    diverged: str
    stopped: str
    so_far: str
    sizes: list[tuple[str, str, str]]
    command: str
    origin: explain.Node | None
    specs: dict[str, Any] = field(repr=False)
    claims: tuple[ClaimEntry, ...] = ()

    @property
    def id(self) -> str:
        """The start of its files' names in the folder of pages."""
        return f"{self.paper}-{self.name}"

    @property
    def title(self) -> str:
        """Its number or name, as words."""
        return words.figure_title(self.name)


@dataclass(frozen=True)
class PaperEntry:
    """A paper as its page shows it: `source` and `deviations` as the configuration has them.

    A deviation also has `effects`: its claims as they are shown. `interpretations` are the paper's
    rows of ``claims.interpretations.csv`` as text.
    """

    name: str
    source: dict[str, Any]
    deviations: list[dict[str, Any]]
    figures: list[FigureEntry]
    claims: list[ClaimEntry]
    interpretations: list[dict[str, str]] = field(default_factory=list)

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of its claims with each verdict, without those that another paper counts."""
        return counted(self.own_claims)

    @property
    def own_claims(self) -> list[ClaimEntry]:
        """The claims that no other paper counts."""
        return [claim for claim in self.claims if claim.same_as is None]


def papers(spec: dict[str, Any], ages: dict[Path, str], tree: Tree) -> list[PaperEntry]:
    """All that the pages show.

    Args:
        spec: of the atlas's job.
        ages: of figures and claims, by target: ``current``, ``earlier`` or empty, as is another.
        tree: the results, for manifests and job files.

    Raises:
        UserError: the claims are damaged.
    """
    scale, stem = spec["scale"], layout.claims_stem(spec["scale"])
    read = [read_rows(file) if ages[stem] else [] for file in layout.outputs("claims", stem)]
    rows, under = read
    made = []
    for name, paper_spec in spec["papers"].items():
        own = [row for row in rows if row["paper"] == name]
        figures = [
            _figure(scale, name, figure, entry, own, paper_spec.get("why", {}), ages, tree)
            for figure, entry in sorted(
                paper_spec["figures"].items(), key=lambda e: words.place(e[0])
            )
        ]
        by_id = {claim.row["id"]: claim for figure in figures for claim in figure.claims}
        claims = [by_id[row["id"]] for row in own if row["id"] in by_id]
        deviations = [
            each | {"effects": [by_id[claim] for claim in each["claims"] if claim in by_id]}
            for each in paper_spec["deviations"]
        ]
        others = [row for row in under if row["paper"] == name]
        made.append(PaperEntry(name, paper_spec["source"], deviations, figures, claims, others))
    return made


def read_rows(file: Path) -> list[dict[str, str]]:
    """The rows of ``claims.csv`` or ``claims.interpretations.csv``, every cell as its text."""
    frame = pd.read_csv(files.verified(file), dtype=str, keep_default_na=False)
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


def counted(claims: list[ClaimEntry]) -> dict[str, int]:
    """The number of claims with each verdict."""
    listed = [claim.verdict for claim in claims]
    return {verdict: listed.count(verdict) for verdict in judging.VERDICTS}


def cells(markdown: str) -> list[list[str]]:
    """A table in Markdown as rows of cells, its title row first."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    rows = [re.split(r"(?<!\\)\|", line.strip().strip("|")) for line in lines]
    rows = [row for row in rows if not all(re.fullmatch(r"\s*:?-+:?\s*", cell) for cell in row)]
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in rows]


def behind(tree: Tree, target: str) -> dict[str, Result]:
    """A result and all that it depends on, as far as it is here, by target.

    Of a finished result the manifest names its inputs; of any other, the job file of the plan.
    """

    def inputs(name: str) -> list[str]:
        result = tree.results[name]
        names = tree.inputs(name) if result.sound else _content(result).get("inputs", [])
        return [each for each in names if each in tree.results]

    names = ancestors([target], inputs) if target in tree.results else []
    return {name: tree.results[name] for name in names}


def methods_of(specs: list[dict[str, Any]]) -> tuple[str, ...]:
    """The names of methods that runs use, sorted; plain gradient training is not one."""
    entries = (spec.get(block, []) for spec in specs for block in METHODS)
    names = {entry["name"] for given in entries for entry in _listed(given)}
    return tuple(sorted(names - {DEFAULT_DYNAMICS}))


def _figure(
    scale: str,
    paper: str,
    name: str,
    entry: dict[str, Any],
    rows: list[dict[str, str]],
    why: dict[str, dict[str, str]],
    ages: dict[Path, str],
    tree: Tree,
) -> FigureEntry:
    stem = layout.figure_stem(scale, paper, name)
    target, age = stem.as_posix(), ages.get(stem, "")
    there = bool(age)
    results = behind(tree, target)
    runs = [result for result in results.values() if _content(result).get("kind") == "run"]
    specs = [_content(run)["spec"] for run in runs]
    methods = methods_of(specs)
    main = layout.outputs("figure", stem)[0]
    published, some = there and layout.is_published_table(name), entry.get("so_far", "")
    command = f"snakemake --cores all {main.as_posix()} --config scale={scale}"
    return FigureEntry(
        paper=paper,
        name=name,
        caption=entry["caption"],
        plate=entry["plate"],
        stem=stem,
        age=age,
        error="" if there else _last_line(layout.beside(stem, ".log")),
        cells=cells(main.read_text(encoding="utf-8")) if published else [],
        methods=methods,
        data=tuple(dict.fromkeys(spec["task"]["name"] for spec in specs if "task" in spec)),
        runs=_trained(runs) if there else "",
        mixed=mixed.of(result.sound for result in results.values()) if there else [],
        diverged=_ended(runs, "diverged", "what they log is not finite") if there else "",
        stopped=_ended(runs, "stopped", "the watch stopped them") if there else "",
        so_far=some,
        sizes=sizes(entry["sizes"]),
        command=values.command(tree.results[target].sound, target)[-1] if there else command,
        origin=explain.parts(tree, target) if there else None,
        specs={name: _content(result).get("spec", {}) for name, result in sorted(results.items())},
        claims=tuple(
            ClaimEntry(row, methods=methods, of_tables=some, why=why.get(row["id"]))
            for row in rows
            if row["figure"] == name
        ),
    )


def sizes(settings: dict[str, dict[str, list[Any]]]) -> list[tuple[str, str, str]]:
    """The differences from paper scale as text: name, values here, values published."""

    def text(entries: list[Any]) -> str:
        return "; ".join(dict.fromkeys(words.setting(entry) for entry in entries))

    rows = [
        (path.removeprefix("ensemble."), text(each["here"]), text(each["published"]))
        for path, each in settings.items()
    ]
    return sorted(rows, key=lambda row: (row[0] != "task.name", row[0]))


def _trained(runs: list[Result]) -> str:
    """The number of runs and members, place and time: ``2 runs, 10 members, 31 s on a CPU``."""
    sound = [run.sound for run in runs if run.sound]
    if not sound:
        return ""
    trained = sum(len(members.of(content["spec"])) for content in sound)
    seconds = sum(float(content.get("wall_seconds", 0)) for content in sound)
    where = " and ".join(sorted({words.machine(content) for content in sound}))
    counts = f"{words.count(len(sound), 'run')}, {words.count(trained, 'member')}"
    return f"{counts}, {words.duration(seconds)} of wall time on {where}"


def _ended(runs: list[Result], key: str, how: str) -> str:
    """The number of members that ended so, and the first step of that: ``2 of 15 members: ...``."""
    sound = [run.sound for run in runs if run.sound]
    steps = [step for content in sound for step in content.get(key, {}).values()]
    if not steps:
        return ""
    trained = sum(len(members.of(content["spec"])) for content in sound)
    counted = f"{len(steps)} of {words.count(trained, 'member')}"
    return f"{counted}: {how}, the first from step {min(steps):,} on"


def _content(result: Result) -> dict[str, Any]:
    """The content of a result's manifest, else of its job file; nothing if both are unsound."""
    job = result.job.content if result.job and result.job.verdict == "ok" else {}
    return result.sound or job


def _listed(given: Any) -> Iterator[dict[str, Any]]:
    yield from given if isinstance(given, list) else [given]


def _last_line(log: Path) -> str:
    """The last line of the log of a job that failed."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
