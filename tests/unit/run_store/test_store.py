"""The run store on small trees: what goes in, what comes out, and what is refused."""

import contextlib
import json
import multiprocessing
import os
import shutil
import stat
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import filelock
import pytest

from grokatlas import cli
from grokatlas.errors import UserError
from grokatlas.plan import job_files, jobs
from grokatlas.plan.jobs import Plan, with_ancestors
from grokatlas.results import files, hashing, layout
from grokatlas.run_store import entry
from grokatlas.run_store import store as run_store
from tests.unit import audit_tree
from tests.unit.results.test_files import full_disk

NOBODY = 65534


class Checkouts:
    """A store and a checkout that filled it; further checkouts are made when asked for.

    Attributes:
        jobs: what the checkouts plan, by target: a data set, two runs and what hangs on them.
        root: the store.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs = audit_tree.declared()
        self.runs = [job for job in self.jobs.values() if job.kind == "run"]
        (self.data,) = [job for job in self.jobs.values() if job.kind == "dataset"]
        self.root = folder / "store"
        self.root.mkdir()
        self.root.chmod(0o2770)
        self.enter("first")
        audit_tree.build(self.jobs)
        for run in self.runs:
            assert run_store.put(self.root, run.target, Path())

    def enter(self, name: str) -> None:
        """Go into a checkout, new if it is not there, as a process that never was in another."""
        (self.folder / name).mkdir(exist_ok=True)
        os.chdir(self.folder / name)

    def bring(self, jobs=None) -> list[Path]:
        """Plan in this checkout with the store: what was renewed."""
        made = Plan("smoke")
        for job in (jobs or self.jobs).values():
            group = getattr(made, f"{job.kind}s")
            group[job.target] = job
        job_files.write(made.jobs, made.states())
        return run_store.bring_missing(self.root, made.runs.values(), made)

    def place(self, run: jobs.Job) -> Path:
        """Where a run lies in the store."""
        return entry.place_of(self.root, "run", run.target.name, run.digest)


@pytest.fixture
def shared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(run_store.VARIABLE, raising=False)
    return Checkouts(tmp_path)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def spoil(file: Path) -> None:
    file.chmod(0o600)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def empty(file: Path) -> None:
    file.chmod(0o600)
    file.write_text("{}")


def test_a_run_comes_back_with_the_data_it_was_made_from(shared, capsys):
    shared.enter("second")
    assert set(shared.bring()) == {job.target for job in (*shared.runs, shared.data)}
    assert capsys.readouterr().err == f"run store: 2 runs brought in from {shared.root}\n"
    for job in (*shared.runs, shared.data):
        made_there = shared.folder / "first" / job.target
        for file in job.outputs:
            assert files.verified(file).read_bytes() == (made_there / file.name).read_bytes()
        marked = files.read_sealed(job.manifest)
        mark = marked.pop("run_store")
        assert mark.keys() == {"entry", "host", "when"}
        assert files.sealed(marked) == files.read_sealed(made_there / "manifest.json")
    assert shared.bring() == []
    assert not list(Path().rglob(layout.LOCK))


def test_a_run_that_is_here_stays(shared):
    shared.enter("second")
    audit_tree.build(shared.jobs, number=1.0)
    before = contents(shared.runs[0].target)
    assert shared.bring() == []
    after = contents(shared.runs[0].target)
    assert {k: v for k, v in after.items() if k != "spec.json"} == {
        k: v for k, v in before.items() if k != "spec.json"
    }


def test_a_run_is_brought_in_where_a_file_of_it_is_gone(shared):
    shared.runs[0].outputs[0].unlink()
    assert shared.bring() == [shared.runs[0].target]


def test_a_run_replaces_one_that_does_not_fit(shared):
    shared.enter("second")
    audit_tree.build(audit_tree.declared(run_code="0"))
    shutil.rmtree(shared.data.target)
    (shared.runs[0].target / layout.STATE).mkdir()
    assert set(shared.bring()) == {job.target for job in (*shared.runs, shared.data)}
    assert files.read_sealed(shared.runs[0].manifest)["digest"] == shared.runs[0].digest
    assert not (shared.runs[0].target / layout.STATE).exists()


def test_runs_of_other_code_lie_beside_each_other_and_are_not_confused(shared):
    newer = audit_tree.declared(run_code="2")
    shared.enter("newer")
    assert shared.bring(newer) == []
    audit_tree.build(newer)
    for job in newer.values():
        if job.kind == "run":
            assert run_store.put(shared.root, job.target, Path())
    shared.enter("old")
    assert len(shared.bring()) == 3
    shared.enter("new")
    assert len(shared.bring(newer)) == 3
    assert len(list((shared.root / "runs").iterdir())) == 4
    assert len(list((shared.root / "data").iterdir())) == 1


def test_an_accepted_run_is_stored_under_the_digest_it_was_given(shared):
    newer = audit_tree.declared(run_code="2")
    (run,) = [job for job in newer.values() if job.target == shared.runs[0].target]
    shared.bring(newer)  # writes the job files of the new plan
    note = {"old": shared.runs[0].digest, "new": run.digest, "code": run.code}
    audit_tree.edited(run.manifest, seal=True, digest=run.digest, accepted=[note])
    assert run_store.put(shared.root, run.target, Path())
    shared.enter("second")
    assert run.target in shared.bring(newer)
    assert files.read_sealed(run.manifest)["accepted"] == [note]


def test_what_was_brought_in_is_stored_elsewhere_as_it_was_made(shared):
    shared.enter("second")
    shared.bring()
    other = shared.folder / "other"
    other.mkdir()
    assert run_store.put(other, shared.runs[0].target, Path())
    place = shared.place(shared.runs[0])
    assert contents(other / "runs" / place.name) == contents(place)


def test_a_run_of_other_data_than_lie_here_is_not_used(shared, capsys):
    shared.enter("second")
    audit_tree.make(shared.data, number=1.0)
    assert shared.bring() == []
    assert "was made from other data than lie here; not used" in capsys.readouterr().err


def test_data_that_do_not_fit_are_replaced(shared):
    shared.enter("second")
    audit_tree.make(
        audit_tree.recoded(shared.data, **{"grokatlas.engine.dataset": "0"}), number=1.0
    )
    assert shared.data.target in shared.bring()


def test_a_data_set_that_the_store_has_of_other_code_stays_there(shared):
    newer = audit_tree.declared(data_code="2")
    shared.enter("newer")
    audit_tree.build(newer)
    runs = [job for job in newer.values() if job.kind == "run"]
    for run in runs:
        assert run_store.put(shared.root, run.target, Path())
    shared.enter("third")
    assert set(shared.bring(newer)) == {run.target for run in runs}
    assert not shared.data.outputs[0].exists()


def test_a_run_that_trains_here_is_left_alone(shared):
    shared.enter("second")
    folder = shared.runs[0].target
    folder.mkdir(parents=True)
    with filelock.FileLock(folder / layout.LOCK):
        renewed = shared.bring()
    assert folder not in renewed
    assert shared.runs[1].target in renewed


FILES = [layout.HISTORY, layout.SNAPSHOTS, "manifest.json", "spec.json"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "damage", [spoil, Path.unlink, lambda f: (f.chmod(0o600), f.write_text("{}"))]
)
def test_a_damaged_entry_is_set_aside_and_can_be_put_again(shared, capsys, name, damage):
    run, other = shared.runs
    damage(shared.place(run) / name)
    shared.enter("second")
    renewed = shared.bring()
    assert run.target not in renewed
    assert other.target in renewed
    assert not any(file.exists() for file in (*run.outputs, run.manifest))
    line, _ = capsys.readouterr().err.splitlines()
    assert name in line
    aside = f"damaged/{shared.place(run).name}-1"
    assert line.endswith(f"; set aside as {aside}")
    assert (shared.root / aside).is_dir()
    shared.enter("first")
    assert run_store.put(shared.root, run.target, Path())
    shared.enter("third")
    assert run.target in shared.bring()


def test_an_entry_under_another_name_is_damaged(shared):
    first, second = (shared.place(run) for run in shared.runs)
    shutil.rmtree(second)
    first.rename(second)
    shared.enter("second")
    assert shared.bring() == []
    assert (shared.root / "damaged" / f"{second.name}-1").is_dir()


def test_putting_a_run_mends_a_damaged_entry(shared):
    place = shared.place(shared.runs[0])
    before = contents(place)
    assert not run_store.put(shared.root, shared.runs[0].target, Path())
    spoil(place / layout.HISTORY)
    assert run_store.put(shared.root, shared.runs[0].target, Path())
    assert contents(place) == before


def test_data_that_were_damaged_are_left_to_be_made(shared):
    (data,) = (shared.root / "data").iterdir()
    spoil(data / layout.DATA)
    shared.enter("second")
    assert set(shared.bring()) == {run.target for run in shared.runs}
    assert not data.exists()


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o2770, 0o2775, 0o777])
@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_an_entry_is_as_accessible_as_the_store_and_never_writable_for_all(
    shared, tmp_path, mode, umask
):
    root = tmp_path / "other"
    root.mkdir()
    root.chmod(mode)
    before = os.umask(umask)
    try:
        run_store.put(root, shared.runs[0].target, Path())
    finally:
        os.umask(before)
    for path in root.rglob("*"):
        found = stat.S_IMODE(path.stat().st_mode)
        assert found == (mode & 0o2775 if path.is_dir() else mode & 0o444)


def _add(root, run, barrier):
    barrier.wait()
    sys.exit(not isinstance(run_store.put(root, run, Path()), bool))


def test_processes_that_put_a_run_at_once_leave_one_whole_entry(shared, tmp_path):
    root = tmp_path / "other"
    root.mkdir()
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(4)
    run = shared.runs[0].target
    processes = [context.Process(target=_add, args=(root, run, barrier)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert sorted(path.name for path in root.iterdir()) == ["data", "runs"]
    (place,) = (root / "runs").iterdir()
    assert entry.damage("run", place) is None


def test_who_is_slower_keeps_the_entry_of_who_was_faster(shared, tmp_path, monkeypatch):
    root = tmp_path / "other"
    root.mkdir()
    run = shared.runs[0].target
    copy, inner = entry.copy, []

    def slow(*arguments):
        copy(*arguments)
        if not inner:
            inner.append(True)
            inner.append(run_store.put(root, run, Path("nowhere")))

    monkeypatch.setattr(entry, "copy", slow)
    assert run_store.put(root, run, Path("nowhere")) is False
    assert inner == [True, True]
    assert [path.name for path in root.iterdir()] == ["runs"]


@contextlib.contextmanager
def no_privileges():
    """Permissions count, also where tests run as root."""
    if os.geteuid() != 0:
        yield
        return
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.fixture
def read_only(monkeypatch):
    """A store that may only be read, and a checkout that may be written, where everyone may go."""
    monkeypatch.chdir("/")
    with tempfile.TemporaryDirectory() as folder:
        shared = Checkouts(Path(folder))
        shared.enter("second")
        for path in (shared.root, *shared.root.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        shared.folder.chmod(0o755)
        Path().chmod(0o777)
        yield shared
        for path in (shared.root, *shared.root.rglob("*")):
            path.chmod(0o755)
        monkeypatch.chdir("/")


def test_a_store_that_is_only_read_gives_and_takes_nothing(read_only, capsys):
    with no_privileges():
        assert len(read_only.bring()) == 3
        newer = audit_tree.declared(run_code="2")
        audit_tree.build(newer)
        (run, _) = [job for job in newer.values() if job.kind == "run"]
        with pytest.raises(UserError, match="store: cannot be written: Permission denied"):
            run_store.put(read_only.root, run.target, Path())
    assert "damaged" not in capsys.readouterr().err


def test_damage_in_a_store_that_is_only_read_is_ignored(read_only, capsys):
    run, other = read_only.runs
    file = read_only.place(run) / layout.HISTORY
    spoil(file)
    file.chmod(0o444)
    with no_privileges():
        renewed = read_only.bring()
    assert run.target not in renewed
    assert other.target in renewed
    line, _ = capsys.readouterr().err.splitlines()
    assert line.endswith("; not used, and cannot be set aside (Permission denied)")


def test_an_entry_that_may_not_be_read_is_not_taken_for_damaged(read_only, capsys):
    run = read_only.runs[0]
    (read_only.place(run) / layout.HISTORY).chmod(0)
    with no_privileges():
        assert run.target not in read_only.bring()
    line, _ = capsys.readouterr().err.splitlines()
    assert line.endswith("cannot be read: Permission denied; not used")


def test_a_full_disk_is_one_line_and_leaves_nothing(shared, tmp_path):
    root = tmp_path / "other"
    root.mkdir()
    file = shared.runs[0].outputs[0]
    file.write_bytes(b"x" * 9000)
    outputs = {f.name: hashing.file_sha256(f) for f in shared.runs[0].outputs}
    audit_tree.edited(shared.runs[0].manifest, seal=True, outputs=outputs)
    with full_disk(), pytest.raises(UserError, match="cannot be written: File too large") as caught:
        run_store.put(root, shared.runs[0].target, Path("nowhere"))
    assert "\n" not in str(caught.value)
    assert list((root / "runs").iterdir()) == []
    assert [path.name for path in root.iterdir()] == ["runs"]


def resealed(path: Path, **changes) -> None:
    audit_tree.edited(path, seal=True, **changes)


def _other_spec(run: Path) -> None:
    for name in ("spec.json", "manifest.json"):
        spec = files.read_json(run / name)["spec"] | {"train": {"steps": 11}}
        resealed(run / name, spec=spec)


REFUSED = {
    "spec edited": (lambda run: audit_tree.edited(run / "spec.json", spec={}), "edited"),
    "spec resealed": (lambda run: resealed(run / "spec.json", spec={}), "another spec"),
    "both resealed": (_other_spec, "its digest is not that of its spec, code and data"),
    "digest": (lambda run: resealed(run / "manifest.json", digest="0" * 64), "digest"),
    "code": (lambda run: resealed(run / "manifest.json", code={}), "another spec, code or"),
    "manifest edited": (lambda run: audit_tree.edited(run / "manifest.json", git=None), "edited"),
    "manifest broken": (lambda run: (run / "manifest.json").write_text("{"), "is damaged"),
    "manifest deep": (lambda run: (run / "manifest.json").write_text("[" * 10**5), "is damaged"),
    "manifest gone": (lambda run: (run / "manifest.json").unlink(), "is missing"),
    "spec gone": (lambda run: (run / "spec.json").unlink(), "is missing"),
    "history gone": (lambda run: (run / layout.HISTORY).unlink(), "is missing"),
    "history spoilt": (
        lambda run: spoil(run / layout.HISTORY),
        "not the file its manifest records",
    ),
    "kind": (lambda run: resealed(run / "manifest.json", kind="dataset"), "not that of a run"),
    "shape": (lambda run: resealed(run / "manifest.json", outputs=[]), "lacks what a job writes"),
    "notes": (lambda run: resealed(run / "manifest.json", accepted=[1]), "lacks what a job"),
    "no notes": (lambda run: resealed(run / "manifest.json", accepted=1), "lacks what a job"),
    "other file": (
        lambda run: resealed(run / "manifest.json", outputs={"x": "0"}),
        "does not name exactly",
    ),
    "other input": (
        lambda run: resealed(run / "manifest.json", inputs={"results/x": "0"}),
        "which no training reads",
    ),
    "other data": (
        lambda run: resealed(
            run / "manifest.json",
            inputs=dict.fromkeys(files.read_json(run / "manifest.json")["inputs"], "0"),
        ),
        "was made from another",
    ),
}


@pytest.mark.parametrize(("change", "words"), REFUSED.values(), ids=REFUSED)
def test_add_refuses_what_does_not_fit_in_one_line(shared, tmp_path, capsys, change, words):
    root = tmp_path / "other"
    root.mkdir()
    bad, good = (run.target for run in shared.runs)
    change(bad)
    assert cli.main(["store", "add", "--store", str(root), str(bad), str(good)]) == 1
    out, err = capsys.readouterr()
    (line,) = err.splitlines()
    assert line.startswith(f"refused {bad}")
    assert words in line
    assert out == f"added {good}\n"
    (place,) = (root / "runs").iterdir()
    assert place.name.startswith(good.name)


def test_add_takes_a_run_whatever_its_folder_is_called_and_without_its_data(
    shared, tmp_path, capsys
):
    root, away = tmp_path / "other", tmp_path / "usb stick"
    root.mkdir()
    run = shared.runs[0]
    shutil.copytree(run.target, away)
    resealed(away / "manifest.json", inputs={})
    for text in ("added", "there already:"):
        assert cli.main(["store", "add", "--store", str(root), str(away)]) == 0
        assert capsys.readouterr().out == f"{text} {away}\n"
    assert not (root / "data").exists()
    shared.root = root
    shared.enter("second")
    assert shared.bring() == [run.target]


def test_a_run_that_was_made_elsewhere_waits_for_no_data(shared):
    run = shared.runs[0]
    resealed(run.manifest, inputs={})
    made = Plan("smoke", datasets={"": shared.data}, runs={"": run})
    assert [current for _, current in made.inputs(run)] == [True]
    shutil.rmtree(shared.data.target)
    made.look_again([shared.data.target])
    assert made.inputs(run) == []
    resealed(run.manifest, digest="other")
    made.look_again([run.target])
    assert made.inputs(run) == [(shared.data.outputs[0], False)]


def test_what_depends_on_a_run_is_planned_again(shared):
    made = Plan("smoke")
    for job in shared.jobs.values():
        getattr(made, f"{job.kind}s")[job.target] = job
    (first, second) = shared.runs
    names = [job.target for job in made.look_again([first.target])]
    assert names[0] == first.target
    assert second.target not in names
    assert {job.kind for job in made.look_again([first.target])} == {
        "run",
        "measure",
        "table",
        "figure",
    }
    assert {job.target for job in with_ancestors([replace(second)])} == {
        second.target,
        shared.data.target,
    }


def test_the_list_tells_what_each_run_is_and_when_it_was_used(shared, capsys):
    os.utime(shared.place(shared.runs[1]), (0, 10**9))
    spoil(shared.place(shared.runs[0]) / "spec.json")
    assert cli.main(["store", "ls", "--store", str(shared.root)]) == 0
    head, first, second, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["run", "digest", "code", "for", "size", "made", "on", "used"]
    run = shared.runs[1]
    assert second.split()[:2] == [run.target.name, run.digest[:12]]
    assert second.split()[-3:] == ["2026-01-01", "node1", "2001-09-09"]
    assert first.split()[2] == "damaged"
    assert last.startswith("2 runs, 1 data set, ")


def test_the_list_of_an_empty_store_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["store", "ls", "--store", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"0 runs, 0 data sets, 0 B in {tmp_path}\n"


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


@pytest.mark.parametrize(
    ("variable", "options", "words"),
    [
        ("", [], "none is named; give --store DIR"),
        ("nowhere", [], "GROKATLAS_RUN_STORE: no folder nowhere; make it"),
        ("", ["--store", "nowhere"], "run store: no folder nowhere; make it"),
    ],
)
def test_no_store_is_one_line(tmp_path, monkeypatch, capsys, variable, options, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(run_store.VARIABLE, variable)
    assert cli.main(["store", "ls", *options]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line


def test_the_configuration_names_the_store_and_wins(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two", "config/papers"):
        Path(name).mkdir(parents=True)
    monkeypatch.setenv(run_store.VARIABLE, "one")
    monkeypatch.setattr("grokatlas.plan.declared_jobs.jobs", lambda: None)
    for setting, found in (("null", "one"), ("two", "two")):
        Path("config/config.yaml").write_text(f"run_store: {setting}\n")
        assert cli.main(["store", "ls"]) == 0
        assert capsys.readouterr().out.endswith(f"0 B in {found}\n")
    Path("config/config.yaml").write_text("run_store: ~nobody_at_all/store\n")
    assert cli.main(["store", "ls"]) == 1
    assert "no folder ~nobody_at_all/store; make it" in capsys.readouterr().err


def test_what_was_brought_in_verifies_and_says_so(shared, capsys):
    shared.enter("second")
    shared.bring()
    assert cli.main(["verify"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("; 3 results from the run store")
    assert cli.main(["explain", shared.runs[0].target.name]) == 0
    assert "brought from the run store 20" in capsys.readouterr().out
    assert cli.main(["show", shared.runs[0].target.name]) == 0
    assert ", from the run store" in capsys.readouterr().out


def test_a_manifest_says_nothing_of_where_the_store_is(shared):
    shared.enter("second")
    shared.bring()
    text = json.dumps(files.read_json(shared.runs[0].manifest))
    assert str(shared.folder) not in text


@pytest.mark.parametrize(
    "command", [["gc", "--stale"], ["gc", "--keep", "1G"], ["ls"], ["add", "x"]]
)
@pytest.mark.parametrize("name", ["/", "checkout", "results", "runs-of-mine"])
def test_a_folder_of_something_else_is_no_store(tmp_path, monkeypatch, capsys, command, name):
    monkeypatch.chdir(tmp_path)
    for folder in ("checkout/src", "results/runs/0123456789ab", "runs-of-mine/runs/first"):
        Path(folder).mkdir(parents=True)
    old = Path(name if name != "/" else ".", ".put-1.part")
    old.mkdir()
    os.utime(old, (0, 0))
    assert cli.main(["store", *command, "--store", name]) == 1
    text = capsys.readouterr().err
    assert text.startswith(f"run store: {name} holds other folders ")
    assert text.count("\n") == 1
    assert old.exists()


def test_an_empty_folder_and_files_beside_are_a_store(shared, tmp_path, capsys):
    (tmp_path / "new").mkdir()
    assert cli.main(["store", "ls", "--store", str(tmp_path / "new")]) == 0
    (shared.root / "README").write_text("of the lab\n")
    (shared.root / "lost+found").mkdir()
    (shared.root / run_store.DAMAGED).mkdir(exist_ok=True)
    (shared.root / run_store.DAMAGED / f"{shared.place(shared.runs[0]).name}-1").mkdir()
    assert cli.main(["store", "ls", "--store", str(shared.root)]) == 0
    assert "2 runs" in capsys.readouterr().out
