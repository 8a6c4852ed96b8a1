"""A damaged entry is never used: it is set aside, or left where the store is only read."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from grokatlas.errors import UserError
from grokatlas.results import layout
from grokatlas.run_store import store as run_store
from tests.unit import audit_tree
from tests.unit.run_store.checkouts import Checkouts, contents, spoil

NOBODY = 65534
FILES = [layout.HISTORY, layout.SNAPSHOTS, "manifest.json", "spec.json"]


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
def read_only(pattern, monkeypatch):
    """A store that may only be read, and a checkout that may be written, where everyone may go."""
    monkeypatch.chdir("/")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(pattern, folder, dirs_exist_ok=True)
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
