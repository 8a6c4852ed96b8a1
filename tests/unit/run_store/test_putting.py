"""Putting a run into the store: whole, once, as accessible as the store; else refused."""

import multiprocessing
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.errors import UserError
from grokatlas.results import files, hashing
from grokatlas.run_store import entry
from grokatlas.run_store import store as run_store
from tests import cases
from tests.unit import audit_tree
from tests.unit.results.test_files import full_disk
from tests.unit.run_store.checkouts import resealed, spoil


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


HARMS = {
    "edit": audit_tree.edited,
    "reseal": resealed,
    "write": lambda file, text: file.write_text(text),
    "deepen": lambda file: file.write_text("[" * 10**5),
    "remove": Path.unlink,
    "spoil": spoil,
}


def _other_spec(run: Path) -> None:
    for name in ("spec.json", "manifest.json"):
        spec = files.read_json(run / name)["spec"] | {"train": {"steps": 11}}
        resealed(run / name, spec=spec)


def _other_data(run: Path) -> None:
    inputs = dict.fromkeys(files.read_json(run / "manifest.json")["inputs"], "0")
    resealed(run / "manifest.json", inputs=inputs)


@cases.listed("harm", "words")
def test_add_refuses_what_does_not_fit_in_one_line(shared, tmp_path, capsys, harm, words):
    kind, name, changes = harm
    _assert_refused(shared, tmp_path, capsys, lambda run: HARMS[kind](run / name, **changes), words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_other_spec, "its digest is not that of its spec, code and data"),
        (_other_data, "was made from another"),
    ],
)
def test_add_refuses_another_run_in_one_line(shared, tmp_path, capsys, change, words):
    _assert_refused(shared, tmp_path, capsys, change, words)


def _assert_refused(shared, tmp_path, capsys, change, words) -> None:
    """Assert that a changed run is refused, and another one added."""
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
