"""Job files, and the dates by which Snakemake learns what is stale."""

import json
import os
import shutil
import stat
import time
from pathlib import Path

import pytest

from grokatlas.errors import UserError
from grokatlas.plan import job_files
from grokatlas.plan.jobs import Job
from grokatlas.plan.project import Project
from grokatlas.results import dates, files, layout
from tests.checkout import ROOT


class Run:
    """A planned run and its files."""

    def __init__(self, code: str = "new") -> None:
        self.job = Job("run", layout.run_folder("0123456789ab"), {"steps": 1}, {"module": code})
        self.history = self.job.outputs[0]

    def write(self) -> str:
        state = self.job.state()
        job_files.write([self.job], {self.job.target: state})
        return state

    def finish(self, when: float | None = None) -> None:
        content = files.sealed({"digest": self.job.digest, "inputs": {}, "outputs": {}})
        files.write_json(self.job.manifest, content)
        for file in self.job.outputs:
            file.write_text("result")
        if when is not None:
            for file in (*self.job.outputs, self.job.manifest):
                os.utime(file, (when, when))

    @property
    def content(self) -> dict:
        return json.loads(self.job.spec_path.read_text())

    @property
    def time(self) -> float:
        return self.job.spec_path.stat().st_mtime

    @property
    def oldest(self) -> float:
        """What Snakemake compares inputs with."""
        return min(f.stat().st_mtime for f in (*self.job.outputs, self.job.manifest) if f.exists())


pytestmark = pytest.mark.usefixtures("here")


def test_a_planned_job_without_result_is_written_with_the_date_of_all_job_files():
    run = Run()
    assert run.write() == "absent"
    assert run.content == files.sealed(run.job.content)
    assert run.time == dates.WRITTEN


@pytest.mark.parametrize("when", [0, 1, dates.WRITTEN, 1_577_836_800, None, 4_000_000_000])
def test_a_stale_result_is_older_than_its_job_file_whatever_its_date(when):
    old, new = Run("old"), Run("new")
    old.finish(when)
    assert new.write() == "stale"
    assert new.content["replaces"] == old.job.digest
    assert new.oldest < new.time
    assert new.time < time.time() - 86_400  # and what is made now is newer than the job file


def test_a_second_plan_finds_a_stale_result_stale_after_all_times_were_made_equal():
    Run("old").finish()
    new = Run("new")
    new.write()
    for file in new.job.target.iterdir():
        os.utime(file, (1_577_836_800, 1_577_836_800))
    assert new.write() == "stale"
    assert new.oldest < new.time


def test_files_without_manifest_are_older_than_their_job_file():
    run = Run()
    run.write()
    run.finish()
    run.job.manifest.unlink()
    assert run.write() == "stale"
    assert run.oldest < run.time


def test_an_up_to_date_result_loses_a_date_in_the_future():
    run = Run()
    run.write()
    run.finish(time.time() + 3600)
    assert run.write() == "up to date"
    assert run.history.stat().st_mtime == dates.WRITTEN
    assert run.content == files.sealed(run.job.content)


@pytest.mark.parametrize("made", [None, "new", "old"])
def test_an_unchanged_plan_touches_nothing(made):
    run = Run("new")
    run.write()
    if made:
        Run(made).finish()
        run.write()
    before = [file.stat() for file in sorted(run.job.target.iterdir())]
    run.write()
    after = [file.stat() for file in sorted(run.job.target.iterdir())]
    assert [(s.st_ino, s.st_mtime_ns) for s in after] == [(s.st_ino, s.st_mtime_ns) for s in before]


def test_a_result_on_a_disk_that_is_only_read_needs_no_write(monkeypatch):
    run = Run()
    run.finish(time.time() + 3600)  # without a job file, dated ahead: two reasons to write

    def refused(*_arguments, **_keywords):
        raise UserError("results", "cannot be written: Read-only file system")

    monkeypatch.setattr(files, "write_text", refused)
    monkeypatch.setattr(dates, "date", refused)
    assert run.write() == "up to date"


