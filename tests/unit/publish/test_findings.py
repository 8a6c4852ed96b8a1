"""Findings rest on recorded verdicts: one that does not any more is an error in a line."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from grokatlas.atlas.glossary import GLOSSARY
from grokatlas.declare.models import Paper
from grokatlas.declare.papers import load_papers
from grokatlas.errors import UserError
from grokatlas.publish import findings
from grokatlas.publish.recorded_rows import RecordedRows

ROOT = Path(__file__).parents[3]
PAPERS = load_papers(ROOT / "config" / "papers", "all")
RECORD = RecordedRows(ROOT / "recorded", PAPERS)
FOUND = [each for _, each in findings.numbered(PAPERS)]


def test_twelve_findings_rest_on_what_is_recorded():
    findings.check(PAPERS, RECORD)
    text = findings.page(PAPERS)
    assert [each.number for each in FOUND] == list(range(1, 13))
    assert all(each.title in text for each in FOUND)
    assert len({each.figure for each in FOUND}) == 12
    verdicts = {verdict for each in FOUND for verdict in each.claims.values()}
    assert {"reproduced", "not reproduced"} <= verdicts


def test_each_has_one_sentence_and_a_number():
    for each in FOUND:
        assert each.title.endswith(".")
        assert not re.search(r"\. [A-Z]", each.title)
        assert re.search(r"\d", each.told)
        assert not re.search(r"\{|not recorded", each.told + each.how + each.change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"claims": {"grokalign/A1": "not reproduced"}}, "is 'reproduced' now, not 'not repr"),
        ({"claims": {"grokalign/A999": "partly"}}, "no claim 'grokalign/A999'"),
    ],
)
def test_one_that_is_not_so_is_refused(change, words):
    (first, *rest) = PAPERS["plates"].findings
    others = [first.model_copy(update=change), *rest]
    changed = PAPERS["plates"].model_copy(update={"findings": others})
    with pytest.raises(UserError, match=re.escape(words)):
        findings.check(PAPERS | {"plates": changed}, RECORD)


def test_a_finding_of_no_figure_is_a_mistake_of_the_file():
    content = PAPERS["grokalign"].model_dump()
    content["findings"][0]["figure"] = "fig99"
    with pytest.raises(ValidationError, match="`findings` 1: no figure 'fig99'"):
        Paper.model_validate(content)


def test_words_are_twenty():
    assert len(GLOSSARY) == 20
