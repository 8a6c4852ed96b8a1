"""From figures, claims and their manifests to one folder of pages.

The folder is flat, as its manifest vouches for every file in it, and holds copies of all it shows:
it opens from disk and asks for nothing elsewhere.
"""

import importlib.metadata
import importlib.resources
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2
import markupsafe
import pandas as pd

from grokatlas import registry
from grokatlas import text as words
from grokatlas.atlas import by_interpretation, contents, curves, editions, entries
from grokatlas.atlas.glossary import GLOSSARY
from grokatlas.audit.tree import Tree
from grokatlas.claims import verdicts
from grokatlas.results import files, layout

HERE = Path(__file__).parent
KEPT = ("spec.json", "manifest.json", "log.txt")  # the job's own files in the folder
SCALES = {
    "smoke": "Smoke scale: a test of the workflow. These numbers say nothing about the papers.",
    "quick": "Quick scale: smaller sizes, the same equations. "
    "These are not the numbers of the published sizes.",
    "paper": "Paper scale: the published sizes.",
}
MISSES = (verdicts.MISSED, verdicts.NOT_SEEN)
MARKS = dict(
    zip(verdicts.VERDICTS, "✓◐✗⊘≈△▽○", strict=True)
)  # so that a verdict does not depend on its colour alone


def write(spec: dict[str, Any], ages: dict[Path, str], folder: Path) -> list[Path]:
    """Write all pages; every file written.

    Args:
        spec: of the atlas's job: scale, and what the papers' YAML say.
        ages: of the figures and the claims: ``current``, ``earlier``, or empty where it is absent.
        folder: of the pages; what else is there is removed.
    """
    papers = contents.papers(spec, ages, Tree(layout.RESULTS))
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {}  # what can be looked at closely: points kept and there, by figure
    paths = [_copy(file, folder / name) for name, file in _shipped().items()]
    for figure in (figure for paper in papers for figure in paper.figures):
        paths.append(folder / f"{figure.id}.specs.json")
        files.write_json(paths[-1], figure.specs)
        for file in layout.outputs("figure", figure.stem) if figure.age else []:
            paths.append(_copy(file, folder / f"{figure.paper}-{file.name}"))
        points = _curves(figure)
        if points is not None:
            drawn[figure.id] = points
            paths.append(folder / f"{figure.id}.curves.js")
            text = json.dumps(points, separators=(",", ":"), allow_nan=False)
            line = f"(window.grokatlasCurves ??= {{}})[{json.dumps(figure.id)}] = {text};\n"
            files.write_text(paths[-1], line)
    for study in entries.studies(spec):
        for row in study.figures:
            target = folder / f"study-{study.name}-{row['figure']}.png"
            paths.append(_copy(Path(row["picture"]), target))
    for name, text in _pages(spec, papers, drawn, by_interpretation.sections(spec, papers)):
        paths.append(folder / name)
        files.write_text(paths[-1], text)
    for file in folder.iterdir():
        if file.is_file() and file not in paths and file.name not in KEPT:
            file.unlink()
    return paths


def _pages(
    spec: dict[str, Any],
    papers: list[entries.PaperEntry],
    drawn: dict[str, dict[str, Any]],
    sections: list[by_interpretation.Section],
) -> Iterator[tuple[str, str]]:
    """The name and text of every page."""
    scale = spec["scale"]
    pages = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.globals |= {
        "scale": scale,
        "about_scale": SCALES[scale],
        "papers": papers,
        "marks": MARKS,
        "meanings": verdicts.MEANINGS,
        "causes": verdicts.CAUSES,
        "glossary": GLOSSARY,
        "sections": {section.paper.name: section for section in sections},
        "dependence": {k: n for k, n in by_interpretation.total(sections).items() if n},
        "marks_of": by_interpretation.marks,
        "example": by_interpretation.example(sections),
        "drawn": drawn,
        "outputs": layout.outputs,
    }
    studies = entries.studies(spec)
    used = {claim.verdict for study in studies for claim in study.claims}
    legend = [each for each in verdicts.VERDICTS if each in used.union(verdicts.possible(scale))]
    pages.globals |= {"studies": studies, "verdicts": legend}
    pages.globals |= _counts(scale, papers) | {"findings": entries.findings(spec, papers)}
    pages.globals |= editions.of(*editions.commit_and_date())
    for name in ("slug", "plain", "sentence", "first_sentence", "alternative"):
        pages.filters[name] = getattr(words, name)
    pages.filters |= {"counted": words.count, "dependence": by_interpretation.in_words}
    pages.filters |= {"grouped": entries.grouped, "code": _code}
    for name in ("index", "claims", "words"):
        yield f"{name}.html", pages.get_template(f"{name}.html").render()
    if pages.globals["findings"]:
        yield "findings.html", pages.get_template("findings.html").render()
    if sections:
        yield "readings.html", pages.get_template("interpretations.html").render()
    for paper in papers:
        yield f"paper-{paper.name}.html", pages.get_template("paper.html").render(paper=paper)
    for study in studies:
        yield f"study-{study.name}.html", pages.get_template("study.html").render(study=study)


def _counts(scale: str, papers: list[entries.PaperEntry]) -> dict[str, Any]:
    """The rows of the lists of all claims and figures, and their counts."""
    every = [claim for paper in papers for claim in paper.own_claims]
    every.sort(key=lambda claim: claim.verdict == verdicts.NOT_RUN)  # what was judged comes first
    figures = [figure for paper in papers for figure in paper.figures]
    kinds = verdicts.possible(scale)
    return {
        "claims": every,
        "figures": figures,
        "methods": sorted({method for figure in figures for method in figure.methods}),
        "totals": entries.counted(every),
        "published": [paper for paper in papers if paper.source["arxiv"]],
        "stated": [claim for claim in every if claim.row["source"] != "prediction"],
        "predicted": [claim for claim in every if claim.row["source"] == "prediction"],
        "misses": MISSES,
        "columns": sorted(kinds, key=lambda verdict: verdict not in MISSES),
        "tally": lambda claims: verdicts.tally(
            [claim.verdict for claim in claims],
            [claim.verdict for claim in claims if claim.afterwards],
        ),
    }


def _code(text: str) -> markupsafe.Markup:
    """A text of the configuration with what stands between backticks as code."""
    return markupsafe.Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(markupsafe.escape(text))))


def _curves(figure: entries.FigureEntry) -> dict[str, Any] | None:
    """A figure's curves; None for what is absent, a published table, or no curve."""
    if not figure.age or layout.is_published_table(figure.name):
        return None
    # low_memory would take a column's type from its first part
    drawn = pd.read_csv(layout.beside(figure.stem, ".csv"), low_memory=False)
    return curves.data(drawn)


def _shipped() -> dict[str, Path]:
    """Style and scripts of the pages, and plotly.js with its licence, by name in the folder."""
    library = importlib.resources.files("plotly") / "package_data" / "plotly.min.js"
    listed = importlib.metadata.files("plotly") or []
    licence = next(file for file in listed if file.name.startswith("LICENSE"))
    return {
        **{file.name: file for file in registry.own_files(HERE / "static", "*")},
        "plotly.min.js": Path(str(library)),
        "plotly.LICENSE.txt": Path(str(licence.locate())),
    }


def _copy(file: Path, to: Path) -> Path:
    with files.atomic(to) as temporary:
        shutil.copyfile(file, temporary)
    return to
