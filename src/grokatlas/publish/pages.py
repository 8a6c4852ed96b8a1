"""The parts of `docs/papers/*.md` that repeat the YAML and what was recorded of results.

A figure's picture, or a table's text, is in the page's own folder; `recorded.py` put it there.
"""

from collections.abc import Iterator
from pathlib import Path

from grokatlas import text as words
from grokatlas.atlas.glossary import GLOSSARY
from grokatlas.claims import verdicts
from grokatlas.claims.verdicts import AFTERWARDS, NOT_RUN
from grokatlas.claims.view import ClaimView
from grokatlas.declare import bound_numbers, claim_models, models
from grokatlas.declare.names import CONFIG
from grokatlas.declare.papers import load_papers
from grokatlas.errors import UserError
from grokatlas.export import evidence
from grokatlas.publish import findings, groks, interpretations, recorded
from grokatlas.publish.recorded_rows import RecordedRows
from grokatlas.results import csv_file, files, layout
from grokatlas.rules.jobs import undeclared_reads

BEGIN = "<!-- {part}: made by `grokatlas reference` from {source} -->"
END = "<!-- end of {part} -->"
GALLERY = """
# Gallery

<!-- made by `grokatlas reference` from config/papers and recorded; do not edit -->

Every recorded figure; a picture leads to its caption, its runs and the claims on it.
"""
WORDS = """# Words

<!-- made by `grokatlas reference` from src/grokatlas/atlas/glossary.py; do not edit -->

For readers who know gradient descent, and not grokking.

{table}
What a verdict such as *partly* means is in [the pages](atlas.md#how-verdicts-are-given).
"""
WORDS_LINK = "[Words](../words.md) says what the terms mean."  # on pages beside which it is
UNKEPT = "†"  # beside a verdict of which no evidence is recorded


def record(scale: str, names: list[str]) -> Iterator[str]:
    """Record evidence, figures and verdicts of a scale, and renew this checkout's pages."""
    folder = Path("docs") / "papers"
    yield from recorded.take(scale, names, folder)
    undeclared_reads.end()  # the claims are judged; pages of a study are files of the study
    for file, text in texts(CONFIG, folder):
        files.write_text(file, text)


def texts(configuration: Path, pages: Path) -> Iterator[tuple[Path, str]]:
    """Every paper's page and their README, where these exist, with generated parts renewed.

    So are the numbers of recorded claims that are bound in their prose.
    """
    papers = load_papers(configuration / "papers", "all")
    record_folder = pages.parents[1] / evidence.FOLDER
    record = RecordedRows(record_folder, papers)
    is_study = not (pages.parent / "atlas.md").exists()
    explained, more = ("", "") if is_study else (interpretations.EXPLAINED, WORDS_LINK)
    for name, paper in papers.items():
        page = pages / f"{name}.md"
        if page.exists():
            others = interpretations.table(name, paper, record, ours, explained)
            parts = {
                "figures": figures(name, paper, pages, record),
                "claims": claims(name, paper, record, more),
                "deviations": f"{deviations(name, paper, record)}\n\n{others}".rstrip(),
            }
            text = _renewed(page, parts, f"config/papers/{name}")
            yield page, bound_numbers.renewed(text, name, pages.parents[1])
    readme = pages / "README.md"
    if readme.exists():
        parts = {"state": state(papers, record)}
        yield readme, _renewed(readme, parts, "config/papers and recorded")
    if findings.numbered(papers) and readme.exists():
        yield pages.parent / "findings.md", findings.page(papers)
        yield pages.parent / "gallery.md", gallery(papers, pages)
        terms = [list(entry) for entry in GLOSSARY.items()]
        table = words.markdown_table(["word", "meaning"], terms)
        yield pages.parent / "words.md", WORDS.format(table=table)
    rows, clock = csv_file.read(record_folder / groks.FILE), pages.parent / "groks.md"
    if rows and clock.exists():
        yield clock, groks.page(rows)
    fronts = pages.parents[1] / "README.md", pages.parent / "index.md"
    for front in fronts if findings.numbered(papers) else ():
        if front.exists():
            text = _renewed(front, {"findings": findings.first(papers)}, "config/papers")
            yield front, bound_numbers.renewed(text, "", pages.parents[1])
    for page in sorted(pages.glob("[a-z]*.md")):
        if page.stem not in papers:  # of no paper: a number names the paper of its claim
            text = page.read_text(encoding="utf-8")
            yield page, bound_numbers.renewed(text, "", pages.parents[1])


