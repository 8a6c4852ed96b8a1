"""The page of `grokatlas explain --html` as a reader has it: one file, in a browser."""

import pytest

from grokatlas import cli
from grokatlas.plan import declared_jobs
from tests.atlas import small_atlas, test_browser
from tests.unit import audit_tree

pytestmark = test_browser.pytestmark
browser, visit = test_browser.browser, test_browser.visit
PAGE = "lineage.html"
OPENED = "for (const e of document.querySelectorAll('details')) e.open = true"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The page of a figure whose runs are stale, one of them accepted and one harmed."""
    folder = tmp_path_factory.mktemp("lineage")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(folder)
        small_atlas.make()
        jobs = audit_tree.declared()
        first, second = (job for job in jobs.values() if job.kind == "run")
        note = {"old": "a" * 64, "new": "b" * 64, "reason": small_atlas.NASTY, "who": "Ada"}
        note |= {"when": "today", "code": first.code, "changed": ["grokatlas.engine.training"]}
        audit_tree.edited(first.manifest, seal=True, accepted=[note])
        second.outputs[0].write_bytes(b"harmed")
        planned = audit_tree.declared(run_code="2")
        monkeypatch.setattr(declared_jobs, "jobs", lambda **_: planned)
        assert cli.main(["explain", "toy/fig1", "--html", PAGE]) == 0
    return folder


def test_it_leads_from_the_figure_to_its_data(visit):
    page = visit(PAGE)
    assert (
        page.get_by_role("heading", level=1).inner_text()
        == "Lineage of figure toy/fig1 (smoke scale)"
    )
    assert "Made from 1 data set, 2 measures, 2 runs, 1 table." in page.inner_text(".lead")
    badges = page.locator("section[aria-labelledby=problems] .badge").all_inner_texts()
    assert {"↺ stale: code changed", "✗ modified"} <= set(badges)
    assert small_atlas.NASTY in page.locator(".origin").inner_text()
    assert page.evaluate("document.images[0].naturalWidth") > 0


@pytest.mark.parametrize("width", [1280, 400, 320])
def test_nothing_is_wider_than_the_window(visit, width):
    page = visit(PAGE, width=width)
    page.evaluate(OPENED)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_contrast(visit, scheme):
    page = visit(PAGE, color_scheme=scheme)
    page.evaluate(OPENED)
    worst, where = page.evaluate(test_browser.CONTRASTS)[0]
    assert worst >= 4.5, where


def test_a_screen_reader_finds_its_way(visit):
    page = visit(PAGE)
    page.evaluate(OPENED)
    for landmark in ("banner", "main", "contentinfo"):
        assert page.get_by_role(landmark).count() == 1
    levels = page.evaluate(
        "[...document.querySelectorAll('h1, h2, h3, h4')].map((e) => Number(e.tagName[1]))"
    )
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in zip([0, *levels], levels, strict=False))
    assert page.evaluate(test_browser.NAMELESS) == []


def test_a_link_shows_its_result(visit):
    page = visit(PAGE)
    page.locator("section[aria-labelledby=problems] details[open] a").first.click()
    target = page.evaluate("location.hash.slice(1)")
    assert page.locator(f"[id='{target}']").is_visible()
