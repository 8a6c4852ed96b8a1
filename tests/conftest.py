import gc
import os
import signal
from pathlib import Path

import pytest

# looking for garbage while thousands of tests are collected takes a third of that time
gc.disable()

# one thread: sums are then taken in one order, and tests do not crowd a shared machine
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

# the longest tests begin first, so that no worker is left alone with one in the end
LONGEST = ("test_tutorials.py", "test_site.py", "tests/workflow/")


def pytest_configure(config):
    """Workers import ART at once: on a new machine it is imported here before."""
    if not hasattr(config, "workerinput"):
        from grokatlas.rules.jobs import first_import

        first_import.of_art()


def pytest_collection_modifyitems(items):
    """The longest first; cases of one figure side by side, as a worker makes its tables once."""
    files = {item.path: index for index, item in reversed([*enumerate(items)])}

    def place(item) -> tuple[int, int, str]:
        rank = next((n for n, name in enumerate(LONGEST) if name in item.nodeid), len(LONGEST))
        params = item.callspec.params if hasattr(item, "callspec") else {}
        return rank, files[item.path], f"{params.get('paper')}/{params.get('figure')}"

    items.sort(key=place)


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)  # as `savepoint` has them


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """An empty folder that we are in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def _paths_of_python_are_given_back(monkeypatch):
    """A command that a test calls in this process sets it for the processes that follow."""
    monkeypatch.setenv("PYTHONSAFEPATH", "")


@pytest.fixture(autouse=True)
def _signals_are_given_back():
    """A job that a test runs in this process ignores them once it is done."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        if signal.getsignal(number) != handler:
            signal.signal(number, handler)


@pytest.fixture(autouse=True, scope="session")
def _no_test_fetches_a_file():
    def retrieve(*_, **__):
        raise OSError("tests fetch nothing")

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("pooch.retrieve", retrieve)
        yield
