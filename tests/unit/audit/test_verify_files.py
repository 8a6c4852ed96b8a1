"""`verify` names each file that was changed, moved, added or lost, and what hangs on it."""

import pickle
import shutil
from functools import partial
from pathlib import Path

import pytest

from grokatlas.audit.tree import Tree
from grokatlas.results import files as store
from grokatlas.results import hashing, layout
from tests.unit import audit_tree
from tests.unit.audit.judging import KINDS, Malicious, artefacts, judge, of_kind, wrong


def test_a_sound_tree_is_ok_throughout(jobs):
    found = judge(jobs)
    assert found.ok
    files = [f for f in Path("results").rglob("*") if f.is_file()]
    assert len(found.findings) == len(files) == found.counts["ok"]


def test_hidden_files_of_systems_and_editors_are_none_of_ours(jobs):
    for file in [file for file in Path("results").rglob("*") if file.is_file()]:
        file.with_name(f"._{file.name}").write_bytes(b"\0\5\26\7")
    shutil.copytree("results/runs", "results/.snapshot/runs")
    assert judge(jobs).findings.keys() == judge(jobs, plan=False).findings.keys()
    assert wrong(jobs) == {}


def flipped(data, place):
    """The bytes with a bit flipped at a share of the way."""
    index = int(place * (len(data) - 1))
    return data[:index] + bytes([data[index] ^ 1]) + data[index + 1 :]


