"""What `prune` removes: what no paper declares and what killed jobs left, and nothing else."""

import os
import shutil
import time
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.audit.tree import Tree
from grokatlas.audit.verify import verify
from grokatlas.cluster import slurm, unlock
from grokatlas.plan import declared_jobs
from grokatlas.results import files as results_files
from grokatlas.results import layout, locks
from tests.unit import audit_tree


@pytest.fixture
def jobs(here, monkeypatch):
    """A finished tree whose second run, with its measure, is not declared any more."""
    audit_tree.build(audit_tree.declared((0.1, 0.3)))
    before = audit_tree.declared((0.1, 0.2))
    audit_tree.build(before)
    declared = audit_tree.declared((0.1, 0.2))
    monkeypatch.setattr(declared_jobs, "jobs", lambda **_: declared)
    monkeypatch.setattr(unlock, "snakemake", lambda folder: None)
    monkeypatch.setattr(results_files, "DAY", 0.0)
    return declared


def files() -> set[str]:
    return {str(path) for path in Path("results").rglob("*")}


def pruned(capsys, *options: str) -> str:
    assert cli.main(["prune", *options]) == 0
    return capsys.readouterr().out


def orphan(jobs) -> Path:
    """The run that is not declared."""
    found = {f"results/runs/{path.name}" for path in Path("results/runs").iterdir()}
    (name,) = found - {*jobs}
    return Path(name)


def test_hidden_files_beside_results_hinder_nothing_and_stay(jobs, capsys):
    run = orphan(jobs)
    for folder in (run, *(Path(target) for target in jobs if "/runs/" in target)):
        (folder / "._manifest.json").write_bytes(b"\0\5\26\7")
    shutil.copytree(run, "results/.snapshot/run")
    before = files()
    assert f"removed {run}: no paper declares it" in pruned(capsys)
    assert f"{run}/manifest.json" in before - files()
    assert f"{run}/._manifest.json" in files()
    assert {name for name in before if "/.snapshot" in name} <= files()


def test_what_no_paper_declares_goes_and_the_rest_stays(jobs, capsys):
    run = orphan(jobs)
    (run / "log.txt").write_text("run: step\n")
    (run / layout.LOCK).touch()
    before, kept = files(), {file for job in jobs.values() for file in job.outputs}
    told = pruned(capsys, "--dry-run")
    assert files() == before
    assert f"would remove {run}: no paper declares it" in told
    assert pruned(capsys) == told.replace("would remove", "removed")
    assert before - files() >= {str(run), f"results/measures/{run.name}"}
    assert all(file.exists() for file in kept)
    report = verify(Tree(layout.RESULTS), jobs)
    assert report.ok
    assert pruned(capsys) == "removed 0 results and leftovers, 0 B\n"


def test_what_a_declared_result_was_made_from_stays(jobs, capsys):
    audit_tree.build(audit_tree.declared((0.1, 0.3)))  # table and figures of the run
    before = files()
    assert pruned(capsys) == "removed 0 results and leftovers, 0 B\n"
    assert files() == before
    assert orphan(jobs).is_dir()


def test_a_moved_result_goes_and_its_own_place_is_not_touched(jobs, capsys):
    run = next(job for job in jobs.values() if job.kind == "run")
    shutil.copytree(run.target, "results/runs/copy")
    assert "results/runs/copy: is results/runs/" in pruned(capsys)
    assert not Path("results/runs/copy").exists()
    assert all(file.exists() for file in run.outputs)


@pytest.mark.parametrize("name", ["results/before/{}", "results/runs/{} (1)"])
def test_the_only_copy_of_a_declared_result_stays(jobs, capsys, name):
    run = next(job for job in jobs.values() if job.kind == "run")
    moved = Path(name.format(run.target.name))
    moved.parent.mkdir(exist_ok=True)
    shutil.move(run.target, moved)
    for options in (["--dry-run"], []):
        line = f"{moved}: is {run.target}, and is not in its place; move it there"
        assert line in pruned(capsys, *options)
    assert len([*moved.iterdir()]) == 4
    shutil.copytree(moved, run.target)
    assert f"removed {moved}: is {run.target}" in pruned(capsys)


def test_the_only_copy_of_what_a_declared_result_was_made_from_stays(jobs, capsys):
    audit_tree.build(audit_tree.declared((0.1, 0.3)))  # the table is of a run that is not declared
    run = orphan(jobs)
    shutil.move(run, "results/moved")
    assert f"results/moved: is {run}, and is not in its place" in pruned(capsys)
    assert Path("results/moved/history.parquet").exists()