def gallery(papers: dict[str, models.Paper], pages: Path) -> str:
    """The page of every recorded picture, three in a row, each with its title and its place."""
    blocks = [GALLERY.strip()]
    for name, paper in papers.items():
        cells = []
        for figure, entry in paper.figures.items():
            picture = recorded.picture(pages, name, figure)
            if picture.exists() and picture.suffix == ".png":
                number = entry.plate.number if entry.plate else None
                title = words.figure_title(figure, entry.title, number)
                shown = f"![{title}]({picture.relative_to(pages.parent)})<br>{title}"
                cells.append(f"[{shown}](papers/{name}.md#{figure})")
        rows = [cells[i : i + 3] for i in range(0, len(cells), 3)]
        blocks += [f"## {paper.source.title}", words.markdown_table([""] * 3, rows).rstrip()]
    return "\n\n".join(blocks) + "\n"


def figures(name: str, paper: models.Paper, pages: Path, record: RecordedRows) -> str:
    """Every figure with its picture or text, caption, origin and the command that makes it."""
    blocks = []
    for figure, entry in paper.figures.items():
        target = layout.outputs("figure", layout.figure_stem("paper", name, figure))[0]
        picture = recorded.picture(pages, name, figure)
        blocks += [
            f"### {figure}",
            *_asked(entry.plate),
            *_shown(name, figure, entry.caption, picture),
            words.paragraph(entry.caption.strip()),
            *_answered(entry.plate),
            _origin(record.figures.get((name, figure)) if picture.exists() else None),
            f"    snakemake --config scale=paper -- {target}",
        ]
    return "\n\n".join(blocks)


def deviations(name: str, paper: models.Paper, record: RecordedRows) -> str:
    """The numbered deviations as a list, with what was measured of both settings."""
    lines = []
    claims_by_id = {claim.id: claim for claim in paper.claims}
    for number, entry in enumerate(paper.deviations, 1):
        code = f" **Code:** {entry.code}." if entry.code else ""
        text = f"{number}. *{entry.where}*. **Paper:** {entry.paper}.{code} "
        text += f"**Ours:** {entry.ours}. **Why:** {entry.why}."
        text += _effect(
            [claims_by_id[each] for each in entry.claims], entry.interpretations, name, record
        )
        lines.append(words.paragraph(text, " " * (len(str(number)) + 2)))
    return "\n".join(lines)


def claims(name: str, paper: models.Paper, record: RecordedRows, more: str) -> str:
    """Every claim with the published number, ours, the interval and the verdict.

    After the meanings of the verdicts comes a sentence `more`.
    """
    head = ["", "figure", "statement", "published", "ours", "expected", "verdict", "control"]
    rows = []
    for claim in paper.claims:
        row = record.judged(name, claim)
        cells = [claim.id, claim.figure, claim.statement, claim.published, ours(claim, row)]
        cells += [
            expected(claim),
            _judged(row, claim) + _counted_as(record.same_as(name, claim)),
            _shown_row(claim, row).control,
        ]
        rows.append(cells)
    table = words.markdown_table(head, rows)
    lines = [words.paragraph(record.verdicts(name, paper.claims) + "."), "", table.rstrip()]
    if f"**{UNKEPT} " in table:
        lines += ["", f"{UNKEPT} The runs behind this verdict were not kept."]
    judged = [(record.verdict(name, claim), claim) for claim in paper.claims]
    used = {verdict for verdict, _ in judged}
    used |= {verdicts.because(v, each.why).partition(":")[0] for v, each in judged}
    return "\n".join([*lines, "", _legend(used, more)])


def expected(claim: claim_models.Claim) -> str:
    """The interval of a claim, and that it was set afterwards if it was."""
    interval = words.interval(claim.expected[0], claim.expected[1], "{:g}".format)
    return f"{interval}, {AFTERWARDS}" if claim.afterwards else interval


def _legend(used: set[str], more: str) -> str:
    """The meanings of those verdicts, and of those causes of misses, that are used."""
    meanings = {**verdicts.MEANINGS, **verdicts.CAUSES}
    definitions = [f"*{word}*: {meanings[word]}" for word in meanings if word in used]
    return words.paragraph(f"{'; '.join(definitions)}. {more}")


def state(papers: dict[str, models.Paper], record: RecordedRows) -> str:
    """The table of figures: scale, machine, runs and verdicts on claims of each."""
    rows, used = [], set()
    for name, paper in papers.items():
        used |= {record.verdict(name, claim) for claim in paper.claims}
        for figure in paper.figures:
            row = record.figures.get((name, figure), {})
            about = [claim for claim in paper.claims if claim.figure == figure]
            scale = row.get("scale", "none")
            some = f" ({row['so_far']})" if row.get("so_far") else ""
            link = f"[`{name}` {figure}]({name}.md#{figure})"
            counts = record.verdicts(name, about, scale)
            rows.append([link, f"{scale}{some}", row.get("machine", ""), _training(row), counts])
    head = ["figure", "scale of the picture", "machine", "training", "claims"]
    return f"{words.markdown_table(head, rows)}\n{_legend(used, WORDS_LINK)}"


