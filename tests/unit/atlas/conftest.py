import pytest

from tests.atlas import small_atlas


@pytest.fixture(scope="package")
def folder(tmp_path_factory):
    """The folder of pages of a small results tree, which is only read."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(tmp_path_factory.mktemp("atlas"))
        yield small_atlas.make().resolve()


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working directory with the small results tree and its pages, which may be changed."""
    monkeypatch.chdir(tmp_path)
    small_atlas.make()
