import contextlib
import shutil

import pytest

from grokatlas.run_store import store as run_store
from tests.unit.run_store.checkouts import Checkouts


@pytest.fixture(scope="session")
def pattern(tmp_path_factory):
    """A folder with a store and the checkout that filled it, which is only copied."""
    folder = tmp_path_factory.mktemp("pattern")
    with contextlib.chdir(folder):
        Checkouts(folder).fill()
    return folder


@pytest.fixture
def shared(pattern, tmp_path, monkeypatch):
    """A store, and the checkout that filled it, which we are in."""
    shutil.copytree(pattern, tmp_path, dirs_exist_ok=True)
    monkeypatch.delenv(run_store.VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    checkouts = Checkouts(tmp_path)
    checkouts.enter("first")
    return checkouts
