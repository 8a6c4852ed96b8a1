"""``grokatlas report``: a paper's reproducibility report, from what is declared and recorded."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grokatlas import __version__, registry
from grokatlas import text as words
from grokatlas.claims import verdicts
from grokatlas.declare import cell_check, cells, models, names, prose, signatures
from grokatlas.declare.claim_models import Claim
from grokatlas.declare.papers import load_papers
from grokatlas.declare.run_shares import Cell
from grokatlas.errors import UserError, nearest
from grokatlas.export import evidence
from grokatlas.publish import interpretations, pages, report_latex
from grokatlas.publish.recorded_rows import RecordedRows
from grokatlas.results import files, layout

# by form the headings of the parts, in their order
FORMS = {
    "mlrc": {  # of the Machine Learning Reproducibility Challenge
        "scope": "## Scope of reproducibility",
        "method": "## Methodology",
        "models": "### Model descriptions",
        "data": "### Datasets",
        "settings": "### Hyperparameters",
        "compute": "### Computational requirements",
        "results": "## Results",
        "deviations": "## Deviations and other interpretations",
        "easy": "## What was easy",
        "difficult": "## What was difficult",
        "authors": "## Communication with original authors",
    },
    "rescience": {  # of an article in ReScience C
        "scope": "## Introduction",
        "method": "## Methods",
        "models": "### Models",
        "data": "### Data",
        "settings": "### Parameters and their sources",
        "compute": "### Computation",
        "deviations": "### Deviations and other interpretations",
        "results": "## Results",
        "easy": "## Discussion: what was easy",
        "difficult": "## Discussion: what was difficult",
    },
}
# programs that make a PDF: the first that is here does
ENGINES = {"latexmk": ["-pdf"], "pdflatex": [], "xelatex": []}
METHOD = """Every experiment is declared in YAML and trained by this project's own code. A statement
of the paper is a claim: a number of each run, with an interval that is this project's. Every
recorded number leads back to its runs: `grokatlas explain` shows them, `grokatlas verify` checks
them."""
SETTINGS = """As they are run at the published size, each experiment with its source in the paper or
its code. Where the paper does not tell a setting, or code differs, it is among the deviations."""
COMPUTE = """Seconds are wall time of training. Runs that several figures draw are counted at each
of them."""
LETTER = """To the authors. We redrew your figures and judged your statements: {}. In your place we
would want to know the following. We may be wrong in each, and would be glad to be told."""
UNTOLD = ("name", "log", "snapshots", "dynamics", "observables")


def main(paper: str, form: str, letter: bool, out: Path) -> Iterator[str]:
    """Write a report, or a letter to the paper's authors, in Markdown, LaTeX and PDF.

    Args:
        paper: its name.
        form: mlrc or rescience.
        letter: write the letter instead.
        out: folder of the files.

    Raises:
        UserError: no such paper or form, or the paper has no texts for a report.
    """
    papers = load_papers(names.PAPERS, "all")
    report = Report(papers, RecordedRows(evidence.FOLDER, papers), paper)
    text = report.letter() if letter else report.text(form)
    stem = out / f"{paper}_{'letter' if letter else form}"
    for suffix, content in ((".md", text), (".tex", report_latex.document(text))):
        files.write_text(stem.with_suffix(suffix), content)
        yield str(stem.with_suffix(suffix))
    yield _pdf(stem)


def _pdf(stem: Path) -> str:
    """The PDF of a report, or a sentence on why there is none."""
    engine = next(filter(shutil.which, ENGINES), None)
    if engine is None:
        return f"no PDF: none of {', '.join(ENGINES)} is here"
    command = [engine, *ENGINES[engine], "-interaction=nonstopmode", "-halt-on-error", stem.name]
    for _ in range(2):  # the widths of tables are known in the second run
        if subprocess.run(command, cwd=stem.parent, capture_output=True, check=False).returncode:
            raise UserError(f"{stem}.tex", f"{engine} failed; its log is {stem}.log")
    return f"{stem}.pdf"


class Report:
    """The report on a paper.

    Args:
        papers: all that are declared, by name.
        record: of their figures and claims.
        name: the paper.
    """

    def __init__(self, papers: dict[str, models.Paper], record: RecordedRows, name: str) -> None:
        if name not in papers:
            raise UserError(f"report {name}", f"no such paper; {nearest(name, [*papers])}")
        self._papers, self._record, self._name, self._paper = papers, record, name, papers[name]
        if self._paper.report is None:
            place = f"papers/{name}/{models.PAPER}: report"
            raise UserError(place, "is not given; write its keys scope, easy and difficult")
        self._texts = self._paper.report

    def text(self, form: str) -> str:
        """The report in Markdown; an error if there is no such form."""
        if form not in FORMS:
            raise UserError(f"--form {form}", f"no such form; {nearest(form, [*FORMS])}")
        parts = {
            "scope": [self._texts.scope],
            "method": [METHOD],
            "models": [self._components(*cell_check.AXES)],
            "data": [self._components("task")],
            "settings": [SETTINGS, *self._settings()],
            "compute": [COMPUTE, self._compute()],
            "results": self._results(),
            "deviations": [
                pages.deviations(self._name, self._paper, self._record),
                interpretations.table(self._name, self._paper, self._record, pages.ours),
            ],
            "easy": [self._texts.easy],
            "difficult": [self._texts.difficult],
            "authors": [f"None is recorded. `grokatlas report {self._name} --letter` begins one."],
        }
        blocks = [f"# Reproducibility report: {self._paper.source.title}", self._origin()]
        for part, title in FORMS[form].items():
            blocks += [title, *parts[part]]
        text = "\n\n".join(filter(None, blocks)) + "\n"
        # links of the pages lead nowhere from a report
        return re.sub(r"\[([^]]+)\]\((?!http)[^)]+\)", r"\1", text)

    def letter(self) -> str:
        """A page for the paper's authors, in Markdown: what we would want to know in their place.

        Misses whose cause is this project's own, its intervals or missing runs, have no sentence.
        """
        errors = [deviation for deviation in self._paper.deviations if deviation.kind == "error"]
        unstated = [each.where for each in self._paper.deviations if each.kind == "unstated"]
        reasons: dict[str, list[str]] = {}
        for claim, why in self._misses():
            cause = why.partition(":")[0]
            ours = cause in ("interval", "missing")
            reason = f"{cause}: {verdicts.CAUSES[cause]}." if ours else why
            reasons.setdefault(reason, []).append(claim.id)
        blocks = [
            f"# On reproducing: {self._paper.source.title}",
            LETTER.format(self._record.verdicts(self._name, self._paper.claims)),
            "## What may be errors",
            _list([f"*{each.where}*: {each.paper}; {_against(each)}." for each in errors]),
            "## What we had to choose, as it is not stated",
            words.sentence("; ".join(unstated) or "nothing") + ".",
            "## What we did not reproduce, and why",
            _list([f"{', '.join(ids)}, {reason}" for reason, ids in reasons.items()]),
            self._origin(),
        ]
        return "\n\n".join(blocks) + "\n"

    def _misses(self) -> Iterator[tuple[Claim, str]]:
        """The claims that are missed or partly met, each with its cause and sentence."""
        for claim in self._paper.claims:
            verdict = self._record.verdict(self._name, claim)
            if verdict in (verdicts.MISSED, verdicts.PARTLY):
                yield claim, verdicts.because(verdict, claim.why)

    def _origin(self) -> str:
        source = self._paper.source
        origin = []
        if source.arxiv:
            origin.append(f"[arXiv {source.arxiv}](https://arxiv.org/abs/{source.arxiv})")
        if source.code:
            origin.append(f"code [{source.code}](https://github.com/{source.code})")
        command = f"`grokatlas report {self._name}` of Grokking Atlas {__version__}"
        made = f"Made by {command} from its recorded evidence."
        return f"{', '.join(origin)}. {made}" if origin else made

    def _experiments(self) -> dict[tuple[str, str], list[Cell]]:
        """The cells at paper scale of every experiment that is drawn or is the paper's own."""
        drawn = [each for figure in self._paper.figures.values() for each in figure.experiments]
        pairs = [layout.owner_of_table(self._name, each) for each in [*drawn]]
        pairs += [(self._name, each) for each in self._paper.experiments]
        return {
            pair: cells.resolve(pair[0], self._papers[pair[0]], pair[1], "paper")
            for pair in dict.fromkeys(pairs)
        }

    def _components(self, *blocks: str) -> str:
        """A list of the components that the experiments use, each with what it is."""
        specs = [cell.spec for experiment in self._experiments().values() for cell in experiment]
        lines = []
        for block in blocks:
            used = (entry for spec in specs for *_, entry in registry.entries(spec, [block]))
            for name in sorted({entry["name"] for entry in used}):
                lines.append(f"{block} `{name}`: {signatures.signature(block, name).summary}")
        return _list(lines)

    def _settings(self) -> Iterator[str]:
        """The settings of every experiment, with the place of the paper that has them."""
        for (owner, name), experiment in self._experiments().items():
            about = self._papers[owner].experiments[name].about
            yield f"#### `{name if owner == self._name else f'{owner}/{name}'}`"
            sentence = f"{words.sentence(about)}. " if about else ""
            yield f"{sentence}Source: {_source(names.PAPERS / owner, name)}"
            keys = dict.fromkeys(key for cell in experiment for key in cell.spec)
            blocks = [key for key in keys if key not in UNTOLD]
            rows = [[block, _values(experiment, block)] for block in blocks]
            yield words.markdown_table(["block", "settings"], rows).strip()

    def _compute(self) -> str:
        rows = []
        for name, figure in self._paper.figures.items():
            row = self._record.figures.get((self._name, name), {"scale": "not recorded"})
            columns = ("scale", "so_far", "runs", "train_seconds", "machine")
            title = words.figure_title(name, figure.title)
            rows.append([title, *(row.get(key, "") for key in columns)])
        return words.markdown_table(
            ["figure", "scale", "so far", "runs", "seconds", "machine"], rows
        ).strip()

    def _results(self) -> list[str]:
        """The findings, then for each figure its claims and why some are missed."""
        blocks = [self._record.verdicts(self._name, self._paper.claims) + "."]
        if findings := self._paper.findings:
            blocks.append(_list([f"{finding.title} {finding.told}" for finding in findings]))
        for figure in dict.fromkeys(claim.figure for claim in self._paper.claims):
            about = [claim for claim in self._paper.claims if claim.figure == figure]
            head = ["", "statement", "published", "ours", "expected", "verdict"]
            missed = [f"{claim.id}, {why}" for claim, why in self._misses() if claim in about]
            blocks += [
                f"### {words.figure_title(figure, self._paper.figures[figure].title)}",
                words.markdown_table(head, [self._row(claim) for claim in about]).strip(),
                _list(missed) if missed else "",
            ]
        return blocks

    def _row(self, claim: Claim) -> list[str]:
        same = self._record.same_as(self._name, claim)
        return [
            *(claim.id, claim.statement, claim.published),
            pages.ours(claim, self._record.judged(self._name, claim)),
            pages.expected(claim),
            self._record.verdict(self._name, claim) + (f" (counted as {same})" if same else ""),
        ]


