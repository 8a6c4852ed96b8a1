import json
import os
import pickle
import shutil
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.audit import locate, report
from grokatlas.audit.tree import Tree
from grokatlas.audit.verify import verify
from grokatlas.errors import UserError
from grokatlas.plan import declared_jobs
from grokatlas.results import files as store
from grokatlas.results import hashing, layout
from tests.unit import audit_tree


class Malicious:
    def __reduce__(self):
        return (Path("pwned").touch, ())


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = audit_tree.declared()
    audit_tree.build(made)
    return made


def judge(jobs, *paths, plan=True):
    tree = Tree(Path("results"))
    chosen = locate.targets(tree, list(paths)) if paths else None
    return verify(tree, jobs if plan else None, chosen)


def wrong(jobs, *paths, plan=True) -> dict[str, str]:
    """Every file that is not ok, with its verdict."""
    findings = judge(jobs, *paths, plan=plan).findings
    return {name: f.verdict for name, f in findings.items() if f.verdict != "ok"}


def of_kind(jobs, kind, index=0):
    return [job for job in jobs.values() if job.kind == kind][index]


def artefacts(jobs):
    """One file of every kind, by what it is."""
    run, figure = of_kind(jobs, "run"), of_kind(jobs, "figure")
    found = {
        "data": of_kind(jobs, "dataset").outputs[0],
        "history": run.outputs[0],
        "snapshots": run.outputs[1],
        "measure": of_kind(jobs, "measure").outputs[0],
        "table": of_kind(jobs, "table").outputs[0],
        "pdf": figure.outputs[0],
        "png": figure.outputs[1],
        "csv": figure.outputs[2],
    }
    for kind in ("dataset", "run", "measure", "table", "figure"):
        job = of_kind(jobs, kind)
        found[f"{kind} manifest"] = job.manifest
        found[f"{kind} job file"] = job.spec_path
    return found


KINDS = list(artefacts(audit_tree.declared()))


def test_a_sound_tree_is_ok_throughout(jobs):
    found = judge(jobs)
    assert found.ok
    files = [f for f in Path("results").rglob("*") if f.is_file()]
    assert len(found.findings) == len(files) == found.counts["ok"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [0, 0.31, 0.77, 1])
def test_a_flipped_byte_is_named(jobs, kind, place):
    file = artefacts(jobs)[kind]
    data = bytearray(file.read_bytes())
    data[int(place * (len(data) - 1))] ^= 1
    file.write_bytes(data)
    assert wrong(jobs)[file.as_posix()] == "modified"
    assert wrong(jobs, plan=False)[file.as_posix()] == "modified"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0, 0.5])
def test_a_truncated_file_is_named(jobs, kind, share):
    file = artefacts(jobs)[kind]
    data = file.read_bytes()
    file.write_bytes(data[: int(share * len(data))])
    assert wrong(jobs)[file.as_posix()] == "modified"


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


def test_a_planned_job_that_was_not_run_is_no_error(jobs):
    figure = of_kind(jobs, "figure")
    for file in (figure.manifest, *figure.outputs):
        file.unlink()
    found = judge(jobs)
    assert found.ok
    assert "1 planned jobs were not run yet" in found.notes


def test_a_deleted_run_that_a_table_was_made_from_is_missing(jobs):
    run = of_kind(jobs, "run")
    shutil.rmtree(run.target)
    found = wrong(jobs)
    assert found[run.outputs[0].as_posix()] == "missing"
    assert found[of_kind(jobs, "table").outputs[0].as_posix()] == "unverified"


def test_changed_code_is_stale_code_downstream_of_it(jobs):
    now = audit_tree.declared(run_code="2")
    report = judge(now)
    stale = {report.targets[n] for n, f in report.findings.items() if f.verdict == "stale-code"}
    kinds = {"run", "measure", "table", "figure"}
    assert stale == {job.target.as_posix() for job in jobs.values() if job.kind in kinds}
    figure = of_kind(jobs, "figure").target.as_posix()
    run = of_kind(jobs, "run").target.as_posix()
    finding = report.findings[f"{figure}.pdf"]
    assert (finding.chain[0], finding.chain[-1]) == (figure, run)
    assert "grokatlas.engine.training" in finding.reason


