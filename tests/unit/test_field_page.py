"""The page on the field's works names components that there are, and as missing those that lack."""

import re

import pytest
import yaml

from grokatlas import registry
from tests.checkout import ROOT

PAGE = ROOT / "docs" / "field.md"
STUDIES = ROOT / "studies"
MISSING = "not yet"


def cells() -> list[tuple[str, str, str]]:
    """Work, heading and text of every cell of the table."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    head, _, *rows = [[each.strip() for each in line.strip("|").split("|")] for line in lines]
    assert {len(row) for row in rows} == {len(head)}
    return [(row[0], *pair) for row in rows for pair in zip(head[1:], row[1:], strict=True)]


def named(text: str) -> list[str]:
    """The names of components in a cell, without what stands in parentheses."""
    words = re.findall(r"`([^`]+)`", re.sub(r"\([^)]*\)", "", text))
    return [word for word in words if word.isidentifier()]


def exists(block: str, name: str) -> bool:
    """Tell if the package or a study of the checkout has the component."""
    theirs = STUDIES.glob(f"*/components/{registry.FOLDERS[block]}/{name}.py")
    return registry.exists(block, name) or any(theirs)


def test_the_page_has_the_works():
    assert len({work for work, _, _ in cells()}) == 16


@pytest.mark.parametrize(("work", "heading", "text"), cells())
def test_a_component_of_the_page_exists_in_a_block_of_its_column(work, heading, text):
    blocks = [each for each in registry.FOLDERS if each in heading.split(", ")]
    if not blocks:
        return
    assert [n for n in named(text) if not any(exists(b, n) for b in blocks)] == [], work


def test_what_is_not_yet_there_is_not_there():
    absent = {name for _, heading, text in cells() if heading == MISSING for name in named(text)}
    assert absent
    assert [n for n in absent for b in registry.FOLDERS if exists(b, n)] == []


def test_the_works_with_a_study_say_so():
    files = STUDIES.glob("*/config/papers/*/paper.yaml")
    sources = [yaml.safe_load(file.read_text(encoding="utf-8"))["source"] for file in files]
    works = {work for work, _, _ in cells()}
    assert {work for work in works if "studies.md" in work} == {
        work for work in works if any(source["code"] in work for source in sources)
    }
    assert all(any(source["code"] in work for work in works) for source in sources)
