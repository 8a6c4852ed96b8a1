import gc
import os

import pytest

# looking for garbage among the thousands of tests that are collected takes a tenth of the time
gc.disable()

# one thread: sums are then taken in one order, and tests do not crowd a shared machine
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

# the longest tests begin first, so that no worker is left alone with one in the end
LONGEST = ("test_tutorials.py", "test_site.py", "-a hyperparameter of 0]", "tests/workflow/")


def pytest_collection_modifyitems(items):
    def place(item) -> int:
        return next((n for n, name in enumerate(LONGEST) if name in item.nodeid), len(LONGEST))

    items.sort(key=place)


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
