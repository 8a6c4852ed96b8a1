import gc
import os

import pytest

# looking for garbage among the thousands of tests that are collected takes a tenth of the time
gc.disable()

# one thread: sums are then taken in one order, and tests do not crowd a shared machine
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

# tests of a minute and more begin first, so that no worker is left alone with one in the end
LONG = ("test_tutorials.py", "test_site.py", "[plates/recovery-a hyperparameter of 0]")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: not any(name in item.nodeid for name in LONG))


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def _no_test_fetches_a_file():
    def retrieve(*_, **__):
        raise OSError("tests fetch nothing")

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("pooch.retrieve", retrieve)
        yield
