"""Papers that are versions of others: what they take over, what they change, what is refused."""

from pathlib import Path

import pytest

from grokatlas.declare import checks, versions
from grokatlas.declare.papers import load_papers, select
from grokatlas.errors import UserError
from tests import cases
from tests.checkout import ROOT
from tests.unit.malformed import write_paper

VERSION = {
    file.name: file.read_text(encoding="utf-8")
    for file in Path(__file__).with_name("small_version").iterdir()
}


@pytest.fixture
def folder(tmp_path):
    write_paper(tmp_path / "geometry")
    write_paper(tmp_path / "workshop", VERSION)
    return tmp_path


def test_a_version_takes_over_all_but_its_own_keys(folder):
    papers = load_papers(folder, "all")
    base, version = papers["geometry"], papers["workshop"]
    assert set(version.experiments) == {"two"}
    two = version.experiments["two"]
    assert two.model == base.experiments["two"].model | {"width": 16}
    assert two.cases["descent"] == base.experiments["two"].cases["descent"]
    rates = base.experiments["two"].cases["adaptive"].optimizer
    assert two.cases["adaptive"].optimizer == rates | {"lr": 0.3}
    assert version.defaults.loss == base.defaults.loss | {"half": True}
    assert version.figures["fig2"].caption == base.figures["fig1"].caption
    assert version.figures["fig3"].caption == "Another caption."
    assert version.figures["fig2"].published == {"chance": "0.027"}
    assert version.figures["fig3"].published == {"other": "1"}
    assert version.figures["fig3"].experiments == ["geometry/one", "geometry/two"]
    assert versions.figure_module("workshop", version, "fig2") == "grokatlas.papers.geometry.fig1"


def test_an_experiment_is_as_one_above_it_but_for_its_own_keys(folder):
    file = folder / "geometry" / "experiments.yaml"
    three = "three: {as: two, cases: {adaptive: {optimizer: {lr: 0.3}}}}\n"
    file.write_text(file.read_text() + three + "four: {as: three, model: {width: 16}}\n")
    experiments = load_papers(folder, ["geometry"])["geometry"].experiments
    two, three, four = (experiments[name] for name in ("two", "three", "four"))
    rates = two.cases["adaptive"].optimizer
    assert three.cases["adaptive"].optimizer == rates | {"lr": 0.3} != rates
    assert (three.model, three.cases["descent"]) == (two.model, two.cases["descent"])
    assert four.model == two.model | {"width": 16} != two.model
    assert four.cases == three.cases
    file.write_text("three: {as: two}\n" + file.read_text().replace("three:", "five:"))
    with pytest.raises(UserError, match=r"three\.as: not in the experiments above it"):
        load_papers(folder, ["geometry"])


def test_a_claim_is_that_of_the_other_paper_on_its_own_figure(folder):
    papers = load_papers(folder, "all")
    claims = {claim.id: claim for claim in papers["workshop"].claims}
    assert (claims["H6"].statement, claims["H6"].published) == ("chance", "0.027")
    assert (claims["H6"].place, claims["H7"].place) == ("figure 3", "figure 9")
    module = versions.claims_module("workshop", papers["workshop"], claims["H4"])
    assert module == "grokatlas.papers.geometry.claims"


def test_a_cell_of_the_version_is_its_number(folder):
    groups = VERSION["claims.yaml"].replace("as: G6}", "as: G6, cell: other}")
    write_paper(folder / "workshop", VERSION | {"claims.yaml": groups})
    claims = {claim.id: claim for claim in load_papers(folder, "all")["workshop"].claims}
    assert (claims["H6"].statement, claims["H6"].published) == ("chance", "1")


def test_a_claim_has_the_same_judgement_on_equal_tables_with_an_equal_interval(folder):
    papers = load_papers(folder, "all")
    same = {c.id: versions.same_claim(papers, "workshop", c) for c in papers["workshop"].claims}
    assert same == {"H4": "", "H6": "geometry/G6", "H7": ""}


def test_a_claim_that_names_its_experiment_reads_no_other_table(folder):
    papers = load_papers(folder, "all")
    claim = next(each for each in papers["workshop"].claims if each.id == "H4")
    other = next(each for each in papers["geometry"].claims if each.id == claim.as_)
    for experiment, same in (("one", "geometry/G4"), ("two", "")):
        for each in (claim, other):
            each.keywords["experiment"] = experiment
        assert versions.same_claim(papers, "workshop", claim) == same


def test_of_a_paper_that_is_not_selected_only_the_tables_that_are_drawn_are_left(folder):
    papers = load_papers(folder, ["workshop"])
    assert list(papers) == ["geometry", "workshop"]
    assert papers["geometry"].figures == {}
    assert papers["geometry"].claims == papers["geometry"].deviations == []
    assert set(papers["geometry"].experiments) == {"one", "two"}
    narrowed = select(load_papers(folder, "all"), ["geometry"])
    assert list(narrowed) == ["geometry"]
    assert narrowed["geometry"].figures


