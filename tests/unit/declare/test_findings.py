"""Findings rest on recorded verdicts: one that does not any more is an error in a line."""

import re
from pathlib import Path

import pytest

from grokatlas.atlas.glossary import GLOSSARY
from grokatlas.declare import findings
from grokatlas.declare.papers import load_papers
from grokatlas.errors import UserError

ROOT = Path(__file__).parents[3]
PAPERS = load_papers(ROOT / "config" / "papers", "all")
FOUND = findings.load(ROOT / "config")


def test_ten_findings_rest_on_what_is_recorded():
    findings.check(FOUND, PAPERS, ROOT)
    assert len(FOUND) == 10
    assert len({each.figure for each in FOUND}) == 10
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
        ({"figure": "grokalign/fig99"}, "no figure 'grokalign/fig99'"),
    ],
)
def test_one_that_is_not_so_is_refused(change, words):
    with pytest.raises(UserError, match=re.escape(words)):
        findings.check([FOUND[0].model_copy(update=change)], PAPERS, ROOT)


@pytest.mark.parametrize(
    ("text", "words"), [("a: 1", "must be a list"), ("- {title: x.}", "0.figure: missing")]
)
def test_a_mistake_of_the_file_is_one_line(tmp_path, text, words):
    (tmp_path / findings.FILE).write_text(text)
    with pytest.raises(UserError) as error:
        findings.load(tmp_path)
    assert words in str(error.value)


def test_there_are_none_without_a_file(tmp_path):
    assert findings.load(tmp_path) == []


def test_words_are_twenty():
    assert len(GLOSSARY) == 20
