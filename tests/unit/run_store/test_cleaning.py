"""`grokatlas store gc`: what leaves the store, when, and what is never touched."""

import os
import shutil

from grokatlas import cli
from grokatlas.results import layout
from grokatlas.run_store import store as run_store
from tests.unit.run_store.checkouts import spoil


def collected(shared, capsys, *options: str) -> str:
    assert cli.main(["store", "gc", "--store", str(shared.root), *options]) == 0
    return capsys.readouterr().out


def runs_left(shared) -> set[str]:
    return {place.name for place in (shared.root / "runs").iterdir()}


def test_runs_that_nobody_used_are_removed(shared, capsys):
    old, new = (shared.place(run) for run in shared.runs)
    os.utime(old, (0, old.stat().st_mtime - 86400 * 40))
    text = collected(shared, capsys, "--unused", "30", "--dry-run")
    assert text.startswith(f"would remove runs/{old.name}: not used for 40 days\n")
    assert runs_left(shared) == {old.name, new.name}
    assert collected(shared, capsys, "--unused", "30").startswith(f"removed runs/{old.name}: ")
    assert runs_left(shared) == {new.name}
    assert sorted(path.name for path in shared.root.iterdir()) == ["data", "runs"]


def test_the_longest_unused_go_until_the_rest_is_small_enough(shared, capsys):
    old, new = (shared.place(run) for run in shared.runs)
    os.utime(old, (0, 10**9))
    size = sum(file.stat().st_size for file in new.iterdir())
    assert "removed 0 entries" in collected(shared, capsys, "--keep", "1M")
    collected(shared, capsys, "--keep", str(size))
    assert runs_left(shared) == {new.name}
    collected(shared, capsys, "--keep", "0")
    assert runs_left(shared) == set()
    assert len(list((shared.root / "data").iterdir())) == 1  # a run of it may be on its way


def test_bringing_a_run_counts_as_use(shared, capsys):
    for run in shared.runs:
        os.utime(shared.place(run), (0, 10**9))
    shared.enter("second")
    shared.bring()
    assert "removed 0 entries" in collected(shared, capsys, "--unused", "1")


def test_leftovers_and_data_without_run_go_after_a_day(shared, capsys, monkeypatch):
    run = shared.place(shared.runs[0])
    (shared.root / ".put-0.part").mkdir()
    spoil(run / layout.HISTORY)
    shared.enter("second")
    shared.bring()
    for place in (shared.root / "runs").iterdir():
        shutil.rmtree(place)
    assert "removed 0 entries" in collected(shared, capsys)
    later = run_store.time.time() + 2 * 86400
    monkeypatch.setattr("time.time", lambda: later)
    text = collected(shared, capsys)
    assert "removed .put-0.part: left by a killed process" in text
    assert f"removed damaged/{run.name}-1: damaged" in text
    assert ": no run here needs it" in text
    assert [file for file in shared.root.rglob("*") if file.is_file()] == []


def test_data_that_a_run_needs_stay(shared, capsys, monkeypatch):
    later = run_store.time.time() + 2 * 86400
    monkeypatch.setattr("time.time", lambda: later)
    assert "removed 0 entries" in collected(shared, capsys)


def test_nothing_else_in_the_folder_is_touched(shared, capsys, monkeypatch):
    for name in ("runs/notes", "data/mine", "runs/0123456789ab", "damaged/x", "mine"):
        (shared.root / name).mkdir(parents=True)
    later = run_store.time.time() + 400 * 86400
    monkeypatch.setattr("time.time", lambda: later)
    text = collected(shared, capsys, "--unused", "0", "--keep", "0")
    assert text.count("removed runs/") == 2
    left = {path.relative_to(shared.root).as_posix() for path in shared.root.glob("*/*")}
    assert left == {"runs/notes", "data/mine", "runs/0123456789ab", "damaged/x"}


def test_stale_runs_are_judged_by_the_checkout(shared, capsys, monkeypatch):
    assert cli.main(["store", "gc", "--store", str(shared.root), "--stale"]) == 1
    assert "--stale: no config/ here; run it in a checkout" in capsys.readouterr().err
    kept = {
        target: job for target, job in shared.jobs.items() if job.target != shared.runs[0].target
    }
    for job in kept.values():
        if job.kind == "table":
            job.spec["cells"] = job.spec["cells"][1:]
    monkeypatch.setattr("grokatlas.plan.declared_jobs.jobs", lambda: kept)
    assert cli.main(["store", "ls", "--store", str(shared.root)]) == 0
    out = capsys.readouterr().out
    assert "smoke toy/rates" in out
    assert {line.split()[2] for line in out.splitlines()[1:3]} == {"current", "stale"}
    text = collected(shared, capsys, "--stale")
    assert f"removed runs/{shared.place(shared.runs[0]).name}: not planned by this checkout" in text
    assert runs_left(shared) == {shared.place(shared.runs[1]).name}