HARMS = {f"flipped at {place}": partial(flipped, place=place) for place in (0, 0.31, 0.77, 1)}
HARMS |= {"emptied": lambda _: b"", "truncated": lambda data: data[: len(data) // 2]}
HARMS |= {"a pickle": lambda _: pickle.dumps(Malicious())}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_other_bytes_are_named_and_not_loaded(jobs, kind, harm):
    file = artefacts(jobs)[kind]
    file.write_bytes(harm(file.read_bytes()))
    assert wrong(jobs)[file.as_posix()] == "modified"
    assert wrong(jobs, plan=False)[file.as_posix()] == "modified"
    assert not Path("pwned").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_deleted_file_is_named(jobs, kind):
    file = artefacts(jobs)[kind]
    file.unlink()
    assert wrong(jobs)[file.as_posix()] == "missing"


@pytest.mark.parametrize("kind", KINDS)
def test_two_swapped_files_are_named(jobs, kind):
    one = artefacts(jobs)[kind]
    same = {
        "data": "snapshots",
        "dataset manifest": "run manifest",
        "dataset job file": "run job file",
        "table": "measure",
        "table manifest": "measure manifest",
        "table job file": "measure job file",
    }
    other = artefacts(jobs)[same[kind]] if kind in same else twin(jobs, one)
    a, b = one.read_bytes(), other.read_bytes()
    assert a != b
    one.write_bytes(b)
    other.write_bytes(a)
    found = wrong(jobs)
    assert [found[one.as_posix()], found[other.as_posix()]] == ["modified", "modified"]


def twin(jobs, file):
    """The same file of the second run, measure or figure."""
    for kind in ("run", "measure", "figure"):
        first, second = (of_kind(jobs, kind, index) for index in (0, 1))
        pairs = zip(
            [first.spec_path, first.manifest, *first.outputs],
            [second.spec_path, second.manifest, *second.outputs],
            strict=True,
        )
        for mine, theirs in pairs:
            if mine == file:
                return theirs
    raise AssertionError(file)


@pytest.mark.parametrize("kind", ["dataset", "run", "measure", "table", "figure"])
@pytest.mark.parametrize(
    "change",
    [
        {"git": {"commit": "d" * 40, "dirty": False}},
        {"started": "2020-01-01T00:00:00Z"},
        {"digest": "0" * 64},
        {"outputs": {}},
        {"extra": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_an_edited_manifest_is_named_and_vouches_for_nothing(jobs, kind, change):
    job = of_kind(jobs, kind)
    audit_tree.edited(job.manifest, **change)
    found = wrong(jobs)
    assert found[job.manifest.as_posix()] == "modified"
    assert {found[file.as_posix()] for file in job.outputs} == {"unverified"}


@pytest.mark.parametrize("text", [" ", "\n", "\t\n"])
def test_even_white_space_in_a_manifest_is_named(jobs, text):
    run = of_kind(jobs, "run")
    run.manifest.write_text(run.manifest.read_text() + text)
    assert wrong(jobs)[run.manifest.as_posix()] == "modified"


def test_a_manifest_without_seal_is_unverified(jobs):
    job = of_kind(jobs, "run")
    content = store.read_json(job.manifest)
    del content["seal"]
    store.write_json(job.manifest, content)
    found = wrong(jobs)
    assert found[job.manifest.as_posix()] == "unverified"
    assert found[job.outputs[0].as_posix()] == "unverified"


def test_a_modified_history_breaks_what_hangs_on_it_and_nothing_else(jobs):
    run = of_kind(jobs, "run")
    run.outputs[0].write_bytes(b"x")
    report = judge(jobs)
    hanging = ["measure", "table", "figure"]
    figure = of_kind(jobs, "figure").outputs[0].as_posix()
    measure, table = of_kind(jobs, "measure"), of_kind(jobs, "table")
    finding = report.findings[figure]
    assert finding.verdict == "unverified"
    assert finding.chain[:2] == (figure.removesuffix(".pdf"), table.target.as_posix())
    assert finding.chain[-1] == run.outputs[0].as_posix()
    broken = {n for n, f in report.findings.items() if f.verdict == "unverified"}
    expected = set()
    for job in jobs.values():
        if job.kind in hanging and job.target != of_kind(jobs, "measure", 1).target:
            expected |= {file.as_posix() for file in [job.manifest, *job.outputs]}
    assert broken == expected
    assert measure.manifest.as_posix() in broken


def test_snapshots_break_their_measure_but_not_what_reads_the_history_alone(jobs):
    run = of_kind(jobs, "run")
    table = of_kind(jobs, "table")
    content = store.read_json(table.manifest)
    histories = [j.outputs[0] for j in jobs.values() if j.kind == "run"]
    content["inputs"] = {str(f): hashing.file_sha256(f) for f in histories}
    store.write_json(table.manifest, store.sealed(content))
    run.outputs[1].write_bytes(b"x")
    found = wrong(jobs)
    measure = of_kind(jobs, "measure")
    assert found == {
        run.outputs[1].as_posix(): "modified",
        measure.outputs[0].as_posix(): "unverified",
        measure.manifest.as_posix(): "unverified",
    }


def test_a_renamed_run_is_an_orphan_and_leaves_a_gap(jobs):
    run = of_kind(jobs, "run")
    moved = run.target.with_name("0123456789ab")
    run.target.rename(moved)
    found = wrong(jobs)
    for file in (*run.outputs, run.manifest):
        assert found[(moved / file.name).as_posix()] == "orphan"
    assert found[run.outputs[0].as_posix()] == "missing"
    assert found[of_kind(jobs, "figure").outputs[0].as_posix()] == "unverified"


def test_two_run_folders_that_changed_places_are_named(jobs):
    one, two = of_kind(jobs, "run").target, of_kind(jobs, "run", 1).target
    aside = one.with_name("aside")
    one.rename(aside)
    two.rename(one)
    aside.rename(two)
    found = wrong(jobs)
    assert {found[f"{folder.as_posix()}/history.parquet"] for folder in (one, two)} == {"orphan"}
    assert found[of_kind(jobs, "figure").outputs[0].as_posix()] == "unverified"


def test_a_file_that_no_manifest_names_is_an_orphan(jobs):
    extra = [Path("results/runs/stray.bin"), of_kind(jobs, "run").target / "stray.bin"]
    extra.append(Path("results/smoke/figures/toy/fig9.pdf"))
    for file in extra:
        file.write_bytes(b"x")
    assert wrong(jobs) == {file.as_posix(): "orphan" for file in extra}


def test_logs_temporary_files_and_the_readme_are_no_artefacts(jobs):
    run = of_kind(jobs, "run").target
    for name in ("log.txt", ".history.parquet.x.part", "run.lock"):
        (run / name).write_text("x")
    Path("results/README.md").write_text("x")
    found = judge(jobs)
    assert found.ok
    assert any("temporary" in note for note in found.notes)


def test_an_input_made_again_with_other_numbers_is_unverified(jobs):
    run = of_kind(jobs, "run")
    audit_tree.make(run, number=5.0)
    found = wrong(jobs)
    assert found[of_kind(jobs, "table").outputs[0].as_posix()] == "unverified"
    assert run.outputs[0].as_posix() not in found


def test_every_file_is_hashed_once(jobs, monkeypatch):
    asked = []
    real = hashing.file_sha256
    monkeypatch.setattr(hashing, "file_sha256", lambda path: asked.append(path) or real(path))
    judge(jobs)
    assert len(asked) == len(set(asked)) == sum(len(job.outputs) for job in jobs.values())


def test_a_file_that_changes_during_the_call_is_hashed_again(jobs):
    tree = Tree(Path("results"))
    file = of_kind(jobs, "run").outputs[0]
    before = tree.sha256(file.as_posix())
    file.write_bytes(b"x")
    assert tree.sha256(file.as_posix()) != before


@pytest.mark.parametrize("kind", ["figure", "claims"])
def test_every_output_of_a_stem_belongs_to_it(tmp_path, kind):
    """Also one whose name has two dots, such as ``claims.interpretations.csv``."""
    stem = (
        layout.claims_stem("smoke") if kind == "claims" else layout.figure_stem("smoke", "a", "b")
    )
    (tmp_path / stem).parent.mkdir(parents=True)
    files = [tmp_path / file for file in layout.outputs(kind, stem)]
    for file in files:
        file.write_text(file.name)
    content = {"outputs": {file.name: hashing.file_sha256(file) for file in files}}
    store.write_json(tmp_path / layout.manifest_of(kind, stem), store.sealed(content))
    tree = Tree(tmp_path / layout.RESULTS)
    owners = {tree.owner(file.as_posix()).target for file in layout.outputs(kind, stem)}
    assert owners == {stem.as_posix()}
    assert {tmp_path / layout.manifest_of(kind, stem)} == set(map(layout.manifest_path, files))
    assert all(store.verified(file) for file in files)
