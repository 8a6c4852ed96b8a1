"""The reason of a stale result, as Snakemake shows it."""

from pathlib import Path

import pytest

from grokatlas.plan import job_files, reasons
from grokatlas.plan.jobs import Job
from grokatlas.results import files, layout

L1, L2 = (f"grokatlas.components.penalties.{name}" for name in ("l1", "l2"))
CODE = {L1: "1" * 64, L2: "2" * 64}
SPEC = {"optimizer": {"name": "gd", "lr": 0.1}, "penalties": [{"name": "l1"}]}


def made(job: Job, **changes) -> Job:
    """Leave a manifest of a job, with some of its keys otherwise."""
    content = {**job.content, "outputs": {}, "inputs": {}, **changes}
    files.write_json(job.manifest, files.sealed(content))
    return job


def run(name: str = "0123456789ab", spec: dict = SPEC, **keywords) -> Job:
    return Job("run", layout.run_folder(name), spec, CODE, **keywords)


pytestmark = pytest.mark.usefixtures("here")


OTHER = {"optimizer": {"name": "gd", "lr": 0.2}, "penalties": [{"name": "l1"}]}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"spec": OTHER}, "spec: optimizer.lr 0.2 -> 0.1"),
        ({"code": CODE | {L1: "3" * 64}}, "code: components.penalties.l1"),
        ({"code": {L1: CODE[L2], L2: CODE[L1]}}, "code: components.penalties.l1, components."),
        ({"partial": {"absent": []}}, "files: was made while others were not complete"),
        (
            {"spec": OTHER, "code": CODE | {L1: "3" * 64}},
            "spec: optimizer.lr 0.2 -> 0.1; code: components.penalties.l1",
        ),
    ],
)
def test_the_reason_names_what_changed(changes, reason):
    assert reasons.of(made(run(), **changes)).startswith(reason)


def test_a_damaged_manifest_is_a_reason():
    job = made(run())
    job.manifest.write_text("{")
    assert reasons.of(job) == "files: no manifest vouches for them"


def test_a_table_names_the_settings_of_its_runs():
    old, new = made(run("a" * 12, OTHER)), made(run("b" * 12))
    cells = [{"label": "one", "run": old.target.name}]
    spec = {"cells": [{"label": "one", "run": new.target.name}, {"label": "three", "run": "d"}]}
    table = Job("table", layout.table_stem("quick", "toy", "toys"), spec, {}, (new,))
    made(table, spec={"cells": cells})
    said = "spec: optimizer.lr 0.2 -> 0.1, cell three absent -> declared"
    assert reasons.of(table) == said


def test_what_it_was_made_from_is_a_reason():
    data = Job("dataset", layout.data_folder("e" * 12), {"tasks": []}, {})
    job = made(run(inputs=(data,)))
    assert reasons.of(job) == "data: dataset eeeeeeeeeeee is absent"


@pytest.mark.parametrize("value", ["a/b", "{a}", "line\nbreak", "x" * 400, "ä" * 200])
def test_a_reason_is_the_name_of_a_file(value, tmp_path):
    job = made(run(spec={"optimizer": {"name": value}}), spec={"optimizer": {"name": "gd"}})
    path = job_files.write_elsewhere(tmp_path / "one", job, "stale")
    assert path.parent == tmp_path / "one"
    assert path.is_file()
    assert not set(path.name) & set("{}\n")
    assert path.name.startswith("spec: optimizer.name")
    assert Path(job_files.temporary_folder()).parent == Path(".snakemake/grokatlas")
