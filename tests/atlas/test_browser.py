"""The atlas as a reader has it: opened from disk in a browser."""

import json
import os
import re
import shutil
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest

from grokatlas.atlas import curves
from grokatlas.claims import verdicts
from tests.atlas import small_atlas
from tests.tiers import every

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
PAGES = (
    "index.html",
    "paper-toy.html",
    "readings.html",
    "paper-other.html",
    "claims.html",
    "findings.html",
    "words.html",
)
PATIENCE = 90_000  # milliseconds: the machine may be busy
CONTRASTS, NAMELESS = (
    Path(__file__).with_name(name).read_text(encoding="utf-8")
    for name in ("contrasts.js", "nameless.js")
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(tmp_path_factory.mktemp("atlas"))
        yield small_atlas.make().resolve()


@pytest.fixture(scope="module")
def browser():
    alone = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=alone, timeout=PATIENCE)
        yield started
        started.close()


@pytest.fixture
def visit(browser, folder):
    """Opens a page of the folder; in the end nothing was asked of a network, and nothing failed."""
    problems, asked, contexts = [], [], []

    def opened(name: str, width: int = 1280, **settings):
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda told: problems.append(told.text) if told.type == "error" else 0)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("requestfailed", lambda request: problems.append(request.url))
        page.on("dialog", lambda dialog: problems.append(dialog.message) or dialog.dismiss())
        page.on("request", lambda request: asked.append(request.url))
        page.goto((folder / name).as_uri() if "#" not in name else f"{folder.as_uri()}/{name}")
        return page

    opened.asked = asked
    yield opened
    for context in contexts:
        context.close()
    assert problems == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def shown(page, kind: str) -> list[str]:
    return [text.split()[0] for text in page.locator(f"{kind}:visible").all_inner_texts()]


def claims(page) -> list[str]:
    return shown(page, "#claims ~ table [data-paper] .statement")


def figures(page) -> list[str]:
    return page.locator(".gallery li:visible .name").all_inner_texts()


def looked(visit):
    page = visit("paper-toy.html")
    page.locator("details.look summary").click()
    page.wait_for_selector(".plot .scatterlayer .trace", state="attached")
    return page


def traces(page) -> int:
    return page.evaluate("document.querySelector('.plot').data.length")


def test_every_link_and_picture_resolves(visit, folder):
    ids, links = {}, set()
    for name in PAGES:
        page = visit(name)
        ids[name] = set(page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)"))
        hrefs = page.evaluate(
            "[...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))"
        )
        links |= {(name, href) for href in hrefs}
        sizes = page.evaluate(
            """Promise.all([...document.images].map(async (image) => {
              image.loading = 'eager'; await image.decode(); return image.naturalWidth; }))"""
        )
        assert all(size > 0 for size in sizes)
    assert len(links) > 30
    for source, href in links:
        if href.startswith("https://arxiv.org/abs/"):
            continue
        file, _, place = unquote(href).partition("#")
        assert (folder / (file or source)).is_file(), href
        assert not place or "=" in place or place in ids[file or source], href


def test_filters_choose_and_stay_in_the_address(visit):
    page = visit("claims.html")
    assert claims(page) == ["T1", "T2", "T3", "T4"]
    page.get_by_label("Verdict").select_option("partly")
    assert claims(page) == ["T2"]
    assert figures(page) == ["Figure 1"]
    assert page.get_by_role("status").inner_text() == "1 of 4 claims and 1 of 5 figures shown"
    assert page.url.endswith("#verdict=partly")
    page.reload()
    assert claims(page) == ["T2"]
    assert page.get_by_label("Verdict").input_value() == "partly"
    page.get_by_role("button", name="Show all").click()
    page.wait_for_function("!location.hash.includes('verdict')")
    assert claims(page) == ["T1", "T2", "T3", "T4"]


