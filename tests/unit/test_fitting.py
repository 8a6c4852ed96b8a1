import json
import os
import time
from pathlib import Path

import pytest

from grokatlas import fitting, store


class Job:
    """A job file beside the result it describes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "spec.json"
        self.manifest = folder / "manifest.json"
        self.output = folder / "history.parquet"

    def plan(self, planned: str, inputs: tuple[Path, ...] = ()) -> bool:
        return fitting.write_job_file(self.path, self.manifest, {"digest": planned}, list(inputs))

    def finish(self, made: str, **manifest) -> None:
        self.output.write_text("result")
        self.manifest.write_text(json.dumps(store.sealed({"digest": made} | manifest)))

    @property
    def content(self) -> dict:
        return json.loads(self.path.read_text())

    @property
    def time(self) -> float:
        return self.path.stat().st_mtime


@pytest.fixture
def job(tmp_path):
    return Job(tmp_path / "run")


def test_a_planned_job_without_result_has_its_own_time(job):
    before = time.time() - 1
    assert not job.plan("new")
    assert job.content == store.sealed({"digest": "new"})
    assert job.time > before


def test_the_job_file_of_a_fitting_result_is_dated_long_ago(job):
    job.plan("new")
    job.finish("new")
    assert job.plan("new")
    assert job.time == fitting.LONG_AGO
    assert job.content == store.sealed({"digest": "new"})


@pytest.mark.parametrize("future", [0, 1000])
def test_the_job_file_of_a_stale_result_is_newer_and_names_it(job, future):
    job.plan("old")
    job.finish("old")
    late = time.time() + future
    os.utime(job.output, (late, late))
    assert not job.plan("new")
    assert job.content == store.sealed({"digest": "new", "replaces": "old"})
    assert job.time > job.output.stat().st_mtime
    assert job.time > job.manifest.stat().st_mtime


def test_a_stale_result_made_anew_fits(job):
    job.plan("old")
    job.finish("old")
    job.plan("new")
    job.finish("new")
    assert job.plan("new")
    assert job.time == fitting.LONG_AGO
    assert job.content == store.sealed({"digest": "new"})


@pytest.mark.parametrize("made", [None, "new", "old"])
def test_an_unchanged_plan_touches_nothing(job, made):
    job.plan("new")
    if made:
        job.finish(made)
        job.plan("new")
    before = job.path.stat()
    job.plan("new")
    after = job.path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}"])
def test_a_damaged_manifest_makes_a_result_stale(job, text):
    job.plan("new")
    job.finish("new")
    job.manifest.write_text(text)
    assert not job.plan("new")
    assert job.time > job.output.stat().st_mtime


def test_a_result_from_another_input_is_stale(job, tmp_path):
    data = tmp_path / "data" / store.DATA
    store.write_json(data.with_name("manifest.json"), {"outputs": {data.name: "hash"}})
    job.plan("new", (data,))
    job.finish("new", inputs={str(data): "hash"})
    assert job.plan("new", (data,))
    store.write_json(data.with_name("manifest.json"), {"outputs": {data.name: "other"}})
    assert not job.plan("new", (data,))
    assert job.time > job.output.stat().st_mtime
