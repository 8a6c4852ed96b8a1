"""Claims as readers meet them alone: each is a whole statement, and a miss says why it is one."""

import re
from pathlib import Path

import pytest

from grokatlas.claims import verdicts
from grokatlas.declare.papers import load_papers
from grokatlas.publish.recorded_rows import RecordedRows

ROOT = Path(__file__).parents[3]
PAPERS = load_papers(ROOT / "config" / "papers", "all")
CLAIMS = [(name, claim) for name, paper in PAPERS.items() for claim in paper.claims]
# a beginning or an end that means the row above
LEANING = re.compile(
    r"(and|but|or|so (do|does|did|is|are|was|were)|it|they|them|these|this|that|likewise|ditto)\b"
    r"|the same,|.*[:,(] ?the same\)?$|.*\(the same[,)]",
    re.IGNORECASE,
)


def test_a_miss_says_why_and_nothing_else_does():
    """A claim that science has since settled has no `why` left over."""
    record = RecordedRows(ROOT / "recorded", PAPERS)
    missed = {
        f"{name}/{claim.id}"
        for name, claim in CLAIMS
        if record.verdict(name, claim) in (verdicts.PARTLY, verdicts.MISSED)
    }
    assert missed  # of a science without a miss nothing would be tested here
    told = {f"{name}/{claim.id}" for name, claim in CLAIMS if claim.why}
    assert told == missed


def test_no_statement_leans_on_the_one_above():
    leaning = [f"{n}/{claim.id}" for n, claim in CLAIMS if LEANING.match(claim.statement)]
    assert leaning == []


@pytest.mark.parametrize(
    "statement",
    ["so does the loss", "and it falls", "transformer: the same", "they stay (the same, later)"],
)
def test_what_leans_is_seen(statement):
    assert LEANING.match(statement)


def test_a_why_is_one_sentence():
    sentences = [sentence for _, claim in CLAIMS for sentence in (claim.why or {}).values()]
    assert [each for each in sentences if len(each.split()) < 6 or each.endswith(".")] == []


@pytest.mark.parametrize("page", sorted(PAPERS))
def test_a_page_has_a_legend_of_every_verdict_on_it(page):
    text = (ROOT / "docs" / "papers" / f"{page}.md").read_text(encoding="utf-8")
    used = set(re.findall(r"\| \*\*([a-z ]+)\*\*", text)) & set(verdicts.VERDICTS)
    used |= {cause for cause in verdicts.CAUSES if f" {cause}: " in text}
    assert used
    assert [each for each in used if f"*{each}*: " not in " ".join(text.split())] == []
    assert "[Words](../words.md)" in text