@cases.listed("old", "new", "place", "words")
def test_a_reference_to_nothing_is_one_line(folder, old, new, place, words):
    files = {name: text.replace(old, new) for name, text in VERSION.items()}
    assert files != VERSION
    write_paper(folder / "workshop", files)
    with pytest.raises(UserError) as caught:
        load_papers(folder, "all")
    assert str(caught.value).startswith(f"papers/workshop/{place}: ")
    assert words in str(caught.value)


def test_a_version_of_a_version_is_refused(folder):
    third = {**VERSION, "paper.yaml": VERSION["paper.yaml"].replace("of: geometry", "of: workshop")}
    write_paper(folder / "third", third)
    with pytest.raises(UserError, match="workshop is a version of geometry itself; name that one"):
        load_papers(folder, "all")


def test_a_null_reference_is_none(folder):
    before = load_papers(folder, "all")
    for paper, file, old, new in (
        ("geometry", "paper.yaml", "source:", "version_of: null\nsource:"),
        ("geometry", "experiments.yaml", "one:\n  task", "one:\n  as: null\n  task"),
        ("geometry", "paper.yaml", "  fig1:\n", "  fig1:\n    as: null\n"),
        ("geometry", "claims.yaml", "id: G6", "as: null, id: G6"),
    ):
        path = folder / paper / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, old
        path.write_text(text.replace(old, new), encoding="utf-8")
    assert load_papers(folder, "all") == before


def test_a_mistake_of_the_other_paper_is_placed_there(folder):
    file = folder / "geometry" / "experiments.yaml"
    file.write_text(file.read_text().replace("  optimizer: {name: gd", "  optimiser: {name: gd"))
    with pytest.raises(UserError, match=r"papers/geometry/experiments\.yaml: one\.optimiser"):
        load_papers(folder, ["workshop"])


POINTS = """\
figure,panel,curve,x,y,uncertainty,source
fig1,loss,test,2200,41,5 % of the axis,"published picture, read by eye"
"""


def test_points_of_published_curves_are_read_from_their_file(folder):
    (folder / "geometry" / "digitised_points.csv").write_text(POINTS)
    papers = load_papers(folder, "all")
    (point,) = papers["geometry"].digitised_points
    assert (point.curve, point.x, point.y) == ("test", 2200.0, 41.0)
    assert point.source == "published picture, read by eye"
    assert versions.digitised_points(papers["geometry"], "fig1") == [point.model_dump()]
    assert versions.digitised_points(papers["geometry"], "fig2") == []
    assert papers["workshop"].digitised_points == []


@cases.listed("old", "new", "place", "words")
def test_a_mistake_in_the_digitised_points_is_one_line(folder, old, new, place, words):
    (folder / "geometry" / "digitised_points.csv").write_text(
        POINTS.replace(old.replace("$POINTS", POINTS), new)
    )
    with pytest.raises(UserError) as caught:
        load_papers(folder, "all")
    assert str(caught.value).startswith(f"papers/geometry/digitised_points.csv: {place}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("digitised_points", b"\xff\xfe", r"digitised_points\.csv: cannot be read as UTF-8 text"),
        ("readings", b"", r"geometry/readings\.csv: is named digitised_points\.csv now"),
    ],
)
def test_a_file_of_points_that_cannot_be_read_is_one_line(folder, name, content, problem):
    (folder / "geometry" / f"{name}.csv").write_bytes(content)
    with pytest.raises(UserError, match=problem):
        load_papers(folder, "all")


@pytest.mark.parametrize("key", ["keywords", "fails_with"])
def test_a_case_of_a_claim_or_its_control_that_no_experiment_has_is_refused(key):
    papers = load_papers(ROOT / "config/papers", "all")
    claim = next(each for each in papers["beyond_l2"].claims if "case" in each.keywords)
    changed = claim.model_copy(update={key: claim.keywords | {"case": "blgo"}})
    with pytest.raises(UserError, match=rf"at {claim.id}.{key}.case: no case 'blgo'; .*'blog'"):
        checks._check_case(papers, "beyond_l2", changed, f"at {claim.id}")


@pytest.mark.parametrize("key", ["keywords", "fails_with"])
def test_an_experiment_of_a_claim_or_its_control_that_its_figure_lacks_is_refused(key):
    papers = load_papers(ROOT / "config/papers", "all")
    claim = next(each for each in papers["grokalign"].claims if each.id == "A16c")
    changed = claim.model_copy(update={key: claim.keywords | {"experiment": "xor"}})
    with pytest.raises(UserError, match=rf"A16c.{key}.experiment: the figure has no .*'xor'"):
        checks._check_experiment(papers, "grokalign", changed, "at A16c")
