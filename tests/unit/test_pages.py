"""The pages of papers say what the YAML says, and every picture is there."""

import re
import shutil
from pathlib import Path

import pytest

from grokatlas import pages
from grokatlas.errors import UserError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def copied(tmp_path):
    shutil.copytree(ROOT / "docs" / "papers", tmp_path / "papers")
    return tmp_path / "papers"


def test_committed_pages_are_what_the_yaml_says(copied):
    pages.write(ROOT / "config", copied)
    for page in copied.glob("*.md"):
        committed = (ROOT / "docs" / "papers" / page.name).read_text(encoding="utf-8")
        assert page.read_text(encoding="utf-8") == committed, "run `grokatlas reference`"


def test_every_paper_has_a_page():
    papers = {path.stem for path in (ROOT / "config" / "papers").glob("*.yaml")}
    assert papers == {path.stem for path in (ROOT / "docs" / "papers").glob("*.md")}


PAGES = [f"docs/papers/{path.name}" for path in (ROOT / "docs" / "papers").glob("*.md")]


@pytest.mark.parametrize("page", ["README.md", *sorted(PAGES)])
def test_links_and_pictures_resolve_and_are_small(page):
    file = ROOT / page
    targets = re.findall(r"\]\(([^)#:]+)\)", file.read_text(encoding="utf-8"))
    assert any(target.endswith(".png") for target in targets)
    for target in targets:
        assert (file.parent / target).exists(), target
        assert (file.parent / target).stat().st_size < 1_000_000


def test_a_page_without_its_marks_is_an_error(copied):
    (copied / "geometry.md").write_text("# Nothing here\n")
    with pytest.raises(UserError, match=r"geometry\.md: must hold once each"):
        pages.write(ROOT / "config", copied)
