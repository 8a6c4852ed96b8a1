"""The page of every interpretation: rows of marks, what they depend on, and what leads there."""

import pytest

from grokatlas.atlas import by_interpretation, contents, entries
from grokatlas.audit.tree import Tree
from grokatlas.claims import dependence
from grokatlas.results import layout
from tests.atlas import small_atlas
from tests.atlas.small_atlas import NASTY
from tests.unit.atlas.test_pages import page


@pytest.fixture
def sections(folder, monkeypatch):
    monkeypatch.chdir(folder.parents[2])
    return by_interpretation.sections(small_atlas.spec(), shown())


def shown(**ages: str) -> list[entries.PaperEntry]:
    stem = layout.claims_stem(small_atlas.SCALE)
    figures = {
        layout.figure_stem(small_atlas.SCALE, paper, name): ""
        for paper, names in small_atlas.FIGURES.items()
        for name in names
    }
    told = {**figures, stem: ages.get("claims", "current")}
    return contents.papers(small_atlas.spec(), told, Tree(layout.RESULTS))


def rows(section: by_interpretation.Section) -> dict[str, by_interpretation.Row]:
    return {row.claim.row["id"]: row for row in section.rows}


def test_a_conclusion_is_a_row_of_marks_with_what_it_depends_on(sections):
    (section,) = sections  # the other paper has no other interpretation
    found = rows(section)
    assert {key: (row.kind, row.sentence) for key, row in found.items()} == {
        "T1": (dependence.DEPENDS, "depends on: step size or length"),
        "T2": (dependence.ALONE, "the drawn interpretation alone can be judged"),
        "T3": (dependence.NONE, "holds under none of the 2 interpretations that were run"),
    }
    assert [table.interpretations for table in section.tables] == [("rough", "fine"), ("rough",)]
    drawn, rough, fine = found["T1"].marks
    assert (drawn.verdict, drawn.number) == ("reproduced", "10 steps")
    assert (rough.verdict, rough.number) == ("interpretation rejected", "12 steps")
    assert (
        rough.title == f"rough: interpretation rejected: 12 steps, 8 to 16, 2 values (why {NASTY})"
    )
    assert "not run at this scale (its tables are not made; forecast: up to 2 h" in fine.title
    assert found["T2"].marks[1].undefined
    assert found["T2"].marks[2] is None
    assert found["T3"].marks[1].same_as[1] == "T2"


def test_kinds_are_counted_and_another_scale_apart(sections):
    (section,) = sections
    counted = {kind: n for kind, n in section.counts.items() if n}
    assert counted == {dependence.DEPENDS: 1, dependence.ALONE: 1, dependence.NONE: 1}
    assert section.elsewhere == 1
    assert by_interpretation.total(sections) == section.counts


def test_counts_are_told_in_words():
    counts = dict.fromkeys(dependence.KINDS, 0)
    assert by_interpretation.in_words(counts) == "none is judged at this scale"
    found = counts | {dependence.ALL: 1, dependence.DEPENDS: 2, dependence.OPEN: 3}
    told = "1 holds under all; 2 depend on a choice; 3 were not judged as drawn"
    assert by_interpretation.in_words(found) == told


def test_the_page_has_every_mark_in_words(folder):
    text = page(folder, "readings.html").text
    assert "T1 it is quick" in text
    assert "depends on: step size or length" in text
    assert "expected 5 to 20 steps: as drawn 10 steps, reproduced; rough" in text
    assert "rough 12 steps, interpretation rejected. So it depends on: step size" in text
    assert "cannot be judged T2 rough it compares both interpretations" in text
    assert "not run at this scale T1 fine its tables are not made; forecast: up to 2 h" in text
    assert "1 further statement is judged at another scale" in text
    assert "T3 rough as T2 12 steps 8 to 16, 2 values 0 of 2" in text


def test_marks_tell_what_they_are_without_colour(folder):
    found = page(folder, "readings.html").elements
    titles = [attrs["title"] for tag, attrs in found if attrs.get("class", "").startswith("mark ")]
    assert len(titles) == 7
    assert titles[0].startswith("as drawn: reproduced: 10 steps, 9 to 11, 2 values (2 of 2")


def test_the_other_pages_lead_there(folder):
    for name, place in (("index", "readings.html"), ("paper-toy", "readings.html#toy")):
        found = page(folder, f"{name}.html")
        assert place in [attrs.get("href") for _, attrs in found.elements]
        said = "1 holds under none; 1 depends on a choice; 1 was judged as drawn alone"
        assert said in found.text
    assert "deviation-1" in [attrs.get("id") for _, attrs in found.elements]


def test_a_paper_without_interpretations_has_no_page(here, monkeypatch):
    spec = small_atlas.spec()
    del spec["papers"]["toy"]["interpretations"]
    for deviation in spec["papers"]["toy"]["deviations"]:
        del deviation["interpretations"]
    monkeypatch.setattr(small_atlas, "spec", lambda: spec)
    made = small_atlas.make()
    assert not (made / "readings.html").exists()
    for name in ("index.html", "paper-toy.html", "paper-other.html"):
        assert "readings.html" not in (made / name).read_text(encoding="utf-8")


def test_without_claims_the_page_says_that_nothing_is_judged(folder, monkeypatch):
    monkeypatch.chdir(folder.parents[2])
    (section,) = by_interpretation.sections(small_atlas.spec(), shown(claims=""))
    assert section.tables == ()
    assert not any(section.counts.values())


def test_a_page_of_no_results_can_be_written(here, monkeypatch):
    small_atlas.make()
    for file in layout.outputs("claims", layout.claims_stem(small_atlas.SCALE)):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.partition("\n")[0] + "\n", encoding="utf-8")
    monkeypatch.setattr(contents.files, "verified", lambda file: file)
    made = page(small_atlas.pages(), "readings.html").text
    assert "No statement under another interpretation is judged at this scale." in made