@pytest.mark.parametrize("how", ["another", "damaged"])
def test_a_copy_stays_that_is_other_than_what_is_in_its_place(jobs, capsys, how):
    run = next(job for job in jobs.values() if job.kind == "run")
    shutil.copytree(run.target, "results/runs/copy")
    if how == "another":
        audit_tree.make(run, 1.0)
    else:
        run.outputs[0].write_bytes(b"half")
    assert f"results/runs/copy: is {run.target}, and is other than" in pruned(capsys)
    assert Path("results/runs/copy/manifest.json").exists()


def test_hidden_folders_and_parts_of_others_stay(jobs, capsys):
    for name in (".snapshot/a", ".Trash-1000"):
        shutil.copytree(orphan(jobs), Path("results", name, "x"))
    inner = Path("results/.snapshot/a")
    own = [inner / ".history.parquet.1.part", inner / layout.LOCK, Path("results/paper.pdf.part")]
    (inner / ".state.refused-1").mkdir()
    for file in own:
        file.write_text("mine")
    before = {name for name in files() if name.startswith(("results/.", "results/paper.pdf"))}
    pruned(capsys)
    assert before <= files()


def test_files_that_no_job_wrote_stay(jobs, capsys):
    declared = next(job for job in jobs.values() if job.kind == "run").target
    own = [declared / "notes.txt", orphan(jobs) / "notes.txt", Path("results/notes.txt")]
    for file in own:
        file.write_text("mine")
    pruned(capsys)
    assert all(file.read_text() == "mine" for file in own)


@pytest.mark.parametrize(
    "name", ["results/runs/{}/.history.parquet.x.part", "results/.adopt-1.part"]
)
def test_leftovers_of_killed_jobs_go(jobs, capsys, monkeypatch, name):
    run = next(job for job in jobs.values() if job.kind == "run").target
    left = Path(name.format(run.name))
    if name.endswith("-1.part"):
        (left / "results").mkdir(parents=True)
        shutil.copytree(run, left / "results" / "x")
    else:
        left.write_text("half")
    monkeypatch.setattr(results_files, "DAY", 60.0)
    assert str(left) not in pruned(capsys)
    monkeypatch.setattr(time, "time", lambda real=time.time: real() + 100)
    assert f"{left}: left by a killed job" in pruned(capsys)
    assert not left.exists()


def test_refused_states_and_logs_go_and_the_state_of_a_run_on_its_way_stays(jobs, capsys):
    run = next(job for job in jobs.values() if job.kind == "run").target
    for name in (layout.STATE, f"{layout.STATE}.refused-1"):
        (run / name).mkdir()
        (run / name / "state.json").write_text("{}")
    log = run / f"{layout.REFUSED_LOG}log.csv"
    log.write_text("step")
    assert f"{log}: the log of a script that was refused" in pruned(capsys)
    assert not log.exists()
    assert (run / layout.STATE).exists()
    assert not (run / f"{layout.STATE}.refused-1").exists()


def test_a_run_that_a_process_holds_stays(jobs, capsys):
    run = orphan(jobs)
    before = {name for name in files() if name.startswith(str(run))}
    with locks.held(run / layout.LOCK):
        for options in (["--dry-run"], []):
            assert f"{run}: a process holds its lock; it stays" in pruned(capsys, *options)
        assert before <= files()
    pruned(capsys)
    assert not run.exists()


def test_nothing_is_removed_while_snakemake_runs(jobs, capsys, monkeypatch):
    before = files()
    (Path(".snakemake/locks")).mkdir(parents=True)
    Path(".snakemake/locks/0.input.lock").touch()
    assert cli.main(["prune"]) == 1
    assert "grokatlas unlock" in capsys.readouterr().err
    monkeypatch.setattr(unlock, "snakemake", lambda folder: os.getpid())
    assert cli.main(["prune"]) == 1
    assert "Snakemake runs here (process" in capsys.readouterr().err
    assert files() == before
    pruned(capsys, "--dry-run")


def test_nothing_is_removed_while_the_workflow_is_in_a_job(jobs, capsys, monkeypatch):
    orphan(jobs)
    before = files()
    monkeypatch.setattr(slurm, "workflow_or_none", lambda folder: "7 (pending)")
    assert cli.main(["prune"]) == 1
    assert "the workflow is in jobs 7 (pending); wait until it" in capsys.readouterr().err
    assert files() == before


def test_it_needs_a_checkout(jobs, capsys, monkeypatch):
    monkeypatch.setattr(declared_jobs, "jobs", lambda **_: None)
    assert cli.main(["prune"]) == 1
    assert "no config/ here; run it in a checkout" in capsys.readouterr().err


def test_results_on_another_disk_are_pruned(jobs, capsys, tmp_path):
    run = orphan(jobs)
    shutil.move("results", tmp_path / "big")
    Path("results").symlink_to(tmp_path / "big")
    assert f"removed {run}: " in pruned(capsys)
    assert Path("results").is_symlink()
    assert verify(Tree(layout.RESULTS), jobs).ok
