"""An archive that is forged, damaged, too large or none at all is refused; nothing is written."""

import gzip
import json
import shutil
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from grokatlas.errors import UserError
from grokatlas.export import adoption, archive, archive_files
from tests.unit.export.archives import KINDS, assert_refused, content, members, raw_write, rewrite

ESCAPES = [
    "../evil.txt",
    "/tmp/grokatlas-evil.txt",
    "results/../../evil.txt",
    "results/runs/0123456789ab/../../../../evil",
    "results/runs/0123456789ab/..",
    "src/grokatlas/results/files.py",
    ".snakemake/x",
    "results/README.md",
    "results/runs/0123456789ab/log.txt",
    "results/runs/0123456789ab/history.pkl",
    "results\\runs\\x",
    "C:\\evil.txt",
    "results/smoke/figures/atlas/fig1.py",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ESCAPES)
@pytest.mark.parametrize("listed", [True, False])
def test_a_member_outside_the_layout_is_refused(packed, kind, name, listed):
    files = members(packed[kind])
    if listed:
        rewrite(packed[kind], {**files, name: b"evil"})
    else:
        raw_write(packed[kind], files, [(name, b"evil")])
    assert_refused(packed[kind], "is no file that a job writes", "refused")


def special(kind: bytes, name: str, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.mark.parametrize(
    "type_",
    [
        tarfile.SYMTYPE,
        tarfile.LNKTYPE,
        tarfile.CHRTYPE,
        tarfile.BLKTYPE,
        tarfile.FIFOTYPE,
        tarfile.DIRTYPE,
        tarfile.GNUTYPE_SPARSE,
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.GNUTYPE_LONGNAME,
    ],
)
def test_a_member_that_is_no_plain_file_is_refused(packed, tree, type_):
    files = members(packed["tar.gz"])
    name = f"{tree['run']}/history.parquet"
    del files[name]
    rewrite(packed["tar.gz"], files, [(special(type_, name, "/etc/passwd"), b"")])
    assert_refused(packed["tar.gz"], "is no plain file; refused")


def test_a_link_in_a_zip_is_refused(packed, tree):
    files = members(packed["zip"])
    info = zipfile.ZipInfo(f"{tree['run']}/history.parquet")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    files.pop(info.filename)
    rewrite(packed["zip"], files, [(info, b"/etc/passwd")])
    assert_refused(packed["zip"], "is no plain file; refused")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")  # of the writer of this test
def test_a_member_that_stands_twice_is_refused(packed, tree, kind):
    files = members(packed[kind])
    name = f"{tree['run']}/history.parquet"
    rewrite(packed[kind], files, [(name, files[name])])
    assert_refused(packed[kind], "is listed twice; refused")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [0.05, 0.5, 0.9, 0.999])
def test_a_truncated_archive_is_refused(packed, kind, part):
    text = packed[kind].read_bytes()
    packed[kind].write_bytes(text[: int(len(text) * part)])
    assert_refused(packed[kind], "is damaged or truncated")


