"""The pages of papers say what the YAML says, and every picture is there."""

import re
import shutil
from pathlib import Path

import pytest

from grokatlas.declare.bound_numbers import IN_COMMENT
from grokatlas.errors import UserError
from grokatlas.publish import pages
from grokatlas.rules.jobs import undeclared_reads
from tests.checkout import CONFIG, ROOT, declared_papers

GENERATED = ("results", ".snakemake", "__pycache__", ".pytest_cache")
MADE = shutil.ignore_patterns(*GENERATED)


@pytest.fixture
def copied(tmp_path):
    shutil.copytree(ROOT / "recorded", tmp_path / "recorded")
    return Path(shutil.copytree(ROOT / "docs" / "papers", tmp_path / "docs" / "papers"))


def write(config: Path, copied: Path) -> None:
    for file, text in pages.texts(config, copied):
        file.write_text(text, encoding="utf-8")


def test_committed_pages_are_what_the_yaml_says():
    texts = dict(pages.texts(CONFIG, ROOT / "docs" / "papers"))
    for file, text in texts.items():
        assert file.read_text(encoding="utf-8") == text, "run `grokatlas reference`"
    names = {file.relative_to(ROOT).as_posix() for file in texts}
    assert {"README.md", "docs/index.md", "docs/findings.md", "docs/words.md"} <= names
    folder = ROOT / "docs" / "papers"
    bound = {page for page in folder.glob("*.md") if IN_COMMENT.search(page.read_text("utf-8"))}
    assert folder / "clock.md" in bound
    assert bound <= texts.keys()


def test_the_gallery_has_every_recorded_picture_with_its_title():
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"\]\((papers/\w+/\w+\.png)\)", text))
    there = {
        file.relative_to(ROOT / "docs").as_posix()
        for file in (ROOT / "docs" / "papers").glob("*/*.png")
    }
    assert shown == there
    assert "<br>Plate 2: one slow time for every regulariser](papers/plates.md#slow_time)" in text


