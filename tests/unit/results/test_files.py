import contextlib
import errno
import os
import resource

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file

from grokatlas.errors import UserError
from grokatlas.results import files as store
from grokatlas.results import hashing, layout

WRITERS = {
    "json": lambda path, size: store.write_json(path, list(range(size))),
    "parquet": lambda path, size: store.write_parquet(
        path, pd.DataFrame({"a": np.random.RandomState(0).rand(size)})
    ),
    "arrays": lambda path, size: store.write_arrays(path, {"a": np.zeros(size)}, {}),
}
writers = pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)


@contextlib.contextmanager
def full_disk():
    """Files may grow to 4 kB only, which an operation meets as it meets a full disk.

    Only around the operation: the tests' own output may go to a longer file.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_atomic_writes_under_the_final_name_at_the_end_only(tmp_path):
    path = tmp_path / "folder" / "file.txt"
    with store.atomic(path) as temporary:
        temporary.write_text("new")
        assert temporary.parent == path.parent
        assert not path.exists()
    assert path.read_text() == "new"
    assert [file.name for file in path.parent.iterdir()] == ["file.txt"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("old", [None, "old"])
def test_a_block_that_raises_leaves_what_was_there(tmp_path, error, old):
    path = tmp_path / "file.txt"
    if old:
        path.write_text(old)

    def write():
        with store.atomic(path) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        write()
    assert (path.read_text() if path.exists() else None) == old
    assert list(tmp_path.iterdir()) == ([path] if old else [])


@writers
def test_a_full_disk_is_told_in_one_line(tmp_path, write):
    path = tmp_path / "file"
    write(path, 10)
    before = path.read_bytes()
    with full_disk(), pytest.raises(UserError, match="cannot be written") as caught:
        write(path, 5000)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@writers
def test_a_folder_that_cannot_be_made_is_told_in_one_line(tmp_path, write):
    (tmp_path / "results").write_text("a file where a folder should be")
    with pytest.raises(UserError, match=r"results/run/file: cannot be written"):
        write(tmp_path / "results" / "run" / "file", 10)


def test_a_failing_sync_leaves_nothing(tmp_path, monkeypatch):
    def fail(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(UserError, match="No space left on device"):
        store.write_json(tmp_path / "a.json", {})
    assert list(tmp_path.iterdir()) == []


def _refusing(number: int):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    return refuse


@writers
@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_a_disk_that_changes_no_mode_takes_files(tmp_path, monkeypatch, write, number):
    monkeypatch.setattr(os, "chmod", _refusing(number))
    path = tmp_path / "file"
    write(path, 10)
    assert path.stat().st_size


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_disk_that_knows_no_sync_takes_files(tmp_path, monkeypatch, number):
    monkeypatch.setattr(os, "fsync", _refusing(number))
    store.write_json(tmp_path / "a.json", {})
    assert store.read_json(tmp_path / "a.json") == {}


def test_a_mode_is_changed_only_where_it_differs(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(os, "chmod", lambda *given, **_: asked.append(given))
    tmp_path.joinpath("file").touch(0o640)
    mode = tmp_path.joinpath("file").stat().st_mode & 0o777
    store.allow(tmp_path / "file", mode)
    assert not asked
    store.allow(tmp_path / "file", mode ^ 0o020)
    assert len(asked) == 1


@pytest.fixture
def result(tmp_path):
    """A file and the manifest beside it."""
    path = tmp_path / "run" / layout.HISTORY
    store.write_parquet(path, pd.DataFrame({"a": [1.0, 2.0]}))
    manifest = {"digest": "d", "outputs": {path.name: hashing.file_sha256(path)}}
    store.write_json(path.parent / "manifest.json", store.sealed(manifest))
    return path


def test_an_intact_file_is_read(result):
    assert store.verified(result) == result
    assert store.read_parquet(result)["a"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("place", [0, 100, -1, None])
def test_a_flipped_byte_or_a_truncated_file_is_refused(result, place):
    content = bytearray(result.read_bytes())
    if place is not None:
        content[place] ^= 1
    result.write_bytes(content if place is not None else content[:50])
    with pytest.raises(UserError, match="is not the file its manifest records"):
        store.read_parquet(result)


def test_a_file_whose_manifest_does_not_vouch_for_it_is_refused(result):
    other = result.with_name("other.parquet")
    other.write_bytes(result.read_bytes())
    with pytest.raises(UserError, match="is not named in"):
        store.verified(other)
    manifest = result.with_name("manifest.json")
    manifest.write_text('{"outputs": ')
    with pytest.raises(UserError, match="cannot be read as JSON"):
        store.verified(result)
    manifest.unlink()
    with pytest.raises(UserError, match=r"manifest.json: no such file"):
        store.verified(result)


def test_a_folder_in_place_of_a_file_is_not_to_be_removed(tmp_path):
    with pytest.raises(UserError, match="cannot be read: Is a directory") as caught:
        store.read_json(tmp_path)
    assert "remove" not in str(caught.value)


def test_a_missing_file_is_refused(result):
    result.unlink()
    with pytest.raises(UserError, match="cannot be read: No such file"):
        store.verified(result)


def test_arrays_come_back_as_written(tmp_path):
    path = tmp_path / layout.SNAPSHOTS
    arrays = {"b/x": np.arange(6.0).reshape(2, 3), "a": np.array([1, 2]), "e": np.zeros((0, 2))}
    store.write_arrays(path, arrays, {"note": "text"})
    manifest = {"outputs": {path.name: hashing.file_sha256(path)}}
    store.write_json(tmp_path / "manifest.json", store.sealed(manifest))
    found, metadata = store.read_arrays(path)
    assert metadata == {"note": "text"}
    assert list(found) == ["a", "b/x", "e"]
    for key, array in arrays.items():
        assert np.array_equal(found[key], array)
        assert found[key].dtype == array.dtype


def test_the_same_arrays_are_the_same_bytes(tmp_path):
    metadata = {letter: letter for letter in "abcdefgh"}
    found = set()
    for place in range(5):
        path = tmp_path / f"{place}.safetensors"
        store.write_arrays(path, {"y": np.ones(2), "x": np.zeros(3)}, metadata)
        found.add(hashing.file_sha256(path))
    assert len(found) == 1


def test_arrays_of_an_earlier_version_are_read(tmp_path):
    path, metadata = tmp_path / layout.DATA, {"outputs": "97", "per_member": "0"}
    save_file({"x": np.zeros(3)}, path, metadata=metadata)
    manifest = {"outputs": {path.name: hashing.file_sha256(path)}}
    store.write_json(tmp_path / "manifest.json", store.sealed(manifest))
    assert store.read_arrays(path)[1] == metadata


@pytest.mark.parametrize("kind", layout.HANDED_ON)
def test_each_output_finds_its_manifest_and_no_two_files_share_a_name(tmp_path, kind):
    target = tmp_path / "a.b-1f"  # a stem may hold a dot
    manifest, job_file = layout.manifest_of(kind, target), layout.spec_path(kind, target)
    store.write_json(manifest, {})
    outputs = layout.outputs(kind, target)
    assert {layout.manifest_path(file) for file in outputs} == {manifest}
    assert layout.target_of(job_file) == target
    assert len({manifest, job_file, *outputs}) == len(outputs) + 2
