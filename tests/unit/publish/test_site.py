"""The documentation site: its pages, and that the whole of it builds and needs no network."""

import importlib.util
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from grokatlas import registry
from grokatlas.plan import recorded_studies
from tests.checkout import ROOT, called, declared_papers
from tests.tiers import exhaustive

SITE = ROOT / "docs" / "site"
# what a browser fetches by itself when it shows a page
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
NO_GENERATOR = "Sphinx, its theme or MyST is not installed (make .venv/.installed-docs)"
NEEDED = ("sphinx", "furo", "myst_parser", "sphinx_copybutton")
GENERATOR = all(map(importlib.util.find_spec, NEEDED))


@pytest.fixture
def site_modules(monkeypatch):
    monkeypatch.syspath_prepend(str(SITE))
    yield
    for name in ("pages", "plates", "notebook", "docstrings", "reference", "build"):
        sys.modules.pop(name, None)


class Links(HTMLParser):
    """What a page fetches, and where its links lead."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors |= {values["id"]} if values.get("id") else set()
        if values.get(FETCHED.get(tag)):
            self.fetched.append(values[FETCHED[tag]])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])


def test_a_link_out_of_docs_leads_to_the_page_of_that_file(site_modules, tmp_path):
    from pages import Pages

    pages = Pages(ROOT, tmp_path)
    text = (
        "[keys](../config/README.md#layers) [code](../src/grokatlas/registry.py) [a](atlas.md)\n"
        "`docs/audit.md` and (docs/cluster.md) are named, `docs/none.md` is none\n"
        "```\n[keys](../config/README.md)\n```\n"
    )
    pages.add("reference/one.md", text, "docs/one.md")
    pages.add_sources()
    assert (tmp_path / "reference/one.md").read_text() == (
        "[keys](yaml.md#layers) [code](../source/grokatlas/registry.md) [a](../atlas.md)\n"
        "[`docs/audit.md`](../audit.md) and ([docs/cluster.md](../cluster.md)) are named, "
        "`docs/none.md` is none\n"
        "```\n[keys](../config/README.md)\n```\n"
    )
    assert "DEFAULT_DYNAMICS" in (tmp_path / "source/grokatlas/registry.md").read_text()


def test_a_docstring_keeps_its_equations_and_sections(site_modules):
    from docstrings import markdown

    docstring = """Descend.

        With ``w* = X^+ y``, for a* and <w, x>:

            ``w <- w - r g``

        Args:
            rate: r, of
                each step.

        Raises:
            ValueError: never.
        """
    assert markdown(docstring) == (
        "Descend.\n\nWith ``w* = X^+ y``, for a\\* and \\<w, x>:\n\n```text\nw <- w - r g\n```\n\n"
        "**Arguments**\n\n* `rate`: r, of each step.\n\n**Raises**\n\n* `ValueError`: never."
    )
    assert "rate" not in markdown(docstring, arguments=False)


def test_every_plate_has_a_page_with_its_claims(site_modules):
    import plates

    whole = (ROOT / "docs" / plates.PAGE).read_text(encoding="utf-8")
    paper = declared_papers()["plates"]
    short, pages = plates.split(whole)
    assert list(pages) == list(paper.figures)
    for name, text in pages.items():
        claims = [claim.id for claim in paper.claims if claim.figure == name]
        assert re.findall(r"^\| (P\w+) \|", text, re.MULTILINE) == claims
        assert "**Limits.**" in text
        assert f"\n### {name}\n" in short
        assert f"(plates/{name}.md)" in short


def test_every_recorded_study_has_a_page_with_its_pictures(site_modules, tmp_path):
    from pages import Pages

    Pages(ROOT, tmp_path).add_studies()
    names = {folder.name for folder in recorded_studies.folders(ROOT)}
    assert {file.stem for file in (tmp_path / "studies").glob("*.md")} == names
    for file in (tmp_path / "studies").glob("*.md"):
        shown = re.findall(r"!\[[^]]*\]\(([^)]+)\)", file.read_text(encoding="utf-8"))
        assert all((file.parent / picture).is_file() for picture in shown)


def test_a_figure_of_a_study_says_what_it_was_made_from(monkeypatch):
    monkeypatch.chdir(ROOT)
    shown = recorded_studies.shown()
    imported = {name for name, each in shown.items() if any(f["imported"] for f in each["figures"])}
    assert imported == {"norm_cap"}
    for figure in (figure for each in shown.values() for figure in each["figures"]):
        assert not (figure["quick_note"] and figure["scale"] == "paper")
    assert any(figure["quick_note"] for figure in shown["algorithmic_data"]["figures"])


@pytest.mark.parametrize("block", registry.FOLDERS)
def test_every_component_is_on_a_page_with_its_keywords(site_modules, block):
    import reference

    text = reference.components(block)
    for name in registry.names(block):
        assert f"\n## {name}\n" in text
        assert f"components/{registry.FOLDERS[block]}.md#{name})" in reference.overview()


def test_every_command_is_on_a_page(site_modules):
    import reference

    text = reference.commands()
    from grokatlas import cli_commands

    for command in cli_commands.COMMANDS:
        assert f"\n### {command.name}\n" in text
        names = (a.keywords.get("metavar", a.names[0]) for a in command.arguments)
        assert all(name in text for name in names)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "site"
    command = [sys.executable, str(SITE / "build.py"), str(folder)]
    done = called(*command)
    assert done.returncode == 0, done.stderr
    return folder


@exhaustive
@pytest.mark.skipif(not GENERATOR, reason=NO_GENERATOR)
def test_it_builds_without_a_warning_and_has_every_paper(site):
    papers = declared_papers()
    assert all((site / f"papers/plates/{name}.html").is_file() for name in papers["plates"].figures)
    for name in ("index", "search", "start", *(f"papers/{paper}" for paper in papers)):
        assert (site / f"{name}.html").is_file()
    assert "elastic_net" in (site / "searchindex.js").read_text(encoding="utf-8")


@exhaustive
@pytest.mark.skipif(not GENERATOR, reason=NO_GENERATOR)
def test_a_page_fetches_nothing_and_every_link_leads_somewhere(site):
    pages = {page: Links(page) for page in site.rglob("*.html")}
    for page, found in pages.items():
        for target in [*found.fetched, *found.links]:
            if re.match(r"\w+:|//", target):
                assert target not in found.fetched, f"{page} fetches {target}"
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path.partition("?")[0]).resolve() if path else page
            assert file.exists(), f"{page} links to {target}"
            if anchor and file in pages:
                assert anchor in pages[file].anchors, f"{page} links to {target}"
    for style in site.rglob("*.css"):
        fetched = re.findall(r"url\(\s*[\"']?(?!data:)(\w+:)?//|@import", style.read_text())
        assert not fetched, style
