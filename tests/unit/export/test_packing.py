"""Packing a small tree: what goes into an archive, and nothing unsound does."""

import stat
import zipfile
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.errors import UserError
from grokatlas.export import adoption, archive, archive_files
from grokatlas.results import files as store
from grokatlas.results import hashing, layout
from tests import cases
from tests.unit import small_tree
from tests.unit.export.archives import members


def test_same_results_same_bytes(tree, tmp_path):
    first, second = tmp_path / "1.zip", tmp_path / "2.zip"
    archive.pack(first, "smoke", tables_only=False)
    for file in sorted(Path("results").rglob("*.*"), reverse=True):
        file.touch()
        file.chmod(0o600)
    archive.pack(second, "smoke", tables_only=False)
    assert first.read_bytes() == second.read_bytes()


def test_job_files_and_manifests_are_one_member_without_compression(packed):
    with zipfile.ZipFile(packed) as seen:
        names = seen.namelist()
        with zipfile.ZipFile(seen.open(archive_files.TOGETHER)) as inner:
            assert {info.compress_type for info in inner.infolist()} == {zipfile.ZIP_STORED}
            assert all(name.endswith(".json") for name in inner.namelist())
            together = inner.namelist()
    assert [name for name in names if name.endswith(".json")] == [archive.INDEX]
    assert set(members(packed)) == {*names, *together} - {archive_files.TOGETHER}


def test_members_carry_no_owner_and_no_time(packed):
    with zipfile.ZipFile(packed) as found:
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
    archive.pack(tmp_path / "t.zip", "smoke", tables_only=True)
    names = set(members(tmp_path / "t.zip"))
    assert {f"{tree['run']}/manifest.json", f"{tree['table']}.parquet"} <= names
    assert f"{tree['run']}/history.parquet" not in names
    assert f"{tree['measure']}.parquet" not in names
    (tmp_path / "to").mkdir()
    monkeypatch.chdir(tmp_path / "to")
    adoption.adopt(tmp_path / "t.zip", replace=False)
    assert store.verified(Path(f"{tree['table']}.parquet"))
    with pytest.raises(UserError, match=r"data\.safetensors: is missing; try --tables-only"):
        archive.pack(tmp_path / "again.zip", "smoke", tables_only=False)
    archive.pack(tmp_path / "more.zip", "smoke", tables_only=True)
    same = (tmp_path / "more.zip").read_bytes() == (tmp_path / "t.zip").read_bytes()
    assert same


def test_the_scale_need_not_be_named_where_there_is_one(tree, tmp_path):
    assert "at scale smoke" in archive.pack(tmp_path / "x.zip", None, tables_only=False)
    small_tree.make("quick")
    with pytest.raises(UserError, match="--scale: results holds more than one; give one of smoke"):
        archive.pack(tmp_path / "x.zip", None, tables_only=False)
    with pytest.raises(UserError, match="results/paper: nothing was made at this scale"):
        archive.pack(tmp_path / "x.zip", "paper", tables_only=False)


def test_what_is_not_made_yet_is_one_line(tree, tmp_path):
    tree["figure"].with_suffix(".manifest.json").unlink()
    for number in range(20):
        stem = layout.figure_stem("smoke", "atlas", f"more{number:02}")
        small_tree.write(layout.spec_path("figure", stem), {})
    small_tree.write(layout.spec_path("claims", layout.claims_stem("smoke")), {})
    text = archive.pack(tmp_path / "x.zip", "smoke", tables_only=False)
    assert len(text.splitlines()) == 2
    assert "not made yet, so not packed: results/smoke/figures/atlas/fig1, " in text
    assert "figures/atlas/more03 and 16 more" in text
    assert not any("figures" in name for name in members(tmp_path / "x.zip"))
    assert "claims" not in text  # never packed


@pytest.mark.parametrize("job", ["dataset", "run", "measure", "table", "figure"])
def test_a_changed_file_is_not_packed(tree, tmp_path, job):
    file = layout.outputs(job, tree[job])[-1]
    text = bytearray(file.read_bytes())
    text[7] ^= 1
    file.write_bytes(text)
    with pytest.raises(UserError, match=f"{file.name}: is not the file its manifest records"):
        archive.pack(tmp_path / "x.zip", "smoke", tables_only=False)
    assert not list(tmp_path.glob("*x.*"))


@cases.listed("job", "changes", "words")
def test_an_edited_manifest_is_not_packed(tree, tmp_path, job, changes, words):
    small_tree.edit(layout.manifest_of(job, tree[job]), **changes)
    with pytest.raises(UserError, match=words):
        archive.pack(tmp_path / "x.zip", "smoke", tables_only=False)
    assert not list(tmp_path.glob("*x.zip*"))


def test_a_stale_result_is_not_packed_but_one_that_was_just_remade_is(tree, tmp_path):
    """The job file of this names the result that it replaced, until the next plan."""
    job_file = layout.spec_path("table", tree["table"])
    small_tree.edit(job_file, replaces="0")
    archive.pack(tmp_path / "x.zip", "smoke", tables_only=False)
    small_tree.edit(job_file, digest="0")
    with pytest.raises(UserError, match=r"is stale: toys\.spec\.json beside it plans another"):
        archive.pack(tmp_path / "y.zip", "smoke", tables_only=False)


def test_a_result_of_another_input_is_not_packed(tree, tmp_path):
    path = layout.manifest_of("measure", tree["measure"])
    inputs = store.read_json(path)["inputs"]
    small_tree.edit(path, inputs=dict.fromkeys(inputs, "0" * 64))
    with pytest.raises(UserError, match="was made from another results/"):
        archive.pack(tmp_path / "x.zip", "smoke", tables_only=False)


def test_an_accepted_result_is_packed(tree, tmp_path):
    """An acceptance stamps a new digest, of new code, and keeps the code that made the result."""
    for job in ("dataset", "run", "measure", "table", "figure"):
        for path in (layout.spec_path(job, tree[job]), layout.manifest_of(job, tree[job])):
            if job == "figure":
                code = {"grokatlas.toy": "new"}
                upstream = [small_tree.digests(tree["table"])]
                spec = store.read_json(path)["spec"]
                changes = {"digest": hashing.of_job(job, spec, code, upstream).today}
                is_manifest = path.name.endswith("manifest.json")
                changes |= {"accepted": [{"code": code}]} if is_manifest else {"code": code}
                small_tree.edit(path, **changes)
    archive.pack(tmp_path / "x.zip", "smoke", tables_only=False)
    assert (tmp_path / "x.zip").exists()


def test_an_unknown_suffix_is_refused(tree, tmp_path):
    with pytest.raises(UserError, match=r"unknown kind of archive; give a name that ends in \.zip"):
        archive.pack(tmp_path / "x.tar.gz", "smoke", tables_only=False)
    assert cli.main(["pack", str(tmp_path / "x.tar.gz")]) == 1
