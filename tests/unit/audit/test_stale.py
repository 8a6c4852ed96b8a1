"""`grokatlas explain --stale`: what would be made again, why, and the commands that help."""

import shlex
import shutil
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.plan import declared_jobs
from grokatlas.plan.jobs import Job
from grokatlas.results import files, layout
from tests.unit import audit_tree

FIGURES = "results/smoke/figures/toy"
CHANGED = ("engine.training", "papers.toy.fig1", "papers.toy.fig2")
AGAIN = f"snakemake -- {FIGURES}/fig1.pdf {FIGURES}/fig2.pdf"


class Checkout:
    """A checkout in which everything was made; `plan` is what it declares since.

    Attributes:
        jobs: what it declares now, by target.
    """

    def __init__(self, jobs: dict[str, Job]) -> None:
        self.jobs = jobs

    def plan(self, **changes) -> None:
        """Declare the same with other code or settings."""
        self.jobs = audit_tree.declared(**changes)

    def of(self, kind: str) -> list[Job]:
        """The jobs of a kind."""
        return [job for job in self.jobs.values() if job.kind == kind]


@pytest.fixture
def checkout(jobs, monkeypatch):
    made = Checkout(jobs)
    monkeypatch.setattr(declared_jobs, "jobs", lambda **_: made.jobs)
    return made


@pytest.fixture
def told(capsys):
    """Calls the command: its lines."""

    def called(*arguments: str) -> list[str]:
        assert cli.main(["explain", "--stale", *arguments]) == 0
        return capsys.readouterr().out.splitlines()

    return called


def causes(lines: list[str]) -> list[str]:
    """The first line of each group."""
    starts = ("code", "configuration", "files")
    return [line for line in lines if line.startswith(starts)]


def command(lines: list[str], word: str) -> list[str]:
    """The commands after a word, one for each group that has it."""
    return [line.split(":", 1)[1].strip() for line in lines if line.strip().startswith(word)]


def test_nothing_is_stale(checkout, told):
    assert told() == ["nothing would be made again; 8 results are up to date"]


def test_a_change_of_code_names_its_module_and_all_that_depends_on_it(checkout, told):
    checkout.plan(run_code="2")
    lines = told()
    runs = ", ".join(run.target.name for run in checkout.of("run"))
    assert causes(lines) == ["code changed since: grokatlas.engine.training"]
    assert f"  runs of smoke toy/rates: {runs}" in lines
    assert "  tables at smoke scale: toy/rates" in lines
    assert "  figures at smoke scale: toy/fig1, toy/fig2" in lines
    assert "  2 runs, 2 measures, 1 table, 2 figures; 10.5 s when made" in lines
    assert command(lines, "make again") == [AGAIN]
    assert lines[-1] == "7 of 8 results would be made again"


@pytest.mark.parametrize(
    "changes",
    [{"run_code": "2"}, {"measure_code": "2"}, {"figure_code": "2"}, {"data_code": "2"}],
    ids=str,
)
def test_the_command_that_keeps_results_keeps_them(checkout, told, changes, capsys):
    checkout.plan(**changes)
    for keep in command(told(), "or keep"):
        program, *arguments = shlex.split(keep)
        assert program == "grokatlas"
        assert cli.main(arguments) == 0
        capsys.readouterr()
    assert told()[-1].startswith("nothing would be made again")


def test_each_cause_is_kept_by_a_command_of_its_own(checkout, told, capsys):
    checkout.plan(run_code="2", figure_code="2")
    lines = told()
    runs, *figures = [f"code changed since: grokatlas.{name}" for name in CHANGED]
    assert causes(lines) == [runs, *figures]
    first, *others = command(lines, "or keep")
    assert cli.main(shlex.split(first)[1:]) == 0
    capsys.readouterr()
    assert causes(told()) == figures
    assert command(told(), "or keep") == others


