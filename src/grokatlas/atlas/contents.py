"""The contents of the pages, from the job's spec, the claims and the manifests."""

import re
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas import text as words
from grokatlas.atlas import entries
from grokatlas.audit import explain, mixed, values
from grokatlas.audit.tree import Tree
from grokatlas.engine import members
from grokatlas.results import csv_file, files, foreign, layout
from grokatlas.results.ancestry import ancestors
from grokatlas.results.result import Result

# blocks of a run's spec
METHODS = ("optimizer", "penalties", "gradients", "updates", "inputs", "dynamics")


def papers(spec: dict[str, Any], ages: dict[Path, str], tree: Tree) -> list[entries.PaperEntry]:
    """All that the pages show.

    Args:
        spec: of the atlas's job.
        ages: of figures and claims, by target: ``current``, ``earlier`` or empty, as is another.
        tree: the results, for manifests and job files.

    Raises:
        UserError: the claims are damaged.
    """
    scale, stem = spec["scale"], layout.claims_stem(spec["scale"])
    read = [
        csv_file.read(files.verified(file)) if ages[stem] else []
        for file in layout.outputs("claims", stem)
    ]
    rows, under = read
    paper_entries = []
    for name, paper_spec in spec["papers"].items():
        own = [row for row in rows if row["paper"] == name]
        figures = [
            _figure(scale, name, figure, paper_spec["figures"][figure], own, paper_spec, ages, tree)
            for figure in _ordered(paper_spec["figures"], own)
        ]
        figures.sort(key=lambda each: bool(each.plate and not each.age))  # what is made comes first
        by_id = {claim.row["id"]: claim for figure in figures for claim in figure.claims}
        claims = [by_id[row["id"]] for row in own if row["id"] in by_id]
        deviations = [
            each | {"effects": [by_id[claim] for claim in each["claims"] if claim in by_id]}
            for each in paper_spec["deviations"]
        ]
        others = [row for row in under if row["paper"] == name]
        paper_entries.append(
            entries.PaperEntry(name, paper_spec["source"], claims, deviations, figures, others)
        )
    return paper_entries


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
        names = tree.inputs(name) if result.sound else result.planned.get("inputs", [])
        return [each for each in names if each in tree.results]

    names = ancestors([target], inputs) if target in tree.results else []
    return {name: tree.results[name] for name in names}


def methods_of(specs: list[dict[str, Any]]) -> tuple[str, ...]:
    """The names of methods that runs use, sorted; plain gradient training is not one."""
    names = {entry["name"] for spec in specs for *_, entry in registry.entries(spec, METHODS)}
    return tuple(sorted(names - {registry.DEFAULT_DYNAMICS}))


def _figure(
    scale: str,
    paper: str,
    name: str,
    entry: dict[str, Any],
    rows: list[dict[str, str]],
    paper_spec: dict[str, Any],
    ages: dict[Path, str],
    tree: Tree,
) -> entries.FigureEntry:
    stem = layout.figure_stem(scale, paper, name)
    target, age = stem.as_posix(), ages.get(stem, "")
    there = bool(age)
    results = behind(tree, target)
    runs = [result for result in results.values() if _content(result).get("kind") == "run"]
    specs = [_content(run)["spec"] for run in runs]
    methods = methods_of(specs)
    main = layout.outputs("figure", stem)[0]
    published = there and layout.is_published_table(name)
    command = f"snakemake --cores all {main.as_posix()} --config scale={scale}"
    return entries.FigureEntry(
        paper=paper,
        name=name,
        title=words.figure_title(name, entry.get("title"), _plate_number(entry)),
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
        so_far=entry.get("so_far", ""),
        sizes=sizes(entry["sizes"]),
        command=values.command(tree.results[target].sound, target)[-1] if there else command,
        origin=explain.parts(tree, target) if there else None,
        specs={name: _content(result).get("spec", {}) for name, result in sorted(results.items())},
        claims=_claims([row for row in rows if row["figure"] == name], methods, paper_spec),
    )


def _claims(
    rows: list[dict[str, str]], methods: tuple[str, ...], paper_spec: dict[str, Any]
) -> tuple[entries.ClaimEntry, ...]:
    """The claims of a figure whose runs use these methods."""
    why, shares = (paper_spec.get(key, {}) for key in ("why", "so_far"))
    return tuple(
        entries.ClaimEntry(
            row, methods=methods, of_tables=shares.get(row["id"], ""), why=why.get(row["id"])
        )
        for row in rows
    )


def sizes(settings: dict[str, dict[str, list[Any]]]) -> list[tuple[str, str, str]]:
    """The differences from paper scale as text: name, values here, values published."""

    def text(entries: list[Any]) -> str:
        return "; ".join(dict.fromkeys(words.setting(entry) for entry in entries))

    rows = [
        (path.removeprefix("ensemble."), text(setting["here"]), text(setting["published"]))
        for path, setting in settings.items()
    ]
    return sorted(rows, key=lambda row: (row[0] != "task.name", row[0]))


def _ordered(figures: dict[str, Any], claims: list[dict[str, str]]) -> list[str]:
    """The figures of a paper by their numbers; where two are one plate, the one claimed first."""
    claimed = list(dict.fromkeys(claim["figure"] for claim in claims))

    def place(figure: str) -> tuple[Any, ...]:
        number = _plate_number(figures[figure])
        first = claimed.index(figure) if number and figure in claimed else len(claimed)
        return number, first, words.place(figure)

    return sorted(figures, key=place)


def _plate_number(entry: dict[str, Any]) -> int:
    """The number of a plate; 0 of any other figure."""
    return (entry["plate"] or {}).get("number") or 0


def _trained(runs: list[Result]) -> str:
    """The number of runs and members, place and time: ``2 runs, 10 members, 31 s on a CPU``."""
    sound = [run.sound for run in runs if run.sound]
    if not sound:
        return ""
    trained = sum(len(members.of(content["spec"])) for content in sound)
    counts = f"{words.count(len(sound), 'run')}, {words.count(trained, 'member')}"
    sources = (foreign.origin(content)[0] for content in sound if foreign.kind(content["spec"]))
    marks = "; ".join(dict.fromkeys(sources))
    here = [content for content in sound if foreign.IMPORT not in content["spec"]]
    if not here:
        return f"{counts}, {marks}"
    seconds = sum(float(content.get("wall_seconds", 0)) for content in here)
    where = " and ".join(sorted({words.machine(content) for content in here}))
    took = f"{counts}, {words.duration(seconds)} of wall time on {where}"
    return "; ".join(filter(None, [took, marks]))


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
    return result.sound or result.planned


def _last_line(log: Path) -> str:
    """The last line of the log of a job that failed."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return words.last_line(text)
