from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.audit.tree import Tree
from grokatlas.audit.verify import verify
from grokatlas.plan import declared_jobs, job_files
from grokatlas.results import files
from tests.unit import audit_tree


@pytest.fixture
def made(jobs, monkeypatch):
    """A finished tree; call it with what the checkout plans now."""

    def now(**changes):
        jobs = audit_tree.declared(**changes)
        monkeypatch.setattr(declared_jobs, "jobs", lambda: jobs)
        return jobs

    return now


def accept(*paths, reason="renamed a variable"):
    return cli.main(["accept", *map(str, paths), "--reason", reason])


def bytes_of_results():
    return {f: f.read_bytes() for f in Path("results").rglob("*") if f.is_file()}


def fits(job):
    """What Snakemake is told when the plan is made again."""
    job_files.write([job], {job.target: job.state()})
    return job.state() == "up to date"


def unmake(job):
    for file in (job.manifest, *job.outputs):
        file.unlink()


def test_accepting_a_figure_accepts_all_it_was_made_from(made, capsys):
    jobs = made(run_code="2")
    assert not fits(jobs["results/smoke/figures/toy/fig1"])
    assert accept("toy/fig1") == 0
    assert capsys.readouterr().out.count("accepted ") == len(jobs) - 1  # all but the data set
    assert all(fits(job) for job in jobs.values())
    assert verify(Tree(Path("results")), jobs).ok


def test_accepting_a_run_takes_along_what_hangs_on_it_alone(made, capsys):
    jobs = made(run_code="2")
    runs = [job for job in jobs.values() if job.kind == "run"]
    assert accept(runs[0].target) == 0
    current = {job.target for job in jobs.values() if fits(job)}
    measure = next(job for job in jobs.values() if job.kind == "measure")
    data = next(job for job in jobs.values() if job.kind == "dataset")
    assert current == {data.target, runs[0].target, measure.target}
    out = capsys.readouterr().out
    assert out.count(str(runs[1].target)) == 1
    assert f"remains  results/smoke/tables/toy/rates: {runs[1].target} is not accepted" in out
    assert accept(runs[1].target) == 0
    assert all(fits(job) for job in jobs.values())


def test_what_changed_by_itself_remains(made, capsys):
    jobs = made(run_code="2", figure_code="2")
    runs = [job.target for job in jobs.values() if job.kind == "run"]
    assert accept(*runs) == 0
    out = capsys.readouterr().out
    remain = "remains  results/smoke/figures/toy/fig1: its own code changed too"
    assert f"{remain} (grokatlas.papers.toy.fig1); `snakemake` remakes it" in out
    assert not fits(jobs["results/smoke/figures/toy/fig1"])
    assert fits(jobs["results/smoke/tables/toy/rates"])


def test_the_note_stays_and_the_code_that_ran_too(made):
    before = audit_tree.declared()
    jobs = made(run_code="2")
    assert accept("toy/fig1", reason="  renamed a variable ") == 0
    run = next(job for job in jobs.values() if job.kind == "run")
    content = files.read_sealed(run.manifest)
    (note,) = content["accepted"]
    assert note["old"] == before[run.target.as_posix()].digest
    assert note["new"] == content["digest"] == run.digest
    assert note["reason"] == "renamed a variable"
    assert note["changed"] == ["grokatlas.engine.training"]
    assert note["who"]
    assert note["when"].endswith("Z")
    assert content["code"] == {"grokatlas.engine.training": "1"}
    assert content["git"] == audit_tree.GIT


def test_a_second_change_is_measured_from_the_first_acceptance(made):
    made(run_code="2")
    assert accept("toy/fig1") == 0
    jobs = made(run_code="2", figure_code="3")
    found = verify(Tree(Path("results")), jobs).findings
    stale = {name: f for name, f in found.items() if f.verdict != "ok"}
    assert {f.verdict for f in stale.values()} == {"stale-code"}
    assert all("/figures/" in name for name in stale)
    assert accept("toy/fig1", "toy/fig2", reason="again") == 0
    content = files.read_sealed(jobs["results/smoke/figures/toy/fig1"].manifest)
    assert [note["reason"] for note in content["accepted"]] == ["renamed a variable", "again"]


