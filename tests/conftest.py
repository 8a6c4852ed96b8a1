import os

import pytest

# one thread: sums are then taken in one order, and tests do not crowd a shared machine
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")


@pytest.fixture(autouse=True, scope="session")
def _no_test_fetches_a_file():
    def retrieve(*_, **__):
        raise OSError("tests fetch nothing")

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("pooch.retrieve", retrieve)
        yield