def test_changed_code_of_a_figure_is_stale_there_alone(jobs):
    report = judge(audit_tree.declared(figure_code="2"))
    stale = {report.targets[n] for n, f in report.findings.items() if f.verdict == "stale-code"}
    assert stale == {job.target.as_posix() for job in jobs.values() if job.kind == "figure"}


def test_a_changed_sweep_is_stale_spec(jobs):
    now = audit_tree.declared(lrs=(0.1, 0.3))
    report = judge(now)
    table = of_kind(jobs, "table")
    assert report.findings[table.outputs[0].as_posix()].verdict == "stale-spec"
    assert "cells" in report.findings[table.outputs[0].as_posix()].reason
    gone = of_kind(jobs, "run", 1)
    finding = report.findings[gone.outputs[0].as_posix()]
    assert finding.verdict == "stale-spec"
    assert "no paper declares" in finding.reason
    kept = of_kind(jobs, "run", 0)
    assert report.findings[kept.outputs[0].as_posix()].verdict == "ok"


def test_a_result_that_nothing_declares_or_uses_is_an_orphan(jobs):
    spec = audit_tree.spec_of(0.7)
    from grokatlas.plan.jobs import Job

    data = of_kind(jobs, "dataset")
    target = layout.run_folder(hashing.of(spec)[:12])
    audit_tree.make(Job("run", target, spec, {"grokatlas.engine.training": "1"}, (data,)))
    found = wrong(jobs)
    assert set(found.values()) == {"orphan"}
    assert f"{target.as_posix()}/history.parquet" in found


def test_without_a_configuration_hashes_alone_are_judged(jobs):
    report = judge(audit_tree.declared(run_code="2"), plan=False)
    assert report.ok
    assert any("not judged" in note for note in report.notes)


def test_an_input_made_again_with_other_numbers_is_unverified(jobs):
    run = of_kind(jobs, "run")
    audit_tree.make(run, number=5.0)
    found = wrong(jobs)
    assert found[of_kind(jobs, "table").outputs[0].as_posix()] == "unverified"
    assert run.outputs[0].as_posix() not in found


def test_a_path_chooses_it_and_all_it_was_made_from(jobs):
    one, two = of_kind(jobs, "figure"), of_kind(jobs, "figure", 1)
    two.outputs[0].write_bytes(b"x")
    assert wrong(jobs, "toy/fig1") == {}
    assert wrong(jobs, str(one.outputs[1])) == {}
    assert wrong(jobs, str(two.target)) == {two.outputs[0].as_posix(): "modified"}
    of_kind(jobs, "dataset").outputs[0].write_bytes(b"x")
    assert wrong(jobs, "toy/fig1")[of_kind(jobs, "dataset").outputs[0].as_posix()] == "modified"


def test_a_folder_that_holds_the_tree_chooses_everything(jobs):
    assert set(judge(jobs, ".").findings) == set(judge(jobs).findings)


def test_a_link_out_of_the_tree_is_refused_and_not_followed(jobs, tmp_path):
    run = of_kind(jobs, "run")
    outside = tmp_path / "outside.parquet"
    shutil.move(run.outputs[0], outside)
    run.outputs[0].symlink_to(outside)
    report = judge(jobs)
    finding = report.findings[run.outputs[0].as_posix()]
    assert finding.verdict == "unverified"
    assert "is a link out of the tree" in finding.reason
    assert run.outputs[0].as_posix() not in report.hashes


def test_a_linked_folder_is_refused(jobs, tmp_path):
    run = of_kind(jobs, "run")
    shutil.move(run.target, tmp_path / "elsewhere")
    run.target.symlink_to(tmp_path / "elsewhere")
    found = wrong(jobs)
    assert found[run.target.as_posix()] == "unverified"
    assert "refused" in Tree(Path("results")).refused[run.target.as_posix()]
    assert "missing" not in found.values()
    reasons = {each.reason for each in judge(jobs).findings.values()}
    assert f"{run.target} is a link out of the tree; refused" in reasons