def test_the_first_pages_open_with_three_findings():
    for page in ("README.md", "docs/index.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert len(re.findall(r"^[1-9]\. \*\*", text, re.MULTILINE)) == 3
        assert "Addition modulo 97, five seeds" in text


def test_every_paper_has_a_page():
    papers = {path.name for path in (CONFIG / "papers").iterdir()}
    pages = {path.stem for path in (ROOT / "docs" / "papers").glob("[a-z]*.md")}
    assert pages == papers | {"clock"}  # a short paper on a plate


PAGES = [f"docs/papers/{path.name}" for path in (ROOT / "docs" / "papers").glob("*.md")]
PAGES += ["docs/findings.md", "docs/gallery.md"]


@pytest.mark.parametrize("page", ["README.md", *sorted(PAGES)])
def test_links_and_pictures_resolve_and_are_small(page):
    file = ROOT / page
    targets = re.findall(r"\]\(([^)#:]+)\)", file.read_text(encoding="utf-8"))
    assert any(target.endswith(".png") for target in targets) or file.parent.name == "papers"
    for target in targets:
        assert (file.parent / target).exists(), target
        assert (file.parent / target).stat().st_size < 1_000_000


def test_a_page_without_its_marks_is_an_error(copied):
    (copied / "geometry.md").write_text("# Nothing here\n")
    with pytest.raises(UserError, match=r"geometry\.md: must hold once each"):
        write(CONFIG, copied)


def test_a_figure_or_table_that_was_not_recorded_has_no_picture_or_text(copied, tmp_path):
    papers = tmp_path / "config" / "papers"
    shutil.copytree(CONFIG / "papers", papers)
    file = papers / "geometry" / "paper.yaml"
    text = file.read_text(encoding="utf-8")
    new = "".join(
        f"  {name}: {{experiments: [linear2], caption: New.}}\n" for name in ("fig0", "table0")
    )
    file.write_text(text.replace("\nfigures:\n", f"\nfigures:\n{new}"))
    write(papers.parent, copied)
    page = (copied / "geometry.md").read_text(encoding="utf-8")
    for name in ("fig0", "table0"):
        assert f"### {name}\n\nNew.\n\n*Not recorded yet.*\n" in page
    assert "fig0.png" not in page + (copied / "README.md").read_text(encoding="utf-8")


def test_a_plate_asks_before_its_picture_and_answers_after_it(copied):
    page = (copied / "plates.md").read_text(encoding="utf-8")
    section = page.partition("### adam_memory")[2].partition("### ")[0]
    parts = ("**Question.**", "**Predicted before the run.**", "Addition modulo p", "**Limits.**")
    places = [section.find(each) for each in (*parts[:3], "**Answer.**", *parts[3:])]
    assert -1 not in places
    assert places == sorted(places)


@pytest.fixture
def recorded_pages(copied):
    """Pages with a record of one figure and two claims of `geometry`."""
    folder = copied.parents[1] / "recorded"
    (folder / "figures.csv").write_text(
        "paper,figure,scale,machine,commit,made,runs,train_seconds,kept\n"
        "geometry,fig1,quick,A | machine,c0ffee,2026-01-01,3,61,yes\n"
        "geometry,fig2,quick,A machine,c0ffee,2026-01-01,1,0,\n"
    )
    (folder / "claims.csv").write_text(
        "paper,id,scale,verdict,reason,expected_low,expected_high,value,lowest,highest,count,kept\n"
        "geometry,G1,quick,reproduced,1 of 1 in the interval,5,20,7.0,7.0,7.0,1,yes\n"
        "geometry,G2,quick,partly,1 of 3 in the interval,200,1000,78.0,40.0,inf,3,\n"
        "geometry,G8,paper,partly,4 of 5 in the interval,1800,2800,2530,1850,2920,5,yes\n"
        "geometry,G3,quick,reproduced,its interval was wider then,,0.2,0.1,0.1,0.1,1,\n"
    )
    (folder / "claims.interpretations.csv").write_text(
        "paper,id,interpretation,scale,verdict,expected_low,expected_high,value,lowest,highest,count\n"
        "geometry,G8,one_split,paper,reproduced,1800,2800,2230,2230,2230,1\n"
    )
    write(CONFIG, copied)
    return (copied / "geometry.md").read_text(encoding="utf-8")


def test_a_page_tells_the_verdicts_that_were_recorded(recorded_pages):
    (first,) = [line for line in recorded_pages.splitlines() if line.startswith("| G1 |")]
    marked = "| about 10 steps | 7 | 5 to 20, set afterwards | **reproduced** (quick scale; 1 of 1"
    assert marked in first
    (second,) = [line for line in recorded_pages.splitlines() if line.startswith("| G2 |")]
    assert (
        "| 78 (40 to never, 3 values) | 200 to 1000, set afterwards | **partly**† (quick scale"
        in second
    )
    assert "\n\n† The runs behind this verdict were not kept.\n" in recorded_pages
    assert "| at most 0.15 | not run |" in recorded_pages
    others = len(declared_papers("geometry")["geometry"].claims) - 3
    counts = f"1 reproduced (1 set afterwards), 2 partly, {others} not run at this scale"
    assert f"\n{counts}.\n" in recorded_pages


def test_readme_tells_verdicts_of_another_scale_than_the_picture_apart(recorded_pages, copied):
    lines = (copied / "README.md").read_text(encoding="utf-8").splitlines()
    (first,) = [line for line in lines if line.startswith("| [`geometry` fig1]")]
    assert (
        "| quick | A \\| machine | 3 runs, 1 min | 1 reproduced (1 set afterwards), 1 partly"
        in first
    )
    (fourth,) = [line for line in lines if line.startswith("| [`geometry` fig4]")]
    assert any("| 1 run, not kept |" in line for line in lines)
    assert fourth.endswith("not run at this scale; at paper scale 1 partly |")


def test_a_page_tells_where_a_figure_was_made(recorded_pages):
    assert (
        "*Quick scale, 3 runs, 61 s of training (wall time), on A | machine at c0ffee.*"
        in recorded_pages
    )
    assert "*Quick scale, 1 run, on A machine at c0ffee. The runs were not kept.*" in recorded_pages
    assert "*Not recorded yet.*" in recorded_pages


def test_pages_tell_what_a_figure_leaves_out_so_far(recorded_pages, copied):
    assert "seeds, 61 s" not in recorded_pages
    file = copied.parents[1] / "recorded" / "figures.csv"
    head, row, _ = file.read_text().splitlines()
    file.write_text(f"{head},so_far\n{row},3 of 10 seeds\n")
    write(CONFIG, copied)
    page, readme = ((copied / name).read_text() for name in ("geometry.md", "README.md"))
    assert "*Quick scale, 3 runs, so far 3 of 10 seeds, 61 s of training (wall time)," in page
    row = "fig1](geometry.md#fig1) | quick (3 of 10 seeds) | A \\| machine | 3 runs, 1 min |"
    assert row in readme


def test_a_deviation_tells_what_was_measured_of_it(recorded_pages):
    items = re.split(r"\n(?=\d+\. )", recorded_pages)
    (line,) = [" ".join(item.split()) for item in items if "*figure 4, seeds*" in item]
    assert "**Measured:** test accuracy is perfect by about step 2,000" in line
    assert "(G8): 2,530 (1,850 to 2,920, 5 values); `one_split`: 2,230, paper scale." in line
    assert "G7" not in line


def test_recording_in_a_study_renews_its_page(tmp_path, monkeypatch):
    study = Path(shutil.copytree(ROOT / "studies/norm_cap", tmp_path / "norm_cap", ignore=MADE))
    page = study / "docs/papers/norm_cap.md"
    text = page.read_text(encoding="utf-8")
    head, _, end = text.partition("\n### ceilings\n")
    page.write_text(head + end[end.index("\n<!-- end of figures") :], encoding="utf-8")

    def take(scale, names, folder):
        undeclared_reads.refuse([])  # as the judgement of claims does
        yield from ()

    monkeypatch.chdir(study)
    monkeypatch.setattr(pages.recorded, "take", take)
    assert list(pages.record("paper", [])) == []
    assert page.read_text(encoding="utf-8") == text
    assert {file.name for file in study.iterdir()} == {
        file.name for file in (ROOT / "studies/norm_cap").iterdir() if file.name not in GENERATED
    }
