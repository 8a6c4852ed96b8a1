"""Claims and verdicts on the pages of the atlas."""

import pandas as pd
import pytest

from grokatlas import text as words
from grokatlas.atlas import entries
from grokatlas.claims import verdicts
from grokatlas.results import files, layout
from tests.atlas import small_atlas
from tests.atlas.parsed_page import page
from tests.atlas.small_atlas import NASTY


def test_a_claim_has_its_numbers_verdict_and_place(folder):
    text = page(folder, "paper-toy.html").text
    assert "✓ reproduced T1 it is quick" in text
    assert "10 steps 9 to 11, 2 values 2 of 2 in the interval 5 to 20 steps about 10" in text
    assert "◐ partly T2" in text
    assert "✗ not reproduced T3" in text
    assert "○ not run at this scale T4" in text


def test_a_miss_says_why_and_a_hit_does_not(folder):
    told = f"refuted: It is slow {' '.join(NASTY.split())}."
    text = page(folder, "paper-toy.html").text
    assert text.count(told) == 1
    assert text.index("T3") < text.index(told) < text.index("T4")


@pytest.mark.parametrize("name", ["index.html", "paper-toy.html", "readings.html"])
def test_every_page_has_a_legend_of_its_verdicts(folder, name):
    _, _, legend = page(folder, name).text.partition("What the verdicts mean")
    for verdict in verdicts.possible(small_atlas.SCALE):
        assert f"{verdict} {words.sentence(verdicts.MEANINGS[verdict])}." in legend


def test_the_first_page_opens_with_what_was_found(folder):
    found = page(folder, "index.html")
    text = found.text
    order = [
        "Findings",
        "4 findings",
        "It is quick",
        "Papers",
        "What does not reproduce, and",
    ]
    assert sorted(order, key=text.index) == order
    assert text.index("T3 It is quick") < text.index("refuted: It is slow")
    links = [attrs["href"] for tag, attrs in found.elements if tag == "a" and "href" in attrs]
    numbers = [each.partition("finding-")[2] for each in links if "finding-" in each]
    assert numbers == ["1", "2", "3", "4"]
    pictures = [attrs["src"] for tag, attrs in found.elements if tag == "img"]
    # of three findings, of the one paper that has one, and of the study
    assert pictures == [*["toy-fig1.png"] * 4, "study-own-fig1.png"]
    assert links.count("https://arxiv.org/abs/2501.00001") >= 2


def test_predictions_are_no_statements_of_papers(folder, monkeypatch):
    text = page(folder, "index.html").text
    assert "2 papers on grokking" in text
    assert "Their 4 statements: 1 reproduced, 1 partly, 1 not reproduced, 1 not run at" in text
    assert "prediction" not in text.partition("4 findings")[0]


def test_a_study_of_predictions_counts_no_paper(here, monkeypatch):
    spec = small_atlas.spec()
    for paper in spec["papers"].values():
        paper["source"]["arxiv"] = None
    monkeypatch.setattr(small_atlas, "spec", lambda: spec)
    claims = layout.outputs("claims", layout.claims_stem(small_atlas.SCALE))[0]
    predicted = pd.read_csv(claims).assign(source="prediction")
    monkeypatch.setattr(files, "verified", lambda file: file)
    predicted.to_csv(claims, index=False)
    text = page(small_atlas.pages(), "index.html").text
    assert "4 predictions of this study: 1 reproduced, 1 partly, 1 not reproduced" in text
    assert "on grokking" not in text


def test_numbers_on_one_statement_are_folded_under_its_first(folder):
    claims = [
        entries.ClaimEntry({"paper": "toy", "figure": f, "id": i})
        for f, i in (("a", "T1"), ("a", "T1b"), ("b", "T1c"), ("a", "T2"), ("a", "T1d"))
    ]
    ids = [[claim.row["id"] for claim in group] for group in entries.grouped(claims)]
    assert ids == [["T1", "T1b", "T1d"], ["T1c"], ["T2"]]


def test_all_claims_are_counted_by_verdict(folder):
    found = page(folder, "claims.html")
    assert "toy On toy" in found.text
    assert "Total 1 1 1 0 0 1 4 3 of 5" in found.text
    assert "none declared" in found.text
    rows = [attrs for tag, attrs in found.elements if tag == "tr" and "data-paper" in attrs]
    assert [row["data-verdicts"] for row in rows] == [
        "reproduced",
        "partly",
        "not-reproduced",
        "not-run-at-this-scale",
    ]
    assert [row["data-methods"] for row in rows] == ["gd", "gd", "gd", ""]