def test_a_linked_manifest_is_refused(jobs, tmp_path):
    run = of_kind(jobs, "run")
    shutil.move(run.manifest, tmp_path / "m.json")
    run.manifest.symlink_to(tmp_path / "m.json")
    found = wrong(jobs)
    assert found[run.manifest.as_posix()] == "unverified"
    assert found[run.outputs[0].as_posix()] == "unverified"


@pytest.mark.parametrize(
    "name",
    ["results/../secret", "../secret", "/etc/passwd", "results/runs/../../x", "results//x", "a\\b"],
)
def test_a_path_out_of_the_tree_in_a_manifest_is_refused(jobs, name, monkeypatch):
    Path("secret").write_text("x")
    run, figure = of_kind(jobs, "run"), of_kind(jobs, "figure")
    audit_tree.edited(figure.manifest, seal=True, inputs={name: "0" * 64})
    audit_tree.edited(run.manifest, seal=True, outputs={name: "0" * 64})
    asked = []
    real = hashing.file_sha256
    monkeypatch.setattr(hashing, "file_sha256", lambda path: asked.append(path) or real(path))
    report = judge(jobs)
    for job in (run, figure):
        assert report.findings[job.manifest.as_posix()].verdict == "unverified"
        assert "refused" in report.findings[job.manifest.as_posix()].reason
    inside = Path("results").resolve()
    assert all(path.resolve().is_relative_to(inside) for path in asked)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pickle_under_another_name_is_named_and_not_loaded(jobs, kind):
    file = artefacts(jobs)[kind]
    file.write_bytes(pickle.dumps(Malicious()))
    assert wrong(jobs)[file.as_posix()] == "modified"
    assert not Path("pwned").exists()


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        "1",
        "{}",
        '{"seal": 1}',
        '{"a": NaN, "seal": "x"}',
        "[" * 100000,
        '{"outputs": 1, "outputs": 2}',
    ],
)
def test_a_manifest_of_another_shape_is_named(jobs, text):
    run = of_kind(jobs, "run")
    run.manifest.write_text(text)
    assert wrong(jobs)[run.manifest.as_posix()] in ("modified", "unverified")


@pytest.mark.parametrize("key", ["kind", "digest", "spec", "code", "inputs", "outputs"])
@pytest.mark.parametrize("value", [None, 1, "x", [1], {"results/x": 1}])
def test_a_sealed_manifest_of_wrong_types_is_named(jobs, key, value):
    run = of_kind(jobs, "run")
    audit_tree.edited(run.manifest, seal=True, **{key: value})
    assert wrong(jobs)


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


def test_the_command_prints_one_line_for_each_problem_and_exits_1(jobs, capsys):
    assert cli.main(["verify"]) == 0
    assert "ok" in capsys.readouterr().out
    figure = of_kind(jobs, "figure")
    figure.outputs[0].write_bytes(b"x")
    figure.outputs[2].unlink()
    assert cli.main(["verify"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"missing     {figure.outputs[2].as_posix()}: ")
    assert lines[1].startswith(f"modified    {figure.outputs[0].as_posix()}: ")
    total = len([f for f in Path("results").rglob("*") if f.is_file()]) + 1
    assert lines[-1] == f"{total} files: {total - 2} ok, 1 modified, 1 missing"


def test_the_receipt_names_every_file(jobs, tmp_path, capsys):
    file = of_kind(jobs, "table").outputs[0]
    file.write_bytes(b"x")
    out = tmp_path / "receipt.json"
    assert cli.main(["verify", "--json", str(out)]) == 1
    content = json.loads(out.read_text())
    assert content["passed"] is False
    assert content["tool"].startswith("grokatlas ")
    assert content["counts"]["modified"] == 1
    assert content["files"][file.as_posix()]["verdict"] == "modified"
    assert content["files"][file.as_posix()]["sha256"] == hashing.file_sha256(file)
    assert set(content["files"]) == set(judge(jobs, plan=False).findings)
    assert {"time", "git", "notes"} <= content.keys()
    capsys.readouterr()
    assert cli.main(["verify", "--json", "-"]) == 1
    assert json.loads(capsys.readouterr().out)["counts"] == content["counts"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["verify", "--results", "nowhere"],
        ["verify", "nope"],
        ["verify", "--json", "results/receipt.json"],
        ["explain", "nope"],
        ["diff", "nope", "toy/fig1"],
        ["diff", "toy/fig1", "toy/rates"],
        ["diff", "results", "toy/fig1"],
        ["accept", "toy/fig1", "--reason", "x"],
        ["accept", "toy/fig1", "--reason", " "],
    ],
    ids=" ".join,
)
def test_a_mistake_is_one_line(jobs, arguments, capsys):
    assert cli.main(arguments) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "Traceback" not in error


