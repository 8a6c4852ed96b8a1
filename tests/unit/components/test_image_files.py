"""Where image files come from: the data folder, else a mirror; never under another hash."""

import hashlib
import sys
from pathlib import Path

import pooch
import pytest
import requests

from grokatlas.components import image_files as images
from grokatlas.components.tasks import cifar10
from tests import image_files

CONTENT = b"the right bytes"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
FILE = images.File("set/a.gz", SHA256, ("https://one.example/a.gz", "https://two.example/a.gz"))


@pytest.fixture
def mirrors(monkeypatch, tmp_path):
    """Addresses and the bytes behind them, in place of the network; and what was asked for."""
    monkeypatch.delenv(images.FOLDER, raising=False)
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache" / name)
    served: dict[str, bytes] = {}
    asked: list[str] = []

    def retrieve(url: str, known_hash: str, fname: str, path: Path) -> str:
        asked.append(url)
        if url not in served:
            raise requests.exceptions.ConnectionError("no network\nin two lines")
        if known_hash != f"sha256:{hashlib.sha256(served[url]).hexdigest()}":
            raise ValueError("SHA256 hash of downloaded file does not match")
        image_files.write(path / fname, served[url])
        return str(path / fname)

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    return served, asked


def _folder(monkeypatch, tmp_path, content):
    image_files.write(tmp_path / "data" / FILE.name, content)
    monkeypatch.setenv(images.FOLDER, str(tmp_path / "data"))


def test_the_data_folder_comes_first(mirrors, monkeypatch, tmp_path):
    _folder(monkeypatch, tmp_path, CONTENT)
    assert images.read(FILE) == CONTENT
    assert mirrors[1] == []


def test_without_pooch_the_error_says_which_file_is_wanted(monkeypatch):
    monkeypatch.delenv(images.FOLDER, raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)  # as where it is not installed
    with pytest.raises(ValueError, match="package pooch is not installed") as caught:
        images.read(FILE)
    assert f"{FILE.name} (sha256 {SHA256})" in str(caught.value)


def test_another_file_under_the_name_is_never_used(mirrors, monkeypatch, tmp_path):
    _folder(monkeypatch, tmp_path, b"other bytes")
    mirrors[0][FILE.urls[0]] = CONTENT
    with pytest.raises(ValueError, match="it is not used: replace or remove it") as caught:
        images.read(FILE)
    line = str(caught.value)
    assert line.isprintable()
    assert SHA256 in line
    assert str(tmp_path / "data" / FILE.name) in line
    assert mirrors[1] == []


def test_a_file_is_fetched_where_the_folder_has_it_not(mirrors, monkeypatch, tmp_path):
    monkeypatch.setenv(images.FOLDER, str(tmp_path))
    mirrors[0][FILE.urls[0]] = CONTENT
    assert images.read(FILE) == CONTENT
    assert mirrors[1] == [FILE.urls[0]]
    assert (tmp_path / "cache" / "grokatlas" / "set" / "a.gz").read_bytes() == CONTENT


@pytest.mark.parametrize("first", [None, b"other bytes"], ids=["unreachable", "other bytes"])
def test_mirrors_are_tried_in_order(mirrors, first):
    served, asked = mirrors
    served[FILE.urls[1]] = CONTENT
    if first is not None:
        served[FILE.urls[0]] = first
    assert images.read(FILE) == CONTENT
    assert asked == list(FILE.urls)


def test_offline_one_line_says_which_file_and_how_to_provide_it(mirrors, monkeypatch, tmp_path):
    monkeypatch.setenv(images.FOLDER, str(tmp_path))
    with pytest.raises(ValueError, match="could not be fetched") as caught:
        images.read(FILE)
    line = str(caught.value)
    assert line.isprintable()
    for part in (FILE.name, SHA256, str(tmp_path), "`data_dir`", images.FOLDER, FILE.urls[0]):
        assert part in line
    assert mirrors[1] == list(FILE.urls)


def test_a_spoilt_cache_is_not_used(mirrors, monkeypatch, tmp_path):
    spoilt = tmp_path / "a.gz"
    spoilt.write_bytes(b"changed after pooch looked")
    monkeypatch.setattr(pooch, "retrieve", lambda *_, **__: str(spoilt))
    with pytest.raises(ValueError, match="was changed"):
        images.read(FILE)


@pytest.fixture
def held(mirrors, monkeypatch, tmp_path):
    return image_files.install(monkeypatch, tmp_path / "small")


def _cifar(train=8, test=7):
    return cifar10.build(train_points=train, test_points=test, pixels="unit")


def test_the_files_of_first_records_serve_within_their_number(held, mirrors, tmp_path):
    whole = _cifar()
    (tmp_path / "small" / cifar10.ARCHIVE.name).unlink()
    few = _cifar()
    assert (few.train_inputs == whole.train_inputs).all()
    assert (few.test_targets == whole.test_targets).all()
    assert mirrors[1] == []


def test_beyond_their_number_the_archive_is_fetched(held, mirrors, tmp_path):
    archive = tmp_path / "small" / cifar10.ARCHIVE.name
    mirrors[0][cifar10.ARCHIVE.urls[1]] = archive.read_bytes()
    expected = _cifar(test=8).test_targets
    archive.unlink()
    assert (_cifar(test=8).test_targets == expected).all()
    assert mirrors[1] == list(cifar10.ARCHIVE.urls)


def test_beyond_their_number_offline_the_error_says_so(held, tmp_path):
    (tmp_path / "small" / cifar10.ARCHIVE.name).unlink()
    with pytest.raises(ValueError, match="has 7 of 8 images") as caught:
        _cifar(test=8)
    assert str(caught.value).startswith(cifar10.ARCHIVE.name)
    assert str(caught.value).isprintable()


def test_a_wrong_file_of_first_records_is_never_used(held, tmp_path):
    (tmp_path / "small" / cifar10.ARCHIVE.name).unlink()
    image_files.write(tmp_path / "small" / cifar10.FIRST["train"].name, bytes(8 * cifar10.RECORD))
    with pytest.raises(ValueError, match="it is not used"):
        _cifar()