@pytest.mark.parametrize("kind", KINDS)
def test_any_flipped_byte_is_refused_or_changes_nothing(packed, tmp_path, kind):
    good, whole = packed[kind].read_bytes(), content(tmp_path / "from")
    for place in range(11, len(good), len(good) // 40):
        text = bytearray(good)
        text[place] ^= 16
        packed[kind].write_bytes(text)
        try:
            adoption.adopt(packed[kind], replace=False)
        except UserError as error:
            assert "\n" not in str(error)  # noqa: PT017
            assert not Path("results").exists()
        else:
            assert content(Path()) == whole
            shutil.rmtree("results")


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_member_is_refused(packed, tree, kind):
    files = members(packed[kind])
    del files[f"{tree['run']}/history.parquet"]
    raw_write(packed[kind], files)
    assert_refused(packed[kind], "lacks", "history.parquet", "fetch it again")


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_its_manifest_does_not_vouch_for_is_refused(packed, tree, kind):
    files = members(packed[kind])
    name = f"{tree['run']}/history.parquet"
    rewrite(packed[kind], {**files, name: files[name].replace(b"run", b"fun")})
    assert_refused(packed[kind], name, "is not the file its manifest records")


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_the_index_does_not_vouch_for_is_refused(packed, tree, kind):
    files = members(packed[kind])
    name = f"{tree['run']}/history.parquet"
    raw_write(packed[kind], {**files, name: files[name].replace(b"run", b"fun")})
    assert_refused(packed[kind], name, "is damaged; fetch it again")


def test_a_table_without_its_file_is_refused(packed, tree):
    files = members(packed["zip"])
    del files[f"{tree['table']}.parquet"]
    rewrite(packed["zip"], files)
    assert_refused(packed["zip"], "toys.parquet", "is missing in the archive")


def test_a_result_without_what_it_was_made_from_is_refused(packed, tree):
    files = members(packed["zip"])
    kept = {name: text for name, text in files.items() if not name.startswith(str(tree["dataset"]))}
    rewrite(packed["zip"], kept)
    assert_refused(packed["zip"], "was made from results/data/", "which is not here")


@pytest.mark.parametrize("old", ["61.5", '"c0ffee', '"cores": 2', '"kind"', '"seal": "', "{"])
def test_an_edited_record_is_refused(packed, tree, old):
    files = members(packed["zip"])
    name = f"{tree['run']}/manifest.json"
    new = {"61.5": "61.4", "{": "{ "}.get(old, old.replace('"', '"x', 1))
    rewrite(packed["zip"], {**files, name: files[name].replace(old.encode(), new.encode(), 1)})
    said = assert_refused(packed["zip"], name)
    assert any(word in said for word in ("is damaged", "was edited", "has no seal"))


@pytest.mark.parametrize("kind", KINDS)
def test_more_bytes_than_declared_are_refused(packed, tree, kind):
    files = members(packed[kind])
    name = f"{tree['run']}/history.parquet"
    raw_write(packed[kind], {**files, name: bytes(10**7)})
    assert_refused(packed[kind], name, "is not as the index lists it; refused")


@pytest.mark.parametrize("kind", KINDS)
def test_a_bomb_is_refused_before_it_is_unpacked(packed, tree, kind, monkeypatch):
    monkeypatch.setattr(adoption, "ALWAYS_ALLOWED", 1000)
    files = members(packed[kind])
    name = f"{tree['run']}/history.parquet"
    rewrite(packed[kind], {**files, name: bytes(2 * 10**7)})
    asked = []
    real = archive_files._exactly

    def counted(path, stream, size):
        asked.append(size)
        return real(path, stream, size)

    monkeypatch.setattr(archive_files, "_exactly", counted)
    assert_refused(packed[kind], "would unpack", "to 20.0 MB; refused")
    assert max(asked) < 10**5


def test_what_the_disk_cannot_hold_is_refused(packed, monkeypatch):
    usage = shutil._ntuple_diskusage(10**6, 10**6 - 1000, 1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    assert_refused(packed["zip"], "needs", "the disk of . has 1.0 kB left")


@pytest.mark.parametrize(
    "index",
    [
        b"",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"format": "grokatlas results", "version": 1, "files": {"x": {"size": 1}}}',
        b'{"format": "grokatlas results", "version": 1, "files": {"x": []}}',
        b'{"format": "x", "version": 1, "files": {}}',
    ],
)
def test_a_damaged_index_is_refused(packed, index):
    raw_write(packed["zip"], {archive.INDEX: index})
    assert_refused(packed["zip"], f"{archive.INDEX}: is damaged")


@pytest.mark.parametrize("size", [-1, 1.5, True, "1"])
def test_a_size_that_is_none_is_refused(packed, size):
    files = {"results/runs/0123456789ab/history.parquet": {"sha256": "0", "size": size}}
    index = json.dumps({**archive.FORMAT, "files": files}).encode()
    raw_write(packed["zip"], {archive.INDEX: index})
    assert_refused(packed["zip"], f"{archive.INDEX}: is damaged")


def test_a_later_version_is_refused(packed):
    raw_write(
        packed["zip"],
        {archive.INDEX: b'{"format": "grokatlas results", "version": 9, "files": {}}'},
    )
    assert_refused(packed["zip"], "has version 9, this code reads 1")


def test_what_is_no_archive_is_refused(packed, tmp_path):
    other = tmp_path / "other.tar.gz"
    assert_refused(other, "cannot be read: No such file")
    other.write_bytes(b"not an archive")
    assert_refused(other, "is no archive")
    other.write_bytes(b"")
    assert_refused(other, "is empty; fetch it again")
    raw_write(other.with_name("none.zip"), {})
    assert_refused(other.with_name("none.zip"), "is an empty zip; fetch it again")
    other.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    assert_refused(other, "is a pointer of Git LFS; `git lfs pull`")
    other.write_bytes(gzip.compress(b"no tar" * 1000))
    assert_refused(other, "is damaged or truncated")
    whole = gzip.decompress(packed["tar.gz"].read_bytes())
    other.write_bytes(gzip.compress(whole[:-1024]))
    assert_refused(other, "is damaged or truncated (no end of archive)")
    other.write_bytes(gzip.compress(whole + b"more"))
    assert_refused(other, "is damaged or truncated (bytes after the archive's end)")
    raw_write(other, {"results/runs/0123456789ab/spec.json": b"{}"})
    assert_refused(other, "does not begin with grokatlas-archive.json")
    assert_refused(tmp_path, "cannot be read")