def test_strict_lists_accepted_results(jobs, capsys):
    figure = of_kind(jobs, "figure")
    note = {"old": "a" * 64, "new": figure.digest, "reason": "renamed a variable"}
    note |= {"who": "Ada", "when": "2026-01-02T00:00:00Z", "code": figure.code, "changed": []}
    audit_tree.edited(figure.manifest, seal=True, accepted=[note])
    assert cli.main(["verify"]) == 0
    assert "1 results accepted" in capsys.readouterr().out
    assert cli.main(["verify", "--strict"]) == 1
    out = capsys.readouterr().out
    assert f"accepted    {figure.target.as_posix()}: renamed a variable (Ada" in out


def test_the_stores_reads_refuse_what_verify_would_name(jobs):
    run = of_kind(jobs, "run")
    assert len(store.read_parquet(run.outputs[0])) == 3
    audit_tree.edited(run.manifest, started="2020-01-01T00:00:00Z")
    with pytest.raises(UserError, match="was edited"):
        store.read_parquet(run.outputs[0])
    with pytest.raises(UserError, match="was edited"):
        store.read_arrays(run.outputs[1])
    audit_tree.edited(run.spec_path, kind="table")
    with pytest.raises(UserError, match="was edited"):
        store.read_sealed(run.spec_path)


@pytest.mark.parametrize("name", ["history.parquet", "snapshots.safetensors"])
def test_a_pickle_with_a_forged_manifest_is_refused_in_one_line(jobs, name):
    run = of_kind(jobs, "run")
    file = run.target / name
    file.write_bytes(pickle.dumps(Malicious()))
    outputs = store.read_json(run.manifest)["outputs"] | {name: hashing.file_sha256(file)}
    audit_tree.edited(run.manifest, seal=True, outputs=outputs)
    read = store.read_parquet if name.endswith("parquet") else store.read_arrays
    with pytest.raises(UserError, match="is no "):
        read(file)
    assert not Path("pwned").exists()


def test_a_folder_called_otherwise_is_read_as_results(jobs):
    os.rename("results", "elsewhere")  # noqa: PTH104
    found = verify(Tree(Path("elsewhere")), jobs)
    assert found.ok
    assert all(name.startswith("results/") for name in found.findings)
    assert report.passed(found, strict=True)


def test_claims_are_judged_by_the_papers_they_were_made_for(tmp_path):
    """Not by those of a later plan, such as a dry run of one paper."""
    stem = tmp_path / layout.claims_stem("smoke")
    stem.parent.mkdir(parents=True)
    for file, names in {
        layout.manifest_of("claims", stem): ["beyond_l2", "geometry"],
        layout.spec_path("claims", stem): ["geometry"],
    }.items():
        store.write_json(file, store.sealed({"spec": {"papers": {name: [] for name in names}}}))
    jobs = declared_jobs.jobs(Path(__file__).parents[3] / "config", tmp_path / layout.RESULTS)
    assert list(jobs["results/smoke/claims"].spec["papers"]) == ["beyond_l2", "geometry"]


@pytest.mark.parametrize("kind", ["figure", "claims"])
def test_every_output_of_a_stem_belongs_to_it(tmp_path, kind):
    """Also one whose name has two dots, such as ``claims.readings.csv``."""
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
