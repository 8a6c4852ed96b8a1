"""The page of `grokatlas compare` as a reader has it: one file, in a browser."""

from pathlib import Path

import pytest
from matplotlib import image

from grokatlas import cli
from grokatlas.results import hashing, layout
from tests.atlas import small_atlas, test_browser
from tests.unit import audit_tree
from tests.unit.publish import test_compare

pytestmark = test_browser.pytestmark
browser, visit = test_browser.browser, test_browser.visit
PAGE = "comparison.html"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two trees that differ in a picture, a table, a verdict and a figure; and their page."""
    folder = tmp_path_factory.mktemp("compared")
    with pytest.MonkeyPatch.context() as monkeypatch:
        for name in ("before", "after"):
            (folder / name).mkdir()
            monkeypatch.chdir(folder / name)
            small_atlas.make()
        stem = layout.figure_stem("smoke", "toy", "fig2").as_posix()
        image.imsave("other.png", test_compare.GREY)
        picture = Path("other.png").read_bytes()
        test_compare.again(stem, png=picture, csv=b"step,train_loss\n10,1.0\n")
        text = small_atlas.TABLE.replace("x2.1", "x3.1").encode()
        table = layout.figure_stem("smoke", "toy", "table1").as_posix()
        test_compare.again(table, md=text)
        file = layout.outputs("claims", layout.claims_stem("smoke"))[0]
        file.write_text(file.read_text().replace(",partly,", ",reproduced,"))
        audit_tree.edited(
            layout.manifest_of("claims", layout.claims_stem("smoke")),
            seal=True,
            outputs={file.name: hashing.file_sha256(file)},
        )
        monkeypatch.chdir(folder)
        figure = layout.figure_stem("smoke", "toy", "fig1")
        for path in (folder / "before" / figure.parent).glob("fig1.*"):
            path.unlink()
        assert cli.main(["compare", "before", "after"]) == 1
    return folder


def test_pictures_stand_side_by_side_and_one_below_the_other_where_it_is_narrow(visit):
    boxes = {}
    for width in (1280, 400):
        page = visit(PAGE, width=width)
        found = [page.locator(".change .pair figure").nth(n).bounding_box() for n in (0, 1)]
        boxes[width] = found
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert boxes[1280][0]["y"] == boxes[1280][1]["y"]
    assert boxes[1280][0]["x"] < boxes[1280][1]["x"]
    assert boxes[400][0]["y"] < boxes[400][1]["y"]
    sizes = page.evaluate("[...document.images].map((each) => each.naturalWidth)")
    assert len(sizes) == 3  # two of figure 2, and figure 1 of one side
    assert all(size > 0 for size in sizes)


def test_it_tells_what_changed(visit):
    page = visit(PAGE)
    assert page.get_by_role("heading", level=1).inner_text() == "What changed"
    assert page.locator("mark").all_inner_texts() == ["x2.1 ± 0.3", "x3.1 ± 0.3"]
    row = page.locator("#verdicts ~ div tbody tr")
    assert row.locator(".badge").all_inner_texts() == ["◐ partly", "✓ reproduced"]
    assert page.get_by_role("heading", name="Only in after").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_contrast(visit, scheme):
    page = visit(PAGE, color_scheme=scheme)
    page.evaluate("for (const e of document.querySelectorAll('details')) e.open = true")
    worst, where = page.evaluate(test_browser.CONTRASTS)[0]
    assert worst >= 4.5, where


def test_a_screen_reader_finds_its_way(visit):
    page = visit(PAGE)
    for landmark in ("banner", "main", "contentinfo"):
        assert page.get_by_role(landmark).count() == 1
    levels = page.evaluate(
        "[...document.querySelectorAll('h1, h2, h3, h4')].map((e) => Number(e.tagName[1]))"
    )
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in zip([0, *levels], levels, strict=False))
    assert page.evaluate(test_browser.NAMELESS) == []
    places = page.evaluate("[...document.querySelectorAll('nav a')].map((e) => e.hash.slice(1))")
    assert len(places) > 2
    assert all(page.locator(f"[id='{place}']").count() == 1 for place in places)
