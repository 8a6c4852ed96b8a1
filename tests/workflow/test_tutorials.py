"""The tutorials work as they stand there, one after the other, in a fresh clone."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.checkout import called
from tests.tiers import exhaustive
from tests.workflow.conftest import ROOT
from tests.workflow.pages import Reader, blocks

DOCS = ROOT / "docs"
# in the order of the site's menu, which is that in which one builds on the other
ORDER = ["start", *(f"tutorials/{name}" for name in ("figure", "seed", "method", "claim"))]
ORDER += [f"tutorials/{name}" for name in ("audit", "review", "cluster", "script")]

pytestmark = pytest.mark.workflow


def test_the_menu_has_every_tutorial_in_the_order_in_which_they_are_tested():
    menu = [line for line in (DOCS / "index.md").read_text().splitlines() if "tutorials/" in line]
    assert [line for line in menu if line.startswith("tutorials/")] == ORDER[1:]
    assert {file.stem for file in (DOCS / "tutorials").glob("*.md")} == {
        page.partition("/")[2] for page in ORDER[1:]
    }


@pytest.mark.parametrize("page", ORDER)
def test_every_tutorial_has_commands(page):
    assert any(block.info == "sh" for block in blocks((DOCS / f"{page}.md").read_text()))


def clone(folder: Path) -> None:
    """A repository with the files of this checkout as they are now, and nothing made."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = called(*listed, check=True, cwd=ROOT).stdout
    for name in filter(None, names.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists():
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    author = ["-c", "user.name=Ada", "-c", "user.email=ada@localhost"]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "a clone"]):
        subprocess.run(["git", *author, *command], cwd=folder, check=True)


@exhaustive
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no clone")
def test_a_reader_who_follows_every_page_gets_what_it_says(tmp_path):
    folder = tmp_path / "grokking-atlas"
    clone(folder)
    reader = Reader(folder)
    for page in ORDER:
        reader.follow(DOCS / f"{page}.md")
