"""`verify` against the plan: stale code, stale specs, and what nothing declares."""

from pathlib import Path

from grokatlas.plan import declared_jobs
from grokatlas.plan.jobs import Job
from grokatlas.results import files as store
from grokatlas.results import hashing, layout
from tests.unit import audit_tree
from tests.unit.audit.judging import judge, of_kind, wrong


def test_a_planned_job_that_was_not_run_is_no_error(jobs):
    figure = of_kind(jobs, "figure")
    for file in (figure.manifest, *figure.outputs):
        file.unlink()
    found = judge(jobs)
    assert found.ok
    assert "1 planned jobs were not run yet" in found.notes


def test_changed_code_is_stale_code_downstream_of_it(jobs):
    now = audit_tree.declared(run_code="2")
    report = judge(now)
    stale = {report.targets[n] for n, f in report.findings.items() if f.verdict == "stale-code"}
    kinds = {"run", "measure", "table", "figure"}
    assert stale == {job.target.as_posix() for job in jobs.values() if job.kind in kinds}
    figure = of_kind(jobs, "figure").target.as_posix()
    run = of_kind(jobs, "run").target.as_posix()
    finding = report.findings[f"{figure}.pdf"]
    assert (finding.chain[0], finding.chain[-1]) == (figure, run)
    assert "grokatlas.engine.training" in finding.reason


def test_changed_code_of_a_figure_is_stale_there_alone(jobs):
    report = judge(audit_tree.declared(figure_code="2"))
    stale = {report.targets[n] for n, f in report.findings.items() if f.verdict == "stale-code"}
    assert stale == {job.target.as_posix() for job in jobs.values() if job.kind == "figure"}


def test_a_changed_sweep_is_stale_spec(jobs):
    now = audit_tree.declared(lrs=(0.1, 0.3))
    report = judge(now)
    table = of_kind(jobs, "table")
    assert report.findings[table.outputs[0].as_posix()].verdict == "stale-spec"
    assert "cells" in report.findings[table.outputs[0].as_posix()].reason
    gone = of_kind(jobs, "run", 1)
    finding = report.findings[gone.outputs[0].as_posix()]
    assert finding.verdict == "stale-spec"
    assert "no paper declares" in finding.reason
    kept = of_kind(jobs, "run", 0)
    assert report.findings[kept.outputs[0].as_posix()].verdict == "ok"


def test_a_result_that_nothing_declares_or_uses_is_an_orphan(jobs):
    spec = audit_tree.spec_of(0.7)
    data = of_kind(jobs, "dataset")
    target = layout.run_folder(hashing.of(spec)[:12])
    audit_tree.make(Job("run", target, spec, {"grokatlas.engine.training": "1"}, (data,)))
    found = wrong(jobs)
    assert set(found.values()) == {"orphan"}
    assert f"{target.as_posix()}/history.parquet" in found


def test_without_a_configuration_hashes_alone_are_judged(jobs):
    report = judge(audit_tree.declared(run_code="2"), plan=False)
    assert report.ok
    assert any("not judged" in note for note in report.notes)


def test_claims_are_judged_by_the_papers_they_were_made_for(tmp_path):
    """Not by those of a later plan, such as a dry run of one paper."""
    stem = tmp_path / layout.claims_stem("smoke")
    stem.parent.mkdir(parents=True)
    for file, names in {
        layout.manifest_of("claims", stem): ["beyond_l2", "geometry"],
        layout.spec_path("claims", stem): ["geometry"],
    }.items():
        spec = {"papers": {name: [] for name in names}}
        store.write_json(file, store.sealed({"spec": spec, "inputs": {}, "outputs": {}}))
    jobs = declared_jobs.jobs(Path(__file__).parents[3] / "config", tmp_path / layout.RESULTS)
    assert list(jobs["results/smoke/claims"].spec["papers"]) == ["beyond_l2", "geometry"]
