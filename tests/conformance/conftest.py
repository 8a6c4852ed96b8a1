import pytest

from tests import image_files


@pytest.fixture(autouse=True, scope="module")
def _small_image_files(tmp_path_factory):
    """Tasks of images read small files of random pixels: no test here needs the real ones."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        image_files.install(monkeypatch, tmp_path_factory.mktemp("data"))
        yield