def _against(deviation: prose.Deviation) -> str:
    """The side of a deviation that differs from the paper."""
    return f"the code: {deviation.code}" if deviation.code else f"we: {deviation.ours}"


def _list(items: list[str]) -> str:
    return "\n".join(f"- {item}" for item in items) or "Nothing."


def _source(folder: Path, experiment: str) -> str:
    """The place of the paper that an experiment is of, from the comment above it."""
    text = (folder / models.EXPERIMENTS).read_text(encoding="utf-8")
    comment = re.search(rf"^((?:#.*\n)+){experiment}:", text, re.MULTILINE)
    lines = re.sub(r"\n?# *", " ", comment[1]).strip() if comment else ""
    match = re.search(r"Source: (.+?\.)(?= [A-Z][a-z ]+:|$)", lines)
    return match[1] if match else "not written down."


def _values(experiment: list[Cell], block: str) -> str:
    """The values that a block has in the cells of an experiment; of several, with their cases."""
    values: dict[str, dict[str, None]] = {}
    for cell in experiment:
        values.setdefault(_shown(cell.spec.get(block)), {})[cell.case or cell.label] = None
    if len(values) == 1:
        return next(iter(values))
    return "; ".join(f"{value}: {', '.join(cases)}" for value, cases in values.items() if value)


def _shown(value: Any) -> str:
    """A block as text: ``adamw (lr 0.001, eps 1e-08)``."""
    if isinstance(value, dict):
        rest = ", ".join(f"{k} {_shown(v)}" for k, v in value.items() if k not in UNTOLD)
        return f"{value['name']} ({rest})".removesuffix(" ()") if "name" in value else rest
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return "" if value is None else words.setting(value)
