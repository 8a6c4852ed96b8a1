import contextlib
import shutil
from pathlib import Path

import pytest

from grokatlas.export import archive
from tests.unit import small_tree


@pytest.fixture(scope="session")
def pattern(tmp_path_factory):
    """A folder with a results tree and its archive, which is only copied; targets by kind."""
    folder = tmp_path_factory.mktemp("pattern")
    (folder / "from").mkdir()
    with contextlib.chdir(folder / "from"):
        targets = small_tree.make()
        archive.pack(folder / "all.zip", "smoke", tables_only=False)
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
    """An archive of the tree; we are in an empty folder."""
    made, _ = pattern
    (tmp_path / "to").mkdir()
    monkeypatch.chdir(tmp_path / "to")
    return Path(shutil.copy(made / "all.zip", tmp_path))