def test_runs_are_told_by_a_table_that_was_made(checkout, told):
    checkout.plan(run_code="2")
    table, runs = checkout.of("table")[0], checkout.of("run")
    spec = table.spec | {"scale": "paper"}
    other = Job("table", layout.table_stem("paper", "toy", "rates"), spec, {}, tuple(runs))
    rest = [job for job in checkout.jobs.values() if job.kind not in ("dataset", "run")]
    declared = [*checkout.of("dataset"), *runs, other, *rest]
    checkout.jobs = {job.target.as_posix(): job for job in declared}
    names = ", ".join(run.target.name for run in runs)
    assert f"  runs of smoke toy/rates: {names}" in told()


def test_many_results_are_named_by_their_folder_where_nothing_else_is_in_it(checkout, told):
    rates = tuple(0.1 * k for k in range(1, 7))
    checkout.plan(lrs=rates)
    audit_tree.build(checkout.jobs)
    checkout.plan(lrs=rates, run_code="2")
    assert command(told(), "or keep") == ['grokatlas accept results/runs --reason "..."']
    checkout.plan(lrs=rates[:-1], run_code="2")  # the sixth run is declared no more
    (keep,) = command(told(), "or keep")
    assert len(shlex.split(keep)) == 2 + 5 + 2


def test_a_change_of_the_configuration_names_the_setting_and_cannot_be_kept(checkout, told):
    checkout.plan(lrs=(0.1, 0.3))
    lines = told()
    assert causes(lines) == ["configuration changed since: optimizer.lr was 0.2, now 0.3"]
    assert command(lines, "make again") == [AGAIN]
    assert command(lines, "or keep") == []
    told_anew = "3 of 6 results would be made again, and 1 run, 1 measure for the first time"
    assert lines[-1] == told_anew


def test_members_are_told_as_axes(checkout, told, monkeypatch):
    spec_of = audit_tree.spec_of
    monkeypatch.setattr(
        audit_tree, "spec_of", lambda lr: spec_of(lr) | {"ensemble": {"seed": [0, 1, 2, 3]}}
    )
    checkout.plan()
    assert causes(told()) == ["configuration changed since: seed was 0..2, now 0..3"]


def test_axes_that_are_joined_now_are_told_by_their_paths(checkout, told, monkeypatch):
    pairs = {"optimizer.lr": [0.1, 0.2], "penalties.0.weight": [1.0, 2.0]}
    spec_of = audit_tree.spec_of
    monkeypatch.setattr(
        audit_tree,
        "spec_of",
        lambda lr: spec_of(lr) | {"ensemble": {"zip": [pairs], "seed": [0, 1, 2]}},
    )
    checkout.plan()
    (cause,) = causes(told())
    assert "ensemble.zip was absent, now optimizer.lr+penalties.0.weight" in cause
    assert "penalties.0.weight was absent, now 1.0, 2.0" in cause


def test_cells_that_are_new_or_gone_are_told(checkout, told):
    checkout.plan(lrs=(0.1, 0.2, 0.3))
    (cause,) = causes(told())
    assert cause.startswith("configuration changed since: cell ")
    assert cause.endswith("was absent, now declared")
    checkout.plan(lrs=(0.1,))
    (cause,) = causes(told())
    assert cause.endswith("was declared, now not")


def test_a_run_that_is_gone_is_told_by_its_id(checkout, told):
    gone = checkout.of("run")[1].target
    shutil.rmtree(gone)
    checkout.plan(lrs=(0.1, 0.3))
    new = checkout.of("run")[1].target.name
    assert causes(told()) == [f"configuration changed since: run was {gone.name}, now {new}"]


def test_a_file_that_is_gone_is_made_again_only_if_it_is_needed(checkout, told):
    run = checkout.of("run")[0]
    run.outputs[0].unlink()
    assert told() == ["nothing would be made again; 8 results are up to date"]
    checkout.plan(measure_code="2")
    lines = told()
    assert f"files: {run.outputs[0]} is not here" in causes(lines)
    Path(f"{FIGURES}/fig2.png").unlink()
    checkout.plan()
    lines = told()
    assert causes(lines) == [f"files: {FIGURES}/fig2.png is not here"]
    assert lines[-1] == "1 of 8 results would be made again"