def test_filters_by_paper_method_and_words(visit):
    page = visit("claims.html")
    page.get_by_label("Paper").select_option("other")
    assert figures(page) == ["Depth"]
    assert claims(page) == []
    assert not page.get_by_role("heading", name="Claims", exact=True).is_visible()
    page.get_by_label("Paper").select_option("")
    page.get_by_label("Method").select_option("gd")
    assert figures(page) == ["Figure 1", "Figure 2", "Table 1"]
    page.get_by_label("Search").fill("figure 2 TOY")
    assert figures(page) == ["Figure 2"]
    page.get_by_label("Search").fill("<img no such")
    assert page.get_by_role("status").inner_text().startswith("0 of 4 claims")


def test_a_count_of_the_matrix_is_a_filter_and_a_place_is_not(visit):
    page = visit("claims.html#q=quick")
    assert page.get_by_label("Search").input_value() == "quick"
    page.get_by_role("link", name="1 of toy: not reproduced").click()
    page.wait_for_function("document.querySelector('#verdict').value === 'not-reproduced'")
    assert claims(page) == ["T3"]
    page.evaluate("location.hash = 'main'")
    page.wait_for_function("location.hash === '#main'")
    assert claims(page) == ["T3"]


def test_curves_are_loaded_when_they_are_opened(visit):
    page = visit("paper-toy.html")
    assert not [url for url in visit.asked if "plotly" in url or "curves.js" in url]
    page = looked(visit)
    assert traces(page) == 16  # train and test, two series, four seeds
    assert page.evaluate("document.querySelector('.plot').data[0].y.length") == 60
    assert page.locator(".plot .traces:visible").count() == 16
    assert re.match(r"16 curves", page.locator("details.look [role=status]").inner_text())


def test_seeds_groups_axes_and_ordinate_are_chosen(visit):
    page = looked(visit)
    lines = "document.querySelector('.plot').data.map((each) => each.line.color)"
    assert page.evaluate(f"new Set({lines}).size") == 2  # train and test
    page.get_by_label("coloured by").select_option(label="seed")
    assert page.evaluate(f"new Set({lines}).size") == 4
    seeds = page.get_by_role("group", name="seed")
    seeds.get_by_label("2").uncheck()
    assert traces(page) == 12
    page.get_by_role("group", name="series").get_by_label("plain").uncheck()
    assert traces(page) == 6
    page.get_by_label("Draw").select_option(label="test_loss")
    assert traces(page) == 3
    seeds.get_by_role("button").click()
    assert traces(page) == 4
    kind = "document.querySelector('.plot').layout.yaxis.type"
    up = page.get_by_label("logarithmic up")
    up.set_checked(True)
    assert page.evaluate(kind) == "log"
    up.set_checked(False)
    assert page.evaluate(kind) == "linear"
    page.get_by_label("against", exact=True).select_option(label="train_loss")
    assert page.evaluate("document.querySelector('.plot').data[0].x[0]") == 1.0


def test_of_few_seeds_the_range_is_drawn(visit, folder, tmp_path):
    frame = pd.DataFrame({"step": range(60), "median": np.geomspace(1, 0.1, 60), "seeds": 3})
    frame = frame.assign(low=frame["median"] / 2, high=frame["median"] * 2)
    data = json.dumps(curves.data(frame))
    shutil.copytree(folder, tmp_path / "pages")
    body = f"(window.grokatlasCurves ??= {{}})['toy-fig1'] = {data};"
    (tmp_path / "pages/toy-fig1.curves.js").write_text(body)
    page = visit(str(tmp_path / "pages/paper-toy.html"))
    page.locator("details.look summary").click()
    page.wait_for_selector(".plot .scatterlayer .js-fill", state="attached")
    assert page.locator("details.look [role=status]").inner_text().startswith("1 curve")
    band, curve = page.evaluate("document.querySelector('.plot').data")
    assert (band["fill"], len(band["y"])) == ("toself", 120)
    assert set(curve["y"]) == {None}


