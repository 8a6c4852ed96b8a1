"""An archive that is forged, damaged, too large or none at all is refused; nothing is written."""

import io
import json
import shutil
import stat
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from grokatlas.errors import UserError
from grokatlas.export import adoption, archive, archive_files
from tests import cases
from tests.unit.export.archives import assert_refused, content, members, raw_write, rewrite


@cases.listed("name")
@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("inner", [False, True])
def test_a_member_outside_the_layout_is_refused(packed, name, listed, inner):
    files = members(packed)
    if listed:
        rewrite(packed, {**files, name: b"evil"}, inner=inner)
    else:
        raw_write(packed, files, [(name, b"evil")], inner)
    assert_refused(packed, "is no file that a job writes", "refused")


@pytest.mark.parametrize("type_", ["S_IFLNK", "S_IFCHR", "S_IFBLK", "S_IFIFO", "S_IFDIR"])
@pytest.mark.parametrize("inner", [False, True])
def test_a_member_that_is_no_plain_file_is_refused(packed, tree, type_, inner):
    files = members(packed)
    info = zipfile.ZipInfo(f"{tree['run']}/history.parquet")
    info.external_attr = (getattr(stat, type_) | 0o777) << 16
    files.pop(info.filename)
    rewrite(packed, files, [(info, b"/etc/passwd")], inner)
    assert_refused(packed, "is no plain file; refused")


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")  # of the writer of this test
@pytest.mark.parametrize("inner", [False, True])
def test_a_member_that_stands_twice_is_refused(packed, tree, inner):
    files = members(packed)
    name = f"{tree['run']}/history.parquet"
    rewrite(packed, files, [(name, files[name])], inner)
    assert_refused(packed, "is listed twice; refused")


@pytest.mark.parametrize("part", [0.05, 0.5, 0.9, 0.999])
def test_a_truncated_archive_is_refused(packed, part):
    text = packed.read_bytes()
    packed.write_bytes(text[: int(len(text) * part)])
    assert_refused(packed, "is damaged or truncated")