def _training(row: dict[str, str]) -> str:
    """The runs behind a recorded figure, and the wall time that they took."""
    if not row:
        return ""
    took = f", {words.duration(float(row['train_seconds']))}" if float(row["train_seconds"]) else ""
    return words.count(int(row["runs"]), "run") + took + ("" if row.get("kept") else ", not kept")


def _shown(name: str, figure: str, caption: str, picture: Path) -> list[str]:
    """A figure's picture, or a published table's text; nothing where none was recorded."""
    if not picture.exists():
        return []
    if layout.is_published_table(figure):
        return [picture.read_text(encoding="utf-8").partition("<!--")[0].strip()]
    return [f"![{words.alternative(caption)}]({name}/{picture.name})"]


def _asked(plate: models.Plate | None) -> list[str]:
    """The question of a plate, and its prediction."""
    if plate is None:
        return []
    lines = (f"**Question.** {plate.question}", f"**Predicted before the run.** {plate.prediction}")
    return [words.paragraph(line) for line in lines]


def _answered(plate: models.Plate | None) -> list[str]:
    """The answer of a plate, and its limits."""
    if plate is None:
        return []
    answer = plate.answer or "None yet: the full scale was not run."
    lines = (f"**Answer.** {answer}", f"**Limits.** {plate.limits}")
    return [words.paragraph(line) for line in lines]


def _effect(
    claims: list[claim_models.Claim], keys: list[str], name: str, record: RecordedRows
) -> str:
    """The numbers of claims, as drawn and under other interpretations, if they were judged."""
    parts = []
    for claim in claims:
        row = record.judged(name, claim)
        if number := ours(claim, row):
            under = record.under(name, claim)
            number += "".join(f"; `{e}`: {ours(claim, under[e])}" for e in keys if e in under)
            parts.append(f"{claim.statement} ({claim.id}): {number}, {row['scale']} scale")
    return f" **Measured:** {'; '.join(parts)}." if parts else ""


def _origin(row: dict[str, str] | None) -> str:
    if row is None:
        return "*Not recorded yet.*"
    time = (
        f", {row['train_seconds']} s of training (wall time)" if float(row["train_seconds"]) else ""
    )
    some = f", so far {row['so_far']}" if row.get("so_far") else ""
    runs = f"{row['runs']} run{'s' * (row['runs'] != '1')}{some}{time}"
    unkept = "" if row.get("kept") else " The runs were not kept."
    where = f"on {row['machine']} at {row['commit']}"
    return words.paragraph(f"*{row['scale'].capitalize()} scale, {runs}, {where}.{unkept}*")


def ours(claim: claim_models.Claim, row: dict[str, str]) -> str:
    """Our number of a claim's recorded row, with its range if there are several."""
    shown = _shown_row(claim, row)
    several = shown.value and row["count"] != "1"
    return f"{shown.value} ({shown.ends}, {shown.values})" if several else shown.value


def _shown_row(claim: claim_models.Claim, row: dict[str, str]) -> ClaimView:
    return ClaimView(row | {"unit": claim.unit}, digits=3)


def _judged(row: dict[str, str], claim: claim_models.Claim) -> str:
    if row.get("verdict", NOT_RUN) == NOT_RUN:
        return f"not run ({row['reason']})" if row.get("reason") else "not run"
    where = "" if row["scale"] in row["verdict"] else f"{row['scale']} scale; "
    mark = "" if row.get("kept") else UNKEPT
    because = verdicts.because(row["verdict"], claim.why)
    return f"**{row['verdict']}**{mark} ({where}{row['reason']}){f' {because}' * bool(because)}"


def _counted_as(same: str) -> str:
    """The claim that counts a judgement which two papers share."""
    paper, _, claim = same.partition("/")
    return f", counted as [{claim} of `{paper}`]({paper}.md)" if same else ""


def _renewed(file: Path, parts: dict[str, str], source: str) -> str:
    """The text of a page with its generated parts; an error if it lacks the marks of one."""
    text = file.read_text(encoding="utf-8")
    for part, body in parts.items():
        begin, end = BEGIN.format(part=part, source=source), END.format(part=part)
        if text.count(begin) != 1 or text.count(end) != 1:
            raise UserError(str(file), f"must hold once each: {begin} and {end}")
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n\n{body}\n\n{end}{after}"
    return text
