"""A claim: what is said and expected, and the verdict of every scale that was judged here."""

import math
import re
from pathlib import Path
from typing import Any

from grokatlas import text as words
from grokatlas.claims.verdicts import AFTERWARDS, MISSED, because
from grokatlas.claims.view import ClaimView
from grokatlas.declare import names, versions
from grokatlas.declare.claim_models import Claim
from grokatlas.declare.models import CLAIMS, Paper
from grokatlas.declare.papers import load_papers
from grokatlas.errors import UserError, closest
from grokatlas.results import csv_file, files, layout

RECORDED = Path("recorded/claims.csv")  # verdicts that a checkout ships
# cells of a verdict's row that a program gets
NUMBERS = ("value", "lowest", "highest", "count", "control_value")
WORDS = ("verdict", "reason", "control", "control_verdict", "commit")


def is_named(name: str) -> bool:
    """Tell if a name is that of a claim: ``G1`` or ``PAPER/G1``."""
    return bool(names.CLAIM.fullmatch(name.rpartition("/")[2]))


def facts(name: str, results: Path) -> dict[str, Any]:
    """A claim with its verdicts, as plain data: the keys of ``claims.yaml``, paper and verdicts.

    ``made_from`` names its figure, or the tables that it reads where these are not all of it;
    ``declared`` the file and line of its block, ``function`` what computes its number.

    Raises:
        UserError: no paper has a claim of that id, or several have.
    """
    paper, _, claim_id = name.rpartition("/")
    declared = load_papers(names.PAPERS, [paper] if names.is_paper(paper) else "all")
    ids = {key: [claim.id for claim in each.claims] for key, each in declared.items()}
    papers = [key for key in ids if claim_id in ids[key] and paper in ("", key)]
    if len(papers) > 1:
        problem = f"is a claim of {', '.join(papers)}; name one: {papers[0]}/{claim_id}"
        raise UserError(name, problem)
    if not papers:
        hint = closest(claim_id, [each for key in ids for each in ids[key]])
        raise UserError(name, f"no claim of {names.PAPERS} has this id; {hint or 'see the atlas'}")
    (claim,) = (each for each in declared[papers[0]].claims if each.id == claim_id)
    content = claim.model_dump(exclude={"as_"}, exclude_none=True)
    module = versions.claims_module(papers[0], declared[papers[0]], claim)
    return {
        "paper": papers[0],
        **content,
        "declared": _declared(papers[0], claim_id),
        "function": f"{module}.{claim.value}",
        "made_from": _made_from(papers[0], declared[papers[0]], claim),
        "verdicts": _verdicts(papers[0], claim_id, results),
    }


def lines(facts: dict[str, Any]) -> list[str]:
    """The same in words."""
    figure = f"{facts['paper']}/{facts['figure']}"
    low, high = facts["expected"]
    expected = f"{words.interval(low, high)} {facts['unit']}".rstrip()
    text = [f"claim {facts['id']} on {figure} ({facts['place']})", f"  {facts['statement']}"]
    text += [f"  published: {facts['published']}"] if "published" in facts else []
    text += [f"  expected: {expected}" + (f", {AFTERWARDS}" if facts.get("afterwards") else "")]
    text += [f"  why: {each}" for each in [because(MISSED, facts.get("why"))] if each]
    for entry in facts["verdicts"]:
        row = {key: "" if value is None else str(value) for key, value in entry.items()}
        view = ClaimView(row | {"unit": facts["unit"]})
        spread = f" ({view.range})" if view.range else ""
        number = f"; {view.number}{spread}" if view.number else ""
        text.append(
            f"  {entry['scale']}, {entry['file']}: {entry['verdict']}, {entry['reason']}{number}"
        )
        text += [f"    {view.control}"] if view.control else []
    if not facts["verdicts"]:
        text.append("  not judged yet: run `snakemake`, or `make atlas` for what is recorded")
    keywords = ", ".join(f"{key} {words.setting(each)}" for key, each in facts["keywords"].items())
    text.append(f"its number: {facts['function']}" + (f" ({keywords})" if keywords else ""))
    text.append(f"its block, with what was known when it was written: {facts['declared']}")
    origins = ", ".join(f"`grokatlas explain {each}`" for each in facts["made_from"])
    return [*text, f"the origin of its numbers: {origins}"]


def _declared(paper: str, claim_id: str) -> str:
    """The file that declares a claim, and the line that begins its block."""
    file = names.PAPERS / paper / CLAIMS
    its_block = re.compile(rf"\s*- \{{?id: {re.escape(claim_id)}\b")
    numbered = enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
    line = next((number for number, text in numbered if its_block.match(text)), None)
    return f"{file.as_posix()}:{line}" if line else file.as_posix()


def _made_from(name: str, paper: Paper, claim: Claim) -> list[str]:
    """The names of what `grokatlas explain` takes a claim's numbers back to."""
    read = versions.tables_read(name, paper, claim)
    of_figure = paper.figures[claim.figure].experiments
    whole = len(read) == len(of_figure)
    return [f"{name}/{claim.figure}"] if whole else ["/".join(each) for each in read]


def _verdicts(paper: str, claim_id: str, results: Path) -> list[dict[str, Any]]:
    """The verdicts of the scales that were judged here, or else the recorded one."""
    rows = []
    for scale in layout.SCALES:
        file = results / layout.claims_stem(scale).relative_to(layout.RESULTS).with_suffix(".csv")
        rows += [_plain(row, scale, file) for row in _rows(file, paper, claim_id)]
    recorded = _rows(RECORDED, paper, claim_id)
    return rows or [_plain(row, row["scale"], RECORDED) for row in recorded]


def _rows(file: Path, paper: str, claim_id: str) -> list[dict[str, str]]:
    """The rows of a claim in a table of verdicts, which the manifest of its results vouches for."""
    if file != RECORDED and file.exists():
        files.verified(file)
    rows = csv_file.read(file, "paper", "id", "scale", *WORDS[:2])
    return [row for row in rows if (row["paper"], row["id"]) == (paper, claim_id)]


def _plain(row: dict[str, str], scale: str, file: Path) -> dict[str, Any]:
    """A verdict's row as plain data; of an infinite number, which JSON has not, its text."""
    numbers = {name: _number(row.get(name) or "nan") for name in NUMBERS}
    texts = {name: row.get(name, "") for name in WORDS}
    return {"scale": scale, "file": file.as_posix(), **texts, **numbers}


def _number(text: str) -> float | str | None:
    value = float(text)
    return value if math.isfinite(value) else None if math.isnan(value) else text