def test_any_flipped_byte_is_refused_or_changes_nothing(packed, tmp_path):
    good, whole = packed.read_bytes(), content(tmp_path / "from")
    for place in range(11, len(good), len(good) // 40):
        text = bytearray(good)
        text[place] ^= 16
        packed.write_bytes(text)
        try:
            adoption.adopt(packed, replace=False)
        except UserError as error:
            assert "\n" not in str(error)  # noqa: PT017
            assert not Path("results").exists()
        else:
            assert content(Path()) == whole
            shutil.rmtree("results")


HISTORY, TABLE = "{run}/history.parquet", "{table}.parquet"


def changed(text: bytes) -> bytes:
    return text.replace(b"run", b"fun")


@pytest.mark.parametrize(
    ("write", "name", "change", "words"),
    [
        (raw_write, HISTORY, None, ["lacks", "history.parquet", "fetch it again"]),
        (raw_write, HISTORY, changed, ["history.parquet", "is damaged; fetch it again"]),
        (raw_write, HISTORY, lambda _: bytes(10**7), ["is not as the index lists it; refused"]),
        (rewrite, HISTORY, changed, ["history.parquet", "is not the file its manifest records"]),
        (rewrite, TABLE, None, ["toys.parquet", "is missing in the archive"]),
        (rewrite, "{dataset}/", None, ["was made from results/data/", "which is not here"]),
    ],
)
def test_a_file_that_index_or_manifest_does_not_vouch_for_is_refused(
    packed, tree, write, name, change, words
):
    name, files = name.format(**tree), members(packed)
    kept = {key: text for key, text in files.items() if not key.startswith(name)}
    write(packed, kept | ({name: change(files[name])} if change else {}))
    assert_refused(packed, *words)


@pytest.mark.parametrize("old", ["61.5", '"c0ffee', '"cores": 2', '"kind"', '"seal": "', "{"])
def test_an_edited_record_is_refused(packed, tree, old):
    files = members(packed)
    name = f"{tree['run']}/manifest.json"
    new = {"61.5": "61.4", "{": "{ "}.get(old, old.replace('"', '"x', 1))
    rewrite(packed, {**files, name: files[name].replace(old.encode(), new.encode(), 1)})
    said = assert_refused(packed, name)
    assert any(word in said for word in ("is damaged", "was edited", "has no seal"))


def test_a_bomb_is_refused_before_it_is_unpacked(packed, tree, monkeypatch):
    monkeypatch.setattr(adoption, "ALWAYS_ALLOWED", 1000)
    files = members(packed)
    name = f"{tree['run']}/history.parquet"
    rewrite(packed, {**files, name: bytes(2 * 10**7)})
    asked = []
    real = archive_files._exactly

    def counted(path, stream, size):
        asked.append(size)
        return real(path, stream, size)

    monkeypatch.setattr(archive_files, "_exactly", counted)
    assert_refused(packed, "would unpack", "to 20.0 MB; refused")
    assert max(asked) < 10**5


def test_records_that_are_too_many_to_be_read_at_once_are_refused(packed, monkeypatch):
    monkeypatch.setattr(archive_files, "_LARGEST_TOGETHER", 100)
    assert_refused(packed, "member 'records.zip' is too large; refused")


def test_an_archive_within_the_records_is_no_file_of_a_job(packed):
    with zipfile.ZipFile(packed) as whole:
        names = {name: whole.read(name) for name in whole.namelist()}
    inner = packed.with_name("inner.zip")
    raw_write(inner, {archive_files.TOGETHER: names[archive_files.TOGETHER]})
    raw_write(packed, {**names, archive_files.TOGETHER: inner.read_bytes()})
    assert_refused(packed, "member 'records.zip' is no file that a job writes")


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")  # of the writer of this test
def test_records_are_one_member_after_the_index_and_no_bomb(packed):
    with zipfile.ZipFile(packed) as whole:
        names = {name: whole.read(name) for name in whole.namelist()}
    records = names.pop(archive_files.TOGETHER)
    twice = [(archive_files.TOGETHER, records)] * 2
    for extra in (twice[:1], twice):
        raw_write(packed, names, extra)
        assert_refused(packed, "member 'records.zip' is not the second one; refused")
    with zipfile.ZipFile(packed, "w") as first:
        first.writestr(archive_files.TOGETHER, records)
    assert_refused(packed, "member 'records.zip' is not the second one; refused")
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    padded = bytes(1 << 25) + empty.getvalue()
    index_alone = {archive.INDEX: names[archive.INDEX]}
    raw_write(packed, {**index_alone, archive_files.TOGETHER: padded})
    assert_refused(packed, "member 'records.zip' is too large; refused")


def test_what_the_disk_cannot_hold_is_refused(packed, monkeypatch):
    usage = shutil._ntuple_diskusage(10**6, 10**6 - 1000, 1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    assert_refused(packed, "needs", "the disk of . has 1.0 kB left")


def index(**changes) -> bytes:
    return json.dumps({**archive.FORMAT, "files": {}, **changes}).encode()


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"[]", b"{}", b"[" * 100_000),
        *(index(files={"x": each}) for each in ({"size": 1}, [])),
        *(index(files={"x": {"sha256": "0", "size": size}}) for size in (-1, 1.5, True, "1")),
        index(format="x"),
    ],
)
def test_a_damaged_index_or_one_of_a_later_version_is_refused(packed, text):
    raw_write(packed, {archive.INDEX: text})
    assert_refused(packed, f"{archive.INDEX}: is damaged")
    raw_write(packed, {archive.INDEX: index(version=9)})
    assert_refused(packed, "has version 9, this code reads 2 at most")


def test_what_is_no_archive_is_refused(packed, tmp_path):
    other = tmp_path / "other.zip"
    assert_refused(other, "cannot be read: No such file")
    other.write_bytes(b"not an archive")
    assert_refused(other, "is no .zip archive")
    other.write_bytes(b"")
    assert_refused(other, "is empty; fetch it again")
    raw_write(other.with_name("none.zip"), {})
    assert_refused(other.with_name("none.zip"), "is an empty zip; fetch it again")
    other.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    assert_refused(other, "is a pointer of Git LFS; `git lfs pull`")
    other.write_bytes(b"PK\x03\x04" * 1000)
    assert_refused(other, "is damaged or truncated")
    raw_write(other, {"results/runs/0123456789ab/spec.json": b"{}"})
    assert_refused(other, "does not begin with grokatlas-archive.json")
    assert_refused(tmp_path, "cannot be read")


@pytest.mark.skipif(not shutil.which("zip"), reason="needs the program zip")
def test_an_archive_of_version_0_2_is_taken_after_the_conversion_that_its_refusal_names(
    packed, tmp_path
):
    old = tmp_path / "old.tar.gz"
    with tarfile.open(old, "w:gz") as out:
        for name, text in members(packed).items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            out.addfile(info, io.BytesIO(text))
    refusal = assert_refused(old, "is a .tar.gz of version 0.2")
    subprocess.run(refusal.partition("of it: ")[2], shell=True, check=True, cwd=tmp_path)
    adoption.adopt(tmp_path / "new.zip", replace=False)
    assert content(Path()) == content(tmp_path / "from")