@pytest.mark.parametrize("text", ["{}", "[]", "{", "\0", ""])
def test_a_damaged_manifest_is_a_cause(checkout, told, text):
    checkout.of("table")[0].manifest.write_text(text)
    lines = told()
    assert causes(lines)[0].startswith("files: results/smoke/tables/toy/rates: its manifest ")
    assert command(lines, "make again") == [AGAIN] * len(causes(lines))
    assert command(lines, "or keep") == []


def test_files_without_a_manifest_are_made_again(checkout, told):
    checkout.of("figure")[0].manifest.unlink()
    (cause,) = causes(told())
    assert cause == f"files: {FIGURES}/fig1: no manifest vouches for it"


def test_what_was_made_again_with_other_bytes_is_told(checkout, told):
    table = checkout.of("table")[0]
    audit_tree.make(table, number=1.0)
    lines = told()
    problem = "was made again since, with other bytes"
    assert causes(lines) == [f"files: {table.outputs[0]} {problem}"]
    assert "  2 figures; 3 s when made" in lines


def test_a_part_is_never_up_to_date(checkout, told):
    audit_tree.edited(checkout.of("figure")[0].manifest, seal=True, partial=True)
    (cause,) = causes(told())
    assert cause.endswith("fig1: was made while other results were not complete")


def test_of_a_target_only_what_is_behind_it_is_told(checkout, told):
    checkout.plan(run_code="2", figure_code="2")
    lines = told("toy/fig1")
    assert "  figures at smoke scale: toy/fig1" in lines
    assert command(lines, "make again") == [f"snakemake -- {FIGURES}/fig1.pdf"] * 2
    run = checkout.of("run")[0].target.name
    assert told(run)[-1] == "1 of 2 results would be made again"


@pytest.mark.parametrize("complete", [True, False])
def test_all_of_a_scale_is_one_call_unless_something_was_never_made(checkout, told, complete):
    def whole(figure_code: str) -> dict[str, Job]:
        jobs = audit_tree.declared(figure_code=figure_code)
        figures = tuple(job for job in jobs.values() if job.kind == "figure")
        claims = Job("claims", layout.claims_stem("smoke"), {"scale": "smoke"}, {}, ())
        spec = {"scale": "smoke", "papers": {}}
        pages = Job("atlas", layout.atlas_folder("smoke"), spec, {}, (*figures, claims))
        return jobs | {job.target.as_posix(): job for job in (claims, pages)}

    checkout.jobs = whole("1")
    audit_tree.build(checkout.jobs)
    checkout.jobs = whole("2")
    if not complete:
        for file in Path(FIGURES).glob("fig2.*"):
            file.unlink()
    commands = set(command(told(), "make again"))
    if complete:
        assert commands == {"snakemake --config scale=smoke"}
    else:
        assert commands == {f"snakemake -- {FIGURES}/fig1.pdf && grokatlas atlas --scale smoke"}


def test_what_cannot_be_asked_is_refused_in_one_line(checkout, monkeypatch, capsys, tmp_path):
    def refused(*arguments: str) -> str:
        assert cli.main(["explain", *arguments]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        return line

    assert refused() == "explain: name a figure, table or run, or give --stale"
    assert refused("--stale", "toy/fgi1").endswith("did you mean 'toy/fig1'?")
    assert "leave --values out" in refused("--stale", "--values")
    shutil.copytree("results", tmp_path / "other/results")
    assert "go to the folder whose config/ made it" in refused(
        "--stale", "--results", "other/results"
    )
    checkout.jobs = {}
    assert "no paper declares it" in refused("--stale", f"{FIGURES}/fig1")
    checkout.jobs = None
    assert "run it in a checkout" in refused("--stale")
    shutil.rmtree("results")
    assert "no such results folder" in refused("--stale")


def test_a_new_figure_alone_is_no_news(checkout, told):
    for file in Path(FIGURES).glob("fig2.*"):
        file.unlink()
    assert told() == ["nothing would be made again; 7 results are up to date"]
    files.write_text(Path(f"{FIGURES}/fig2.csv"), "1\n")
    assert causes(told()) == [f"files: {FIGURES}/fig2: no manifest vouches for it"]