def test_an_accepted_result_follows_what_it_was_made_from(made):
    made(measure_code="2")
    assert accept("toy/fig1") == 0
    jobs = made(measure_code="2", run_code="2")
    assert accept(*(job.target for job in jobs.values() if job.kind == "run")) == 0
    assert all(fits(job) for job in jobs.values())


def test_what_fits_is_left_alone(made, capsys):
    made()
    before = bytes_of_results()
    assert accept("toy/fig1") == 0
    assert "nothing to accept" in capsys.readouterr().out
    assert bytes_of_results() == before


@pytest.mark.parametrize("reason", ["", "  ", "\n"])
def test_a_reason_is_needed(made, capsys, reason):
    made(run_code="2")
    before = bytes_of_results()
    assert accept("toy/fig1", reason=reason) == 2
    assert "is empty" in capsys.readouterr().err
    assert bytes_of_results() == before


def test_a_reason_may_be_in_any_language(made):
    made(run_code="2")
    assert accept("toy/fig1", reason="renomm\u00e9\u00a0: poids") == 0


def test_a_reason_is_one_line(made, capsys):
    made(run_code="2")
    before = bytes_of_results()
    assert accept("toy/fig1", reason="renamed\x1b[31m a variable") == 1
    assert "accept --reason: has a line break or a control char" in capsys.readouterr().err
    assert bytes_of_results() == before


@pytest.mark.parametrize("kind", ["run", "table", "figure"])
@pytest.mark.parametrize("harm", ["modify", "delete", "edit manifest"])
def test_what_does_not_verify_is_refused(made, capsys, kind, harm):
    jobs = made(run_code="2")
    job = next(job for job in jobs.values() if job.kind == kind)
    if harm == "modify":
        job.outputs[0].write_bytes(b"x")
    elif harm == "delete":
        job.outputs[0].unlink()
    else:
        audit_tree.edited(job.manifest, started="2020-01-01T00:00:00Z")
    before = bytes_of_results()
    assert accept("toy/fig1") == 1
    error = capsys.readouterr().err
    assert "only sound results are accepted" in error
    assert error.count("\n") == 1
    assert bytes_of_results() == before


FIGURE = "results/smoke/figures/toy/fig1"


@pytest.mark.parametrize(
    ("changes", "path", "problem"),
    [
        ({"lrs": (0.1, 0.3)}, "toy/fig1", "its spec changed"),
        ({"lrs": (0.1,)}, audit_tree.run_folder(0.2), "no paper declares it"),
        ({"run_code": "2"}, FIGURE, "was not made yet"),
    ],
)
def test_what_the_checkout_does_not_make_so_is_refused(made, capsys, changes, path, problem):
    jobs = made(**changes)
    if path == FIGURE:
        unmake(jobs[FIGURE])
    before = bytes_of_results()
    assert accept(path) == 1
    assert problem in capsys.readouterr().err
    assert bytes_of_results() == before


def test_of_a_folder_what_was_made_is_accepted(made):
    jobs = made(run_code="2")
    unmake(jobs["results/smoke/figures/toy/fig1"])
    assert accept("results/smoke/figures") == 0
    assert fits(jobs["results/smoke/figures/toy/fig2"])


def test_without_a_configuration_nothing_is_accepted(jobs, capsys):
    assert accept("toy/fig1") == 1
    assert "accept in a checkout" in capsys.readouterr().err


def test_one_unsound_result_downstream_does_not_keep_the_others(made, capsys):
    jobs = made(run_code="2")
    jobs["results/smoke/figures/toy/fig2"].outputs[0].write_bytes(b"x")
    assert accept("toy/fig1") == 0
    out = capsys.readouterr().out
    assert "remains  results/smoke/figures/toy/fig2: it does not verify" in out
    assert fits(jobs["results/smoke/figures/toy/fig1"])
    assert not fits(jobs["results/smoke/figures/toy/fig2"])
