"""Papers at smoke scale in a fresh clone; what the accounting says of their jobs.

Two papers have every kind of job: on a GPU and without, measures, data sets. GROKATLAS_CLUSTER_ALL
takes all papers and plates. (`tests/workflow` makes the whole smoke scale on this machine.)
"""

import itertools
import json
import os
import sys

import pytest

from grokatlas.plan import resources
from grokatlas.results import layout
from tests.checkout import called

from .conftest import ROOT, clone, commit

GPU_MEASURE = "fourier_features"
PATIENCE = 3600  # seconds for some 300 jobs, each between two Snakemakes, on one machine
ALL = sorted(folder.name for folder in (ROOT / "config/papers").iterdir())
PAPERS = ALL if os.environ.get("GROKATLAS_CLUSTER_ALL") else ["geometry", "two_timescales"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A fresh clone in which the cluster made every figure; one measure wants a GPU."""
    site = clone(ROOT, tmp_path_factory.mktemp("smoke") / "atlas")
    file = site.folder / f"src/grokatlas/components/measures/{GPU_MEASURE}.py"
    text = file.read_text(encoding="utf-8")
    head, imports, rest = text.partition("\nfrom ")
    file.write_text(head + "\nGPU = True\n" + imports + rest, encoding="utf-8")
    commit(site)
    model = ("--set-resources", "train:gpu_model='fake'")  # as a site with several kinds may
    try:
        site.finish(site.start(f"papers=[{','.join(PAPERS)}]", *model), PATIENCE)
    finally:
        site.clear()
    return site


def test_every_figure_is_made(made):
    jobs = sorted(made.folder.glob("results/smoke/figures/*/*.spec.json"))
    assert sorted({job.parent.name for job in jobs}) == PAPERS
    for job in jobs:
        stem = job.with_name(job.name.removesuffix(".spec.json"))
        assert [f for f in layout.outputs("figure", stem) if not f.stat().st_size] == []
        assert layout.manifest_of("figure", stem).exists()
    assert (made.folder / "results/smoke/atlas/index.html").exists()


def test_a_job_runs_once_where_it_belongs(made):
    jobs, on_gpu = made.jobs(), _runs_on_gpu(made)
    assert {job.state for job in jobs} == {"COMPLETED"}
    assert {job.rule for job in jobs} == {"dataset", "train", "measure"}  # the others are local
    assert len({(job.rule, job.wildcards) for job in jobs}) == len(jobs)
    for job in jobs:
        gpu = job.wildcards in on_gpu or GPU_MEASURE in job.wildcards
        assert (job.partition, job.gpus) == (("gpu", 1) if gpu else ("cpu", 0)), job.wildcards
        assert job.node.startswith(job.partition)


def _runs_on_gpu(made) -> set[str]:
    """The runs that take a GPU where there is one."""
    files = made.folder.glob("results/runs/*/manifest.json")
    specs = {file.parent.name: json.loads(file.read_text())["spec"] for file in files}
    found = {run for run, spec in specs.items() if resources.uses_gpu("run", spec)}
    assert 0 < len(found) < len(specs)
    return found


def test_no_two_jobs_share_a_gpu(made):
    jobs = [job for job in made.jobs() if job.gpus]
    together = [pair for pair in itertools.combinations(jobs, 2) if _overlap(*pair)]
    assert together  # as there are two GPUs
    assert all(first.node != second.node for first, second in together)  # a node has one


def _overlap(first, second) -> bool:
    return first.span[0] < second.span[1] and second.span[0] < first.span[1]


def test_a_manifest_names_job_and_device(made):
    known, on_gpu = {job.id: job for job in made.jobs("train")}, _runs_on_gpu(made)
    for file in made.folder.glob("results/runs/*/manifest.json"):
        content = json.loads(file.read_text(encoding="utf-8"))
        (part,) = content["segments"]
        assert known.pop(part["job"]).wildcards == file.parent.name
        assert (part["devices"] == "0") == (file.parent.name in on_gpu)
        assert content["host"]["slurm_job"] == part["job"]
    assert known == {}


def test_memory_and_time_asked_for_were_enough(made):
    for job in made.jobs("train"):
        file = made.folder / "results/runs" / job.wildcards / "manifest.json"
        content = json.loads(file.read_text(encoding="utf-8"))
        assert content["peak_memory_mb"] < 0.5 * int(job.memory.removesuffix("M"))


def test_doctor_finds_the_cluster_as_the_profile_needs_it(made):
    command = [sys.executable, "-m", "grokatlas", "doctor", "--scale", "smoke", "--submit"]
    done = called(*command, cwd=made.folder)
    lines = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    told = {name: (state, text) for state, name, text in lines}
    for name in ("partitions", "limits", "polling", "lock"):
        assert told[name][0] == "ok", told[name]
    assert told["job"][1].startswith("a job in gpu ran on")  # its GPU may be a number
