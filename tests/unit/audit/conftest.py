import contextlib
import shutil

import pytest

from tests.unit import audit_tree


@pytest.fixture(scope="session")
def pattern(tmp_path_factory):
    """A folder with a finished tree, which is only copied."""
    folder = tmp_path_factory.mktemp("pattern")
    with contextlib.chdir(folder):
        audit_tree.build(audit_tree.declared())
    return folder


@pytest.fixture
def jobs(pattern, tmp_path, monkeypatch):
    """The jobs of a finished tree, by target; we are in its folder."""
    shutil.copytree(pattern, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return audit_tree.declared()
