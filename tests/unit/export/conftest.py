import contextlib
import shutil

import pytest

from grokatlas.export import archive
from tests.unit import small_tree
from tests.unit.export.archives import KINDS


@pytest.fixture(scope="session")
def pattern(tmp_path_factory):
    """A folder with a results tree and its archives, which is only copied; targets by kind."""
    folder = tmp_path_factory.mktemp("pattern")
    (folder / "from").mkdir()
    with contextlib.chdir(folder / "from"):
        targets = small_tree.make()
        for kind in KINDS:
            archive.pack(folder / f"all.{kind}", "smoke", tables_only=False)
    return folder, targets


@pytest.fixture
def tree(pattern, tmp_path, monkeypatch):
    """A folder that holds a results tree, and that we are in; targets by kind."""
    made, targets = pattern
    shutil.copytree(made / "from", tmp_path / "from")
    monkeypatch.chdir(tmp_path / "from")
    return dict(targets)


@pytest.fixture
def packed(tree, pattern, tmp_path, monkeypatch):
    """Archives of the tree by suffix; we are in an empty folder."""
    made, _ = pattern
    files = {kind: tmp_path / f"all.{kind}" for kind in KINDS}
    for file in files.values():
        shutil.copy(made / file.name, file)
    (tmp_path / "to").mkdir()
    monkeypatch.chdir(tmp_path / "to")
    return files
