"""Packing and adopting on a small tree: nothing unsound goes out, comes in or is written over."""

import gzip
import hashlib
import io
import itertools
import json
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.errors import UserError
from grokatlas.export import adoption, archive, archive_files
from grokatlas.results import files as store
from grokatlas.results import hashing, layout
from tests.tiers import every
from tests.unit import small_tree

KINDS = ("tar.gz", "zip")


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A folder that holds a results tree, and that we are in; targets by kind."""
    (tmp_path / "from").mkdir()
    monkeypatch.chdir(tmp_path / "from")
    return small_tree.make()


@pytest.fixture
def packed(tree, tmp_path, monkeypatch):
    """Archives of the tree by suffix; we are in an empty folder."""
    files = {kind: tmp_path / f"all.{kind}" for kind in KINDS}
    for file in files.values():
        archive.pack(file, "smoke", tables_only=False)
    (tmp_path / "to").mkdir()
    monkeypatch.chdir(tmp_path / "to")
    return files


def content(folder: Path) -> dict[str, bytes]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def members(file: Path) -> dict[str, bytes]:
    return {entry.name: b"".join(entry.chunks) for entry in archive_files.entries(file)}


def rewrite(file: Path, files: dict[str, bytes], extra=()) -> None:
    """Write an archive as anyone could, with an index that fits its files."""
    index = json.loads(files[archive.INDEX])
    index["files"] = {
        name: {"sha256": hashlib.sha256(text).hexdigest(), "size": len(text)}
        for name, text in files.items()
        if name != archive.INDEX
    }
    raw_write(file, {**files, archive.INDEX: json.dumps(index).encode()}, extra)


def raw_write(file: Path, files: dict[str, bytes], extra=()) -> None:
    pairs = [(archive.INDEX, files[archive.INDEX])] if archive.INDEX in files else []
    pairs += [(name, text) for name, text in files.items() if name != archive.INDEX]
    if file.suffix == ".zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
            for name, text in [*pairs, *extra]:
                out.writestr(name, text)
        return
    with tarfile.open(file, "w:gz", format=tarfile.GNU_FORMAT) as out:
        for name, text in [*pairs, *extra]:
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.size = len(text)
            out.addfile(info, io.BytesIO(text))


def refused(file: Path, *words: str, replace: bool = False) -> str:
    """Assert that `adopt` refuses in one line, with exit code 1, and writes nothing."""
    before = content(Path())
    with pytest.raises(UserError) as error:
        adoption.adopt(file, replace)
    assert content(Path()) == before
    assert not list(Path().rglob(".adopt*"))
    text = str(error.value)
    assert "\n" not in text
    for word in words:
        assert word in text
    assert cli.main(["adopt", str(file)]) == 1
    return text


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_arrives_as_it_was(tree, packed, tmp_path, kind):
    text = adoption.adopt(packed[kind], replace=False)
    assert "1 dataset, 1 run, 1 measure, 1 table, 1 figure" in text
    assert content(Path()) == content(tmp_path / "from")
    assert "nothing; 5 were here already" in adoption.adopt(packed[kind], replace=False)


@pytest.mark.parametrize("kind", KINDS)
def test_same_results_same_bytes(tree, tmp_path, kind):
    first, second = tmp_path / f"1.{kind}", tmp_path / f"2.{kind}"
    archive.pack(first, "smoke", tables_only=False)
    for file in sorted(Path("results").rglob("*.*"), reverse=True):
        file.touch()
        file.chmod(0o600)
    archive.pack(second, "smoke", tables_only=False)
    assert first.read_bytes() == second.read_bytes()


def test_members_carry_no_owner_and_no_time(packed):
    with tarfile.open(packed["tar.gz"]) as found:
        facts = {(m.uid, m.gid, m.uname, m.gname, m.mtime, m.mode) for m in found}
    assert facts == {(0, 0, "", "", 0, 0o644)}
    assert packed["tar.gz"].read_bytes()[3:8] == bytes(5)  # gzip's own name and time
    with zipfile.ZipFile(packed["zip"]) as found:
        facts = {(m.date_time, m.external_attr >> 16) for m in found.infolist()}
    assert facts == {((1980, 1, 1, 0, 0, 0), stat.S_IFREG | 0o644)}


def test_logs_leftovers_and_other_scales_stay_here(tree, tmp_path):
    small_tree.make("quick")
    for name in ("log.txt", ".history.parquet.x.part", "notes.txt"):
        (tree["run"] / name).write_text("x")
    archive.pack(tmp_path / "all.zip", "smoke", tables_only=False)
    names = set(members(tmp_path / "all.zip"))
    assert all(layout.owner(name) for name in names - {archive.INDEX})
    assert not any("quick" in name for name in names)


def test_tables_only_leaves_out_what_was_trained(tree, tmp_path, monkeypatch):
    archive.pack(tmp_path / "t.tar.gz", "smoke", tables_only=True)
    names = set(members(tmp_path / "t.tar.gz"))
    assert {f"{tree['run']}/manifest.json", f"{tree['table']}.parquet"} <= names
    assert f"{tree['run']}/history.parquet" not in names
    assert f"{tree['measure']}.parquet" not in names
    (tmp_path / "to").mkdir()
    monkeypatch.chdir(tmp_path / "to")
    adoption.adopt(tmp_path / "t.tar.gz", replace=False)
    assert store.verified(Path(f"{tree['table']}.parquet"))
    with pytest.raises(UserError, match=r"data\.safetensors: is missing; try --tables-only"):
        archive.pack(tmp_path / "again.zip", "smoke", tables_only=False)
    archive.pack(tmp_path / "again.tar.gz", "smoke", tables_only=True)
    same = (tmp_path / "again.tar.gz").read_bytes() == (tmp_path / "t.tar.gz").read_bytes()
    assert same


def test_an_archive_completes_what_has_only_tables(tree, packed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "from")
    archive.pack(tmp_path / "t.zip", "smoke", tables_only=True)
    monkeypatch.chdir(tmp_path / "to")
    adoption.adopt(tmp_path / "t.zip", replace=False)
    adoption.adopt(packed["zip"], replace=False)
    assert content(Path()) == content(tmp_path / "from")


def test_the_scale_need_not_be_named_where_there_is_one(tree, tmp_path):
    assert "at scale smoke" in archive.pack(tmp_path / "x.zip", None, tables_only=False)
    small_tree.make("quick")
    with pytest.raises(UserError, match="--scale: results holds more than one; give one of smoke"):
        archive.pack(tmp_path / "x.zip", None, tables_only=False)
    with pytest.raises(UserError, match="results/paper: nothing was made at this scale"):
        archive.pack(tmp_path / "x.zip", "paper", tables_only=False)


def test_what_is_not_made_yet_is_told(tree, tmp_path):
    tree["figure"].with_suffix(".manifest.json").unlink()
    text = archive.pack(tmp_path / "x.zip", "smoke", tables_only=False)
    assert "not made yet, so not packed: results/smoke/figures/atlas/fig1" in text
    assert not any("figures" in name for name in members(tmp_path / "x.zip"))


def test_what_is_not_made_yet_is_one_line(tree, tmp_path):
    for number in range(20):
        stem = layout.figure_stem("smoke", "atlas", f"more{number:02}")
        small_tree.write(layout.spec_path("figure", stem), {})
    small_tree.write(layout.spec_path("claims", layout.claims_stem("smoke")), {})
    text = archive.pack(tmp_path / "x.zip", "smoke", tables_only=False)
    assert len(text.splitlines()) == 2
    assert "figures/atlas/more04 and 15 more" in text
    assert "claims" not in text  # never packed


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("job", ["dataset", "run", "measure", "table", "figure"])
def test_a_changed_file_is_not_packed(tree, tmp_path, kind, job):
    file = layout.outputs(job, tree[job])[-1]
    text = bytearray(file.read_bytes())
    text[7] ^= 1
    file.write_bytes(text)
    with pytest.raises(UserError, match=f"{file.name}: is not the file its manifest records"):
        archive.pack(tmp_path / f"x.{kind}", "smoke", tables_only=False)
    assert not list(tmp_path.glob("*x.*"))


def edit(path: Path, **changes) -> None:
    small_tree.write(path, {**store.read_json(path), **changes})


@pytest.mark.parametrize(
    ("job", "changes", "words"),
    [
        ("run", {"digest": "0" * 64}, "another spec, code or digest"),
        ("run", {"code": {"grokatlas.toy": "0"}}, "is stale: spec.json"),
        ("run", {"spec": {"task": {"name": "other"}}}, "is about another result"),
        ("run", {"kind": "dataset"}, "is about another result"),
        ("run", {"outputs": {"history.parquet": "0"}}, "does not name exactly"),
        ("run", {"outputs": {"../../x": "0"}}, "names an output outside its folder"),
        ("run", {"inputs": {"/etc/passwd": "0"}}, "names an input outside the tree"),
        ("run", {"spec": None}, "lacks what a job writes"),
        ("measure", {"inputs": {}}, "is about another result"),
        ("table", {"inputs": {}, "spec": {}}, "is about another result"),
    ],
)
def test_an_edited_manifest_is_not_packed(tree, tmp_path, job, changes, words):
    edit(layout.manifest_of(job, tree[job]), **changes)
    with pytest.raises(UserError, match=words):
        archive.pack(tmp_path / "x.zip", "smoke", tables_only=False)
    assert not list(tmp_path.glob("*x.zip*"))


def test_a_stale_result_is_not_packed(tree, tmp_path):
    edit(layout.spec_path("table", tree["table"]), digest="0")
    with pytest.raises(UserError, match=r"is stale: toys\.spec\.json beside it plans another"):
        archive.pack(tmp_path / "x.zip", "smoke", tables_only=False)


def test_a_result_that_was_just_remade_is_packed(tree, tmp_path):
    """Its job file names the result that it replaced, until the next plan."""
    edit(layout.spec_path("table", tree["table"]), replaces="0")
    archive.pack(tmp_path / "x.zip", "smoke", tables_only=False)
    assert (tmp_path / "x.zip").exists()


def test_a_result_of_another_input_is_not_packed(tree, tmp_path):
    path = layout.manifest_of("measure", tree["measure"])
    inputs = store.read_json(path)["inputs"]
    edit(path, inputs=dict.fromkeys(inputs, "0" * 64))
    with pytest.raises(UserError, match="was made from another results/"):
        archive.pack(tmp_path / "x.zip", "smoke", tables_only=False)


def test_an_accepted_result_is_packed(tree, tmp_path):
    """An acceptance stamps a new digest, of new code, and keeps the code that made the result."""
    for job in ("dataset", "run", "measure", "table", "figure"):
        for path in (layout.spec_path(job, tree[job]), layout.manifest_of(job, tree[job])):
            if job == "figure":
                code = {"grokatlas.toy": "new"}
                upstream = [store.read_json(layout.manifest_of("table", tree["table"]))["digest"]]
                spec = store.read_json(path)["spec"]
                changes = {"digest": hashing.of_job(job, spec, code, upstream)}
                is_manifest = path.name.endswith("manifest.json")
                changes |= {"accepted": [{"code": code}]} if is_manifest else {"code": code}
                edit(path, **changes)
    archive.pack(tmp_path / "x.zip", "smoke", tables_only=False)


def test_an_unknown_suffix_is_refused(tree, tmp_path):
    with pytest.raises(UserError, match=r"unknown kind of archive; allowed: \.tar\.gz"):
        archive.pack(tmp_path / "x.rar", "smoke", tables_only=False)
    assert cli.main(["pack", str(tmp_path / "x.rar")]) == 1


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
    refused(packed[kind], "is no file that a job writes", "refused")


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
    refused(packed["tar.gz"], "is no plain file; refused")


def test_a_link_in_a_zip_is_refused(packed, tree):
    files = members(packed["zip"])
    info = zipfile.ZipInfo(f"{tree['run']}/history.parquet")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    files.pop(info.filename)
    rewrite(packed["zip"], files, [(info, b"/etc/passwd")])
    refused(packed["zip"], "is no plain file; refused")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")  # of the writer of this test
def test_a_member_that_stands_twice_is_refused(packed, tree, kind):
    files = members(packed[kind])
    name = f"{tree['run']}/history.parquet"
    rewrite(packed[kind], files, [(name, files[name])])
    refused(packed[kind], "is listed twice; refused")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [0.05, 0.5, 0.9, 0.999])
def test_a_truncated_archive_is_refused(packed, kind, part):
    text = packed[kind].read_bytes()
    packed[kind].write_bytes(text[: int(len(text) * part)])
    refused(packed[kind], "is damaged or truncated")


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
    refused(packed[kind], "lacks", "history.parquet", "fetch it again")


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_its_manifest_does_not_vouch_for_is_refused(packed, tree, kind):
    files = members(packed[kind])
    name = f"{tree['run']}/history.parquet"
    rewrite(packed[kind], {**files, name: files[name].replace(b"run", b"fun")})
    refused(packed[kind], name, "is not the file its manifest records")


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_the_index_does_not_vouch_for_is_refused(packed, tree, kind):
    files = members(packed[kind])
    name = f"{tree['run']}/history.parquet"
    raw_write(packed[kind], {**files, name: files[name].replace(b"run", b"fun")})
    refused(packed[kind], name, "is damaged; fetch it again")


def test_a_table_without_its_file_is_refused(packed, tree):
    files = members(packed["zip"])
    del files[f"{tree['table']}.parquet"]
    rewrite(packed["zip"], files)
    refused(packed["zip"], "toys.parquet", "is missing in the archive")


def test_a_result_without_what_it_was_made_from_is_refused(packed, tree):
    files = members(packed["zip"])
    kept = {name: text for name, text in files.items() if not name.startswith(str(tree["dataset"]))}
    rewrite(packed["zip"], kept)
    refused(packed["zip"], "was made from results/data/", "which is not here")


@pytest.mark.parametrize("old", ["61.5", '"c0ffee', '"cores": 2', '"kind"', '"seal": "', "{"])
def test_an_edited_record_is_refused(packed, tree, old):
    files = members(packed["zip"])
    name = f"{tree['run']}/manifest.json"
    new = {"61.5": "61.4", "{": "{ "}.get(old, old.replace('"', '"x', 1))
    rewrite(packed["zip"], {**files, name: files[name].replace(old.encode(), new.encode(), 1)})
    said = refused(packed["zip"], name)
    assert any(word in said for word in ("is damaged", "was edited", "has no seal"))


@pytest.mark.parametrize("kind", KINDS)
def test_more_bytes_than_declared_are_refused(packed, tree, kind):
    files = members(packed[kind])
    name = f"{tree['run']}/history.parquet"
    raw_write(packed[kind], {**files, name: bytes(10**7)})
    refused(packed[kind], name, "is not as the index lists it; refused")


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
    refused(packed[kind], "would unpack", "to 20.0 MB; refused")
    assert max(asked) < 10**5


def test_what_the_disk_cannot_hold_is_refused(packed, monkeypatch):
    usage = shutil._ntuple_diskusage(10**6, 10**6 - 1000, 1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    refused(packed["zip"], "needs", "the disk of . has 1.0 kB left")


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
    refused(packed["zip"], f"{archive.INDEX}: is damaged")


@pytest.mark.parametrize("size", [-1, 1.5, True, "1"])
def test_a_size_that_is_none_is_refused(packed, size):
    files = {"results/runs/0123456789ab/history.parquet": {"sha256": "0", "size": size}}
    index = json.dumps({**archive.FORMAT, "files": files}).encode()
    raw_write(packed["zip"], {archive.INDEX: index})
    refused(packed["zip"], f"{archive.INDEX}: is damaged")


def test_a_later_version_is_refused(packed):
    raw_write(
        packed["zip"],
        {archive.INDEX: b'{"format": "grokatlas results", "version": 9, "files": {}}'},
    )
    refused(packed["zip"], "has version 9, this code reads 1")


def test_what_is_no_archive_is_refused(packed, tmp_path):
    other = tmp_path / "other.tar.gz"
    refused(other, "cannot be read: No such file")
    other.write_bytes(b"not an archive")
    refused(other, "is no archive")
    other.write_bytes(b"")
    refused(other, "is no archive")
    other.write_bytes(gzip.compress(b"no tar" * 1000))
    refused(other, "is damaged or truncated")
    whole = gzip.decompress(packed["tar.gz"].read_bytes())
    other.write_bytes(gzip.compress(whole[:-1024]))
    refused(other, "is damaged or truncated (no end of archive)")
    other.write_bytes(gzip.compress(whole + b"more"))
    refused(other, "is damaged or truncated (bytes after the archive's end)")
    raw_write(other, {"results/runs/0123456789ab/spec.json": b"{}"})
    refused(other, "does not begin with grokatlas-archive.json")
    refused(tmp_path, "cannot be read")


@pytest.mark.parametrize("kind", KINDS)
def test_another_result_is_only_overwritten_when_told(packed, tree, tmp_path, kind):
    file = layout.outputs("run", tree["run"])[0]
    adoption.adopt(packed[kind], replace=False)
    file.write_bytes(b"mine")
    text = refused(packed[kind], f"1 results here differ from the archive's ({tree['run']})")
    assert "--replace overwrites" in text
    adoption.adopt(packed[kind], replace=True)
    assert content(Path()) == content(tmp_path / "from")


@pytest.mark.parametrize("change", [{"digest": "0" * 64}, {"outputs": {}}])
def test_a_result_of_another_digest_is_another_result(packed, tree, change):
    adoption.adopt(packed["zip"], replace=False)
    edit(layout.manifest_of("run", tree["run"]), **change)
    refused(packed["zip"], "1 results here differ")


def test_the_same_result_of_another_machine_is_kept(packed, tree):
    adoption.adopt(packed["zip"], replace=False)
    path = layout.manifest_of("run", tree["run"])
    edit(path, host={"name": "elsewhere"}, wall_seconds=1)
    before = content(Path())
    adoption.adopt(packed["zip"], replace=False)
    assert content(Path()) == before


def test_a_job_file_alone_is_no_result(packed, tree, tmp_path):
    store.write_json(layout.spec_path("run", tree["run"]), {"planned": True})
    adoption.adopt(packed["zip"], replace=False)
    assert content(Path()) == content(tmp_path / "from")


def test_tables_only_never_replaces_what_it_does_not_hold(packed, tree, tmp_path, monkeypatch):
    adoption.adopt(packed["zip"], replace=False)
    monkeypatch.chdir(tmp_path / "from")
    archive.pack(tmp_path / "t.zip", "smoke", tables_only=True)
    monkeypatch.chdir(tmp_path / "to")
    file = layout.outputs("run", tree["run"])[0]
    file.write_bytes(b"mine")
    with pytest.raises(UserError, match=r"does not hold results/runs/.*nothing was changed"):
        adoption.adopt(tmp_path / "t.zip", replace=True)
    assert file.read_bytes() == b"mine"


def test_a_failed_write_leaves_nothing(packed, monkeypatch):
    monkeypatch.setattr(
        adoption.os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "No space left"))
    )
    refused(packed["zip"], "cannot be written: No space left")
    assert not Path("results").exists()


def test_no_torch_no_snakemake_no_pandas(packed):
    Path("Snakefile").touch()
    code = (
        "import sys; from pathlib import Path;"
        "from grokatlas.export import adoption, archive, ro_crate as crate;"
        f"adoption.adopt(Path({str(packed['zip'])!r}), False);"
        "archive.pack(Path('x.zip'), None, False);"
        "crate.write(Path('y.zip'), None);"
        "print({'torch', 'snakemake', 'pandas', 'numpy', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def everything(*folders: Path) -> dict[str, object]:
    """Every file, folder and link, with what it holds."""
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            link, file = path.is_symlink(), path.is_file()
            found[str(path)] = path.readlink() if link else path.read_bytes() if file else None
    return found


@pytest.fixture
def other_disk(tmp_path):
    """A folder on another file system than the tree."""
    shared = Path("/dev/shm")
    if not shared.is_dir() or shared.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("no second file system here")
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        yield Path(folder)


@pytest.fixture
def crowded(packed, tree):
    """An archive, and a folder whose results differ from it and are to be replaced."""
    adoption.adopt(packed["zip"], replace=False)
    for kind in ("run", "table"):
        layout.outputs(kind, tree[kind])[0].write_bytes(b"mine")
    return packed["zip"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_that_leads_to_another_disk_is_filled(packed, tmp_path, other_disk, kind):
    Path("results").mkdir()
    Path("results/runs").symlink_to(other_disk)
    adoption.adopt(packed[kind], replace=False)
    assert content(Path()) | content_below(other_disk) == content(tmp_path / "from")
    assert not [path for path in everything(Path(), other_disk) if ".part" in path]


def content_below(runs: Path) -> dict[str, bytes]:
    return {f"results/runs/{name}": text for name, text in content(runs).items()}


def test_a_run_that_leads_to_another_disk_is_filled(packed, tree, other_disk):
    tree["run"].parent.mkdir(parents=True)
    tree["run"].symlink_to(other_disk)
    adoption.adopt(packed["zip"], replace=False)
    assert store.verified(tree["run"] / layout.HISTORY)
    assert not list(other_disk.glob(".*"))


def test_no_file_is_staged_on_a_disk_that_it_is_not_for(packed, other_disk, monkeypatch):
    Path("results").mkdir()
    Path("results/runs").symlink_to(other_disk)
    monkeypatch.setattr(adoption.placing.errno, "EXDEV", -1)  # nothing is copied between disks
    adoption.adopt(packed["zip"], replace=False)


@pytest.mark.parametrize("name", ["results/runs", "results/runs/{}"])
@pytest.mark.parametrize("target", ["/proc/self", "missing"])
def test_a_folder_that_cannot_be_written_leaves_all_as_before(packed, tree, name, target):
    link = Path(name.format(tree["run"].name))
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    before = everything_here()
    with pytest.raises(UserError, match=r"cannot be written|has 0 B left"):
        adoption.adopt(packed["zip"], replace=False)
    assert everything_here() == before


def everything_here() -> list[str]:
    return sorted(str(path) for path in Path("results").rglob("*") if "/self/" not in str(path))


def _call_number(number: int, name: str, monkeypatch) -> list[int]:
    """Let one call of a method of `Path` fail as on a full disk; the list counts them."""
    real, calls = getattr(Path, name), [0]

    def counted(self, *arguments, **keywords):
        calls[0] += 1
        if calls[0] == number:
            raise OSError(28, "No space left on device", str(self))
        return real(self, *arguments, **keywords)

    monkeypatch.setattr(Path, name, counted)
    return calls


@pytest.mark.parametrize(
    ("name", "started"),
    every(4, itertools.product(["rename", "replace", "mkdir"], ["empty", "crowded"]), first=1),
)
def test_whatever_write_fails_all_is_as_before(name, started, request, packed, monkeypatch, capsys):
    if started == "crowded":
        request.getfixturevalue("crowded")
    before, failed = everything(Path()), 0
    for number in range(1, 100):
        with monkeypatch.context() as patch:
            calls = _call_number(number, name, patch)
            failed += cli.main(["adopt", "--replace", str(packed["zip"])])
        assert ("No space left" in capsys.readouterr().err) == (calls[0] >= number)
        if calls[0] < number:
            break
        assert everything(Path()) == before
    assert failed == number - 1
    assert failed > 0 or (started, name) == ("crowded", "mkdir")


def test_an_interruption_leaves_all_as_before(crowded, monkeypatch):
    before = everything(Path())
    monkeypatch.setattr(
        adoption.placing, "_near", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    with pytest.raises(KeyboardInterrupt):
        adoption.adopt(crowded, replace=True)
    assert everything(Path()) == before


def test_the_space_of_every_disk_counts(packed, other_disk, monkeypatch):
    Path("results").mkdir()
    Path("results/runs").symlink_to(other_disk)
    real = shutil.disk_usage

    def usage(folder):
        small = Path(folder).stat().st_dev == other_disk.stat().st_dev
        return shutil._ntuple_diskusage(10**6, 10**6 - 1000, 1000) if small else real(folder)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    with pytest.raises(UserError, match=r"the disk of results/runs has 1\.0 kB left"):
        adoption.adopt(packed["zip"], replace=False)
