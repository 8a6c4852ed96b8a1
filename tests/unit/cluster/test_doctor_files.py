"""What `grokatlas doctor` says of the disk, of git and of the software."""

import errno
import fcntl
import importlib.metadata
import os
import tempfile
from pathlib import Path

import pytest

from grokatlas.cluster.doctor import files, software
from grokatlas.cluster.doctor.findings import of
from grokatlas.results import revision
from tests import cases


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working directory with results."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results/runs/a").mkdir(parents=True)
    (tmp_path / "results/runs/a/history.parquet").touch()
    return tmp_path


def found(check, *arguments) -> tuple[str, str]:
    ((one),) = of("check", check, *arguments)
    return one.state, one.text


def left(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if files.NAME in path.name]


CHECKS = [(files.writing, ["a job"]), (files.locks,)]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check[0].__name__)
def test_a_good_disk_is_ok_and_nothing_is_left(here, check):
    before = here.joinpath("results").stat().st_mode
    assert found(*check)[0] == "ok"
    assert not left(here)
    assert here.joinpath("results").stat().st_mode == before


@pytest.mark.parametrize("check", [files.writing, files.locks])
def test_without_results_the_folder_above_is_tried(tmp_path, monkeypatch, check):
    monkeypatch.chdir(tmp_path)
    assert found(check, *([[]] if check is files.writing else []))[0] == "ok"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("missing", "state"), [(["a job"], "fail"), ([], "warn")])
@pytest.mark.parametrize("step", [(os, "fsync"), (Path, "replace"), (os, "utime")])
def test_a_disk_that_takes_no_file_is_a_failure_if_something_is_missing(
    here, monkeypatch, missing, state, step
):
    def refuse(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(*step, refuse)
    told = found(files.writing, missing)
    assert told[0] == state
    assert told[1].startswith(f"{here / 'results'} cannot be written (Read-only file system); ")
    assert not left(here)


def test_a_folder_of_results_on_another_disk_is_tried_too(here, monkeypatch):
    real = Path.replace

    def replace(path, target):
        if path.parent.name == "runs":
            raise OSError(errno.EDQUOT, "Disk quota exceeded")
        return real(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    assert "results/runs cannot be written (Disk quota exceeded)" in found(files.writing, [1])[1]


def test_a_disk_without_modes_and_syncs_is_ok(here, monkeypatch):
    """As for jobs, which write there."""

    def refuse(*_, **__):
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", refuse)
    monkeypatch.setattr(os, "chmod", refuse)
    assert found(files.writing, ["a job"])[0] == "ok"
    assert not left(here)


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_disk_without_locks_is_found(here, monkeypatch, number):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    told = found(files.locks)
    assert told[0] == "warn"
    assert f"no locks of the kernel (flock: {os.strerror(number)})" in told[1]
    assert not left(here)


@pytest.mark.usefixtures("here")
def test_locks_that_do_not_keep_a_second_process_out_are_found(monkeypatch):
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)  # of this process alone
    state, text = found(files.locks)
    assert state == "fail"
    assert "a second process gets a lock that is held" in text


@pytest.mark.parametrize("home", ["/dev/null", ""])
def test_an_account_without_a_home_is_told(monkeypatch, tmp_path, home):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a/b"))
    assert of("home", files.cache) == []
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", home)
    if not home:
        monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # of nobody
    else:
        monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert found(files.cache)[0] == "fail"


def test_a_full_folder_of_temporary_files_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert of("temporary", files.temporary) == []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    monkeypatch.setenv("TMPDIR", "/scratch")
    state, text = found(files.temporary)
    assert state == "fail"
    assert text.startswith("/scratch takes no file of 1.0 MB (No such file or directory); make")


@pytest.mark.parametrize(
    ("facts", "state", "text"),
    [
        ({"git": {"commit": "c" * 40, "dirty": True}}, "ok", f"{'c' * 12} (with uncommitted"),
        ({"git": {"commit": "c" * 40, "dirty": False}}, "ok", f"{'c' * 12} (clean)"),
        ({"git": None}, "ok", "not in a git checkout"),
        ({"git": None, "git_problem": "git is not installed here"}, "warn", "git is not installed"),
    ],
)
def test_the_commit_is_told(monkeypatch, facts, state, text):
    monkeypatch.setattr(revision, "facts", lambda *_: facts)
    told = found(software.commit)
    assert told[0] == state
    assert text in told[1]


@cases.listed("lock", "state", "text")
def test_packages_are_compared_with_the_lock(here, monkeypatch, lock, state, text):
    installed = {"torch": "2.13.0+cpu", "PyYAML": "6.0"}

    def version(name):
        if name in installed:
            return installed[name]
        raise importlib.metadata.PackageNotFoundError

    monkeypatch.setattr(importlib.metadata, "version", version)
    if lock:
        (here / "requirements.lock").write_text(lock)
    told = found(software.packages, here)
    assert told[0] == state
    assert text in told[1]
