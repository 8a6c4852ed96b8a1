"""Runs of one Snakemake share compiled loops: the same bytes, by the digest of the code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grokatlas import registry
from grokatlas.code import code_digest
from grokatlas.results import hashing, layout
from grokatlas.rules.jobs import compiled_loops
from grokatlas.rules.jobs.fork_server import COMPILED
from tests import cases
from tests.runs import job_file
from tests.tiers import every, exhaustive

numba = pytest.importorskip("numba")
SPEC = cases.data(__file__)["spec"]


def trained(folder: Path, loops: Path | None) -> list[bytes]:
    """History and snapshots of a run that is trained in a process of its own."""
    folder.mkdir()
    job_file(folder / "job.json", "run", SPEC, code_digest.run_modules(SPEC))
    env = {**os.environ, COMPILED: str(loops) if loops else ""}
    command = [sys.executable, "-m", "grokatlas", "train", "job.json", "--out", "run"]
    subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True)
    return [file.read_bytes() for file in layout.outputs("run", folder / "run")]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """History and snapshots of a run that shares nothing."""
    return trained(tmp_path_factory.mktemp("alone") / "run", None)


@exhaustive
def test_a_loop_is_kept_by_its_code_and_taken_with_the_same_bytes(alone, tmp_path):
    loops = tmp_path / "loops"
    assert trained(tmp_path / "first", loops) == alone
    (kept,) = loops.iterdir()
    assert kept.name == hashing.of(code_digest.code(code_digest.run_modules(SPEC)))[:16]
    before = {file: file.stat().st_mtime_ns for file in kept.rglob("*.nb?")}
    assert before
    assert trained(tmp_path / "second", loops) == alone
    assert {file: file.stat().st_mtime_ns for file in kept.rglob("*.nb?")} == before


def test_other_code_takes_no_loop_of_this_one(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv(COMPILED, str(tmp_path))
    registry.load("dynamics", "hadamard_descent")
    folders = []
    for first, second in ("ab", "ba", "aa"):  # the second exchanges the code of two modules
        compiled_loops.share({"some.module": 64 * first, "other.module": 64 * second})
        folders.append(numba.config.CACHE_DIR)
    assert len(set(folders)) == 3
    assert all(Path(folder).parent == tmp_path for folder in folders)


@pytest.mark.parametrize("fault", every(3, ["full", "closed", "no folder"]))
def test_a_folder_that_takes_no_loop_fails_no_run(alone, tmp_path, monkeypatch, fault):
    """What numba does instead, to keep it beside the sources, is not done."""
    loops = tmp_path / "loops"
    preamble = ""
    if fault == "no folder":
        loops.write_text("a file")
    else:  # as a disk says it; the tests may run as root, to whom every folder is open
        number = {"closed": "EACCES", "full": "ENOSPC"}[fault]
        place = {"closed": "tempfile.TemporaryFile", "full": "builtins.open"}[fault]
        preamble = (
            "import builtins, errno, os, tempfile\n"
            f"real = {place}\n"
            "def refuse(*given, **named):\n"
            f"    if {str(loops)!r} in str(named.get('dir', given and given[0])):\n"
            f"        raise OSError(errno.{number}, os.strerror(errno.{number}))\n"
            "    return real(*given, **named)\n"
            f"{place} = refuse\n"
        )
    sources = {*Path(registry.PACKAGE).rglob("*.nb?")}
    (tmp_path / "sitecustomize.py").write_text(preamble)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    assert trained(tmp_path / "there", loops) == alone
    assert {*Path(registry.PACKAGE).rglob("*.nb?")} == sources
    assert not [*tmp_path.glob("loops/**/*.nb?")]


def test_without_a_folder_nothing_is_kept(monkeypatch):
    monkeypatch.delenv(COMPILED, raising=False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "as it was")
    compiled_loops.share({"some.module": "0"})
    assert numba.config.CACHE_DIR == "as it was"