def test_a_click_on_the_legend_hides_a_curve(visit):
    page = looked(visit)
    page.locator(".plot .legendtoggle").first.click()
    hidden = page.wait_for_function("document.querySelector('.plot').data[0].visible")
    assert hidden.json_value() == "legendonly"


def test_names_from_data_are_text_in_a_plot(visit):
    page = looked(visit)
    assert "<b></script><img" in page.locator(".plot .legendtext").all_text_contents()[0]
    assert page.evaluate("document.querySelector('[onerror]')") is None


@pytest.mark.parametrize("scheme", every(2, ["light", "dark"]))
def test_every_text_has_contrast(visit, scheme):
    backs = set()
    for name in PAGES[:3]:
        page = visit(name, color_scheme=scheme)
        page.evaluate("for (const e of document.querySelectorAll('details')) e.open = true")
        if "toy" in name:
            page.wait_for_selector(".plot .trace", state="attached")
        worst, where = page.evaluate(CONTRASTS)[0]
        assert worst >= 4.5, where
        backs.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    (back,) = backs
    assert (sum(map(int, re.findall(r"\d+", back))) > 600) == (scheme == "light")


def test_on_paper_there_are_no_controls(visit):
    page = visit("claims.html", color_scheme="dark")
    page.emulate_media(media="print")
    assert not page.locator("form").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate(CONTRASTS)[0][0] >= 4.5
    assert len(page.pdf()) > 1000
    page = visit("paper-toy.html")
    page.emulate_media(media="print")
    assert not page.locator("details").first.is_visible()
    assert page.get_by_role("table").first.is_visible()


def test_the_matrix_of_all_verdicts_fits(visit):
    page = visit("claims.html")
    badges = [f'<th><span class="badge">✗ {verdict}</span></th>' for verdict in verdicts.VERDICTS]
    page.evaluate(
        """(badges) => { const row = document.querySelector('.matrix thead tr');
        row.innerHTML = row.cells[0].outerHTML + badges; }""",
        "".join(badges),
    )
    region = page.locator(".wide").first
    assert region.evaluate("(e) => e.scrollWidth - e.clientWidth") <= 0


@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_wider_than_a_telephone(visit, name):
    page = visit(name, width=400)
    page.evaluate("for (const e of document.querySelectorAll('details')) e.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_the_keyboard_reaches_the_filters_in_order(visit):
    page = visit("claims.html")
    names = []
    while "verdict" not in names and len(names) < 60:
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.id || document.activeElement.className"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", names[-1]
    assert names[0] == "skip"
    assert names[-4:] == ["q", "paper", "method", "verdict"]
    page.keyboard.type("part")
    assert claims(page) == ["T2"]


@pytest.mark.parametrize("name", every(2, PAGES))
def test_a_screen_reader_finds_its_way(visit, name):
    page = visit(name)
    for landmark in ("banner", "main", "contentinfo"):
        assert page.get_by_role(landmark).count() == 1
    assert page.get_by_role("navigation").count() >= 1
    assert page.evaluate("document.documentElement.lang") == "en"
    levels = page.evaluate(
        "[...document.querySelectorAll('h1, h2, h3, h4')].map((e) => Number(e.tagName[1]))"
    )
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in zip([0, *levels], levels, strict=False))
    assert page.evaluate(NAMELESS) == []
    if "toy" in name:
        page.locator("details.look summary").click()
        page.wait_for_selector(".plot .trace", state="attached")
        inputs = "[...document.querySelectorAll('.controls input, .controls select')]"
        assert page.evaluate(f"{inputs}.every((e) => e.labels.length === 1)")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_first_page_shows_misses_and_their_why_without_a_scroll_to_the_side(visit, width):
    page = visit("index.html", width=width)
    for text in ("1 not reproduced", "refuted: It is slow"):
        box = page.get_by_text(text).locator("visible=true").last.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + min(box["width"], 60) <= width
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert not page.get_by_text("T2", exact=False).first.is_visible()  # partly met: folded