def test_a_file_of_another_user_is_written_anew_to_be_dated(monkeypatch):
    Run("old").finish()
    new = Run("new")
    real, inode = os.utime, new.job.manifest.stat().st_ino

    def only_own(path, times):
        if Path(path).exists() and Path(path).stat().st_ino == inode:
            raise PermissionError(1, "Operation not permitted")
        real(path, times)

    monkeypatch.setattr(os, "utime", only_own)
    text = new.job.manifest.read_text()
    assert new.write() == "stale"
    assert new.job.manifest.read_text() == text
    assert new.oldest < new.time


def test_a_file_system_that_keeps_no_dates_is_one_line(monkeypatch):
    Run("old").finish()
    monkeypatch.setattr(os, "utime", lambda path, times: None)
    with pytest.raises(UserError, match="does not keep the dates of files"):
        Run("new").write()


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o002, 0o664), (0o077, 0o600)])
def test_files_have_the_mode_that_the_umask_allows(umask, mode):
    before = os.umask(umask)
    try:
        Run().write()
        files.write_arrays(Path("a.safetensors"), {}, {})
    finally:
        os.umask(before)
    for file in (Run().job.spec_path, Path("a.safetensors")):
        assert stat.S_IMODE(file.stat().st_mode) == mode


@pytest.fixture
def _running(here):
    """A Snakemake runs in this folder."""
    files.write_text(job_files.LOCKS / "0.input.lock", "")


@pytest.mark.usefixtures("_running")
def test_a_running_snakemake_keeps_its_job_files():
    run = Run("new")
    run.write()  # one that it does not have yet
    with pytest.raises(UserError, match="still needs its plan, and 1 job files would change"):
        Run("other").write()
    assert run.content == files.sealed(run.job.content)


@pytest.mark.usefixtures("_running")
def test_the_same_plan_is_no_change_for_a_running_snakemake():
    Run("old").finish()
    new = Run("new")
    new.write()
    new.finish()  # by the Snakemake that runs
    before = new.job.spec_path.read_text()
    assert new.write() == "up to date"
    assert new.job.spec_path.read_text() == before


def test_a_plan_that_does_not_run_writes_into_a_folder_of_its_own(tmp_path):
    Run("old").finish()
    new = Run("new")
    path = job_files.write_elsewhere(tmp_path / "own", new.job, new.job.state())
    assert json.loads(path.read_text())["replaces"] == Run("old").job.digest
    assert path.stat().st_mtime > time.time()
    assert not new.job.spec_path.exists()


def test_files_that_a_job_read_are_not_dated_after_its_results():
    run = Run()
    run.finish(time.time() + 3600)
    dates.date_back([run.history, Path("missing")], time.time())
    assert run.history.stat().st_mtime == dates.WRITTEN


def test_job_files_of_a_dry_run_have_a_folder_each(tmp_path, monkeypatch):
    """Snakemake lists a folder once: what comes later would be missing to it."""
    shutil.copytree(ROOT / "tests/workflow/papers/geometry", tmp_path / "config/papers/geometry")
    shutil.copy(ROOT / "config/config.yaml", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    project = Project(Path("config"), {})
    keys = list(project.at("smoke").figures)[:2]
    found = [project.job_file("figures", key, "smoke", runs=False)[0] for key in keys]
    assert all(file.is_file() for file in found)
    assert found[0].parent != found[1].parent


def test_a_planned_run_keeps_the_digest_of_the_former_form_which_its_saved_state_names():
    run = Run()
    former = {**run.job.content, "digest": run.job.digests.former}
    files.write_json(run.job.spec_path, files.sealed(former))
    assert run.write() == "absent"
    assert run.content["digest"] == run.job.digests.former
    other = Run("newer")
    assert other.write() == "absent"
    assert other.content["digest"] == other.job.digest
