"""`grokatlas runs`: what is found by its fields, in results and in the store, and what is not."""

import json
import shutil
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.plan import declared_jobs
from grokatlas.plan.jobs import Job
from grokatlas.results import files, hashing, layout
from grokatlas.run_store import store as run_store
from grokatlas.runs import conditions
from tests import cases
from tests.checkout import imported
from tests.unit import audit_tree


class Checkout:
    """A checkout with two finished runs of three seeds each, and a store that is asked for.

    Attributes:
        jobs: what it plans, by target.
        runs: those of ``optimizer.lr`` 0.1 and 0.2.
        store: the folder of the store.
    """

    def __init__(self, folder: Path) -> None:
        self.jobs = audit_tree.declared()
        audit_tree.build(self.jobs)
        self.runs = [job for job in self.jobs.values() if job.kind == "run"]
        self.store = folder / "store"

    def put(self, job: Job) -> None:
        """Put a run of results into the store."""
        self.store.mkdir(exist_ok=True)
        assert run_store.put(self.store, job.target, Path())

    def plan(self, **changes) -> list[Job]:
        """Plan the same with other code or settings; the runs that are planned."""
        self.jobs = audit_tree.declared(**changes)
        return [job for job in self.jobs.values() if job.kind == "run"]


@pytest.fixture
def checkout(here, monkeypatch):
    monkeypatch.delenv(run_store.VARIABLE, raising=False)
    made = Checkout(here)
    monkeypatch.setattr(declared_jobs, "jobs", lambda **_: made.jobs)
    return made


@pytest.fixture
def ask(capsys):
    """Calls the command with arguments: the runs that it found, as plain data."""

    def asked(*arguments: str) -> list[dict]:
        assert cli.main(["runs", "--json", *arguments]) == 0
        return json.loads(capsys.readouterr().out)

    return asked


@pytest.fixture
def refused(capsys):
    """Calls the command with arguments: the one line that refuses them."""

    def asked(*arguments: str) -> str:
        assert cli.main(["runs", *arguments]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        return line

    return asked


def ids(found: list[dict]) -> set[str]:
    return {run["id"] for run in found}


def names(*runs: Job) -> set[str]:
    return {run.target.name for run in runs}


@cases.listed("asked", "which")
def test_runs_are_found_by_a_field(checkout, ask, asked, which):
    assert ids(ask(asked)) == names(*(checkout.runs[k] for k in which))


def test_all_conditions_must_hold(checkout, ask):
    run = checkout.runs[0].target.name
    assert ids(ask(f"id={run[:5]}", "optimizer.lr=0.1", "paper=toy")) == {run}
    assert ask(f"id={run[:5]}", "optimizer.lr=0.2") == []


def test_a_run_is_found_by_one_of_its_members_which_are_told(checkout, ask, capsys):
    found = ask("seed=1,2", "optimizer.lr=0.1")
    assert [run["matching"] for run in found] == [
        [{"member": 1, "seed": 1}, {"member": 2, "seed": 2}]
    ]
    assert [run["fields"]["seed"] for run in found] == [[1, 2]]
    assert ask("seed>2") == []
    cli.main(["runs", "seed=1", "optimizer.lr=0.1"])
    head, line, _ = capsys.readouterr().out.splitlines()
    assert head.split() == ["id", "of", "state", "seed", "optimizer.lr", "members", "where"]
    assert "1 of 3: 1" in line


def test_conditions_hold_for_the_same_member(checkout, ask):
    """Seed 0 has weight 0.1 and seed 1 has it too, but each member has one of each."""
    spec = audit_tree.spec_of(0.3)
    spec["ensemble"] = {"seed": [0, 1], "penalties.0.weight": [0.1, 0.2]}
    spec["penalties"] = [{"name": "l2"}, {"name": "l1", "weight": 0.5}]
    spec["task"] |= {"data_seed": "member"}
    target = layout.run_folder(hashing.of(spec)[:12])
    audit_tree.make(Job("run", target, spec, {}, ()))
    (run,) = ask("seed=1", "penalties.0.weight=0.2")
    assert run["matching"] == [{"member": 3, "penalties.0.weight": 0.2, "seed": 1}]
    assert len(ask("seed=1", "penalties.0.weight=0.2", "task.data_seed=1")) == 1
    assert ask("seed=1", "penalties.0.weight=0.2", "task.data_seed=0") == []
    (run,) = ask("penalties.weight=0.5")
    assert len(run["matching"]) == 4
    assert len(ask("penalties.weight=0.1", "penalties=l1")) == 1


def test_what_a_run_lacks_is_not_equal_to_anything(checkout, ask):
    spec = audit_tree.spec_of(0.3) | {"penalties": [{"name": "l1", "weight": 0.5}]}
    target = layout.run_folder(hashing.of(spec)[:12])
    audit_tree.make(Job("run", target, spec, {}, ()))
    assert ids(ask("penalties!=l1")) == names(*checkout.runs)
    assert ids(ask("penalties.weight<=1")) == {target.name}


def test_true_is_not_one():
    lone = conditions.parse("loss.half=1")
    assert not lone.holds([True])
    assert lone.holds([1.0])
    assert conditions.parse("loss.half=true").holds([True])
    assert conditions.parse("train.stop=null").holds([None])
    assert not conditions.parse("loss.half>0").holds([True])


@cases.listed("asked", "told")
def test_what_cannot_be_asked_is_refused_with_what_can(checkout, refused, asked, told):
    assert told in refused(asked)


def test_options_that_name_nothing_are_refused(checkout, refused, tmp_path):
    assert "--show sed: no run here has a field 'sed'; did you mean 'seed'?" in refused(
        "--show", "sed"
    )
    assert "no state 'ready'; allowed: damaged, failed," in refused("--state", "stale,ready")
    assert "'orphan' is called 'undeclared'" in refused("--state", "orphan")
    assert "no folder nowhere" in refused("--store", "nowhere")
    assert "and no run of a store" in refused("--store", "results")
    assert "no such results folder" in refused("--results", "nowhere")


def test_a_table_has_the_fields_that_were_asked_for(checkout, capsys):
    assert cli.main(["runs", "optimizer.lr>0.1", "--show", "seed,device"]) == 0
    head, line, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["id", "of", "state", "optimizer.lr", "seed", "device", "where"]
    assert line.split() == [
        *(checkout.runs[1].target.name, "smoke", "toy/rates", "up", "to", "date"),
        *("0.2", "0,", "1,", "2", "cuda,", "H200", "results"),
    ]
    assert last == "1 run of 2"


def test_states_and_scales(checkout, ask, capsys):
    planned = checkout.plan(lrs=(0.1, 0.3), run_code="2")
    states = {run["id"]: run["state"] for run in ask("--state", "stale,undeclared,waiting")}
    old = checkout.runs[1].target.name
    assert states == {
        planned[0].target.name: "stale",
        planned[1].target.name: "waiting",
        old: "undeclared",
    }
    assert ids(ask()) == {planned[0].target.name, old}
    assert ids(ask("state=waiting")) == names(planned[1])
    assert ids(ask("--scale", "smoke", "--state", "stale,waiting")) == names(*planned)
    assert ask("--scale", "paper") == []
    (stale,) = ask("state=stale")
    assert stale["note"] == "code: grokatlas.engine.training"
    capsys.readouterr()
    assert cli.main(["runs"]) == 0
    assert (
        capsys.readouterr().out.splitlines()[-1]
        == "2 runs of 3; left out: 1 waiting (--state waiting)"
    )


def test_a_run_that_was_made_from_other_data_is_stale(checkout, ask):
    audit_tree.make(next(iter(checkout.jobs.values())), number=1.0)
    assert {(run["state"], run["note"]) for run in ask()} == {("stale", "its data changed")}


def test_runs_under_way_and_failed(checkout, ask, monkeypatch):
    running, failed = checkout.plan(lrs=(0.3, 0.4))
    for run, last in ((running, "step 5/10, 2.5 steps/s, 2 s left"), (failed, "disk full")):
        run.target.mkdir(parents=True)
        (run.target / "log.txt").write_text(f"run x: trains on other, CPU\nrun x: {last}\n")
        files.write_json(run.spec_path, files.sealed(run.content))
    found = {run["id"]: run for run in ask("--state", "running,failed")}
    assert found[running.target.name]["state"] == "running"
    assert found[failed.target.name]["state"] == "failed"
    assert "disk full" in found[failed.target.name]["note"]
    assert found[running.target.name]["spec"] == running.spec


@pytest.mark.parametrize("text", ["{}", "[]", "{", "\0", ""])
def test_a_damaged_manifest_is_a_state_and_its_spec_is_known(checkout, ask, text):
    run = checkout.runs[0]
    run.manifest.write_text(text)
    (found,) = ask("optimizer.lr=0.1")
    assert found["state"] == "damaged"
    assert "its manifest" in found["note"]
    run.spec_path.write_text(text)
    checkout.jobs = {}  # nothing says what it was: it is found by its id alone
    assert ids(ask(f"id={run.target.name}")) == names(run)


@cases.listed("changes")
def test_a_manifest_of_another_version_is_damaged_and_the_others_are_found(checkout, ask, changes):
    audit_tree.edited(checkout.runs[0].manifest, seal=True, **changes)
    found = {run["id"]: run["state"] for run in ask()}
    assert found == {
        checkout.runs[0].target.name: "damaged",
        checkout.runs[1].target.name: "up to date",
    }
    assert ids(ask("optimizer.lr>0")) == names(checkout.runs[1])


def test_a_table_of_another_version_names_nothing(checkout, ask):
    table = next(job for job in checkout.jobs.values() if job.kind == "table")
    audit_tree.edited(table.manifest, seal=True, spec={"cells": [{}]})
    assert len(ask("experiment=rates")) == 2
    checkout.jobs = {name: job for name, job in checkout.jobs.items() if job.kind == "dataset"}
    assert [run["of"] for run in ask()] == [[], []]


def test_without_a_checkout_what_is_finished_is_done(checkout, ask, monkeypatch):
    monkeypatch.setattr(declared_jobs, "jobs", lambda **_: None)
    assert {run["state"] for run in ask()} == {"up to date"}
    assert {run["of"][0]["experiment"] for run in ask()} == {"rates"}


def test_a_run_of_the_store_is_the_same_as_that_of_results(checkout, ask):
    for run in checkout.runs:
        checkout.put(run)
    found = ask("--store", str(checkout.store))
    assert [sorted(run["where"]) for run in found] == [["results", "store"]] * 2
    shutil.rmtree(checkout.runs[0].target)
    listed = ask("--store", str(checkout.store), "--state", "up to date,waiting")
    assert len(listed) == 2
    found = {run["id"]: run for run in listed}
    one = found[checkout.runs[0].target.name]
    assert (one["state"], list(one["where"])) == ("up to date", ["store"])
    assert len(found) == 2
    assert ids(ask("where=store", "where!=results", "--store", str(checkout.store))) == {one["id"]}


def test_versions_of_a_run_lie_side_by_side(checkout, ask):
    old = checkout.runs[0]
    checkout.put(old)
    (new, _) = checkout.plan(run_code="2")
    audit_tree.make(new)
    found = ask("optimizer.lr=0.1", "--store", str(checkout.store))
    assert {(run["state"], *run["where"]) for run in found} == {
        ("up to date", "results"),
        ("stale", "store"),
    }
    assert len({run["digest"] for run in found}) == 2
    checkout.plan(lrs=(0.2,))
    found = ask("optimizer.lr=0.1", "--store", str(checkout.store))
    assert {(run["state"], *run["where"]) for run in found} == {
        ("undeclared", "results"),
        ("undeclared", "store"),
    }


def test_a_damaged_entry_of_the_store_is_a_state(checkout, ask):
    checkout.put(checkout.runs[0])
    (manifest,) = checkout.store.glob("runs/*/manifest.json")
    manifest.chmod(0o600)
    manifest.write_text("{}")
    found = ask("state=damaged", "--store", str(checkout.store))
    assert [(run["id"], list(run["where"])) for run in found] == [
        (checkout.runs[0].target.name, ["store"])
    ]


def test_a_configured_store_that_is_not_there_is_told_and_results_are_searched(
    checkout, monkeypatch, capsys
):
    monkeypatch.setenv(run_store.VARIABLE, "nowhere")
    assert cli.main(["runs", "--json"]) == 0
    done = capsys.readouterr()
    assert len(json.loads(done.out)) == 2
    assert done.err.count("\n") == 1
    assert "no folder nowhere" in done.err
    assert done.err.endswith("only results are searched\n")


def test_nothing_at_all(here, monkeypatch, capsys):
    monkeypatch.delenv(run_store.VARIABLE, raising=False)
    assert cli.main(["runs"]) == 1
    assert "no such results folder" in capsys.readouterr().err
    Path("results").mkdir()
    assert cli.main(["runs", "optimizer.lr=1", "--json"]) == 0
    assert capsys.readouterr().out == "[]\n"
    assert cli.main(["runs"]) == 0
    assert capsys.readouterr().out.startswith("no runs: nothing is planned or made here")


@pytest.mark.parametrize("option", ["--csv", "--tensorboard"])
def test_json_is_printed_alone(checkout, capsys, option):
    assert cli.main(["runs", "--json", option, "out"]) == 1
    done = capsys.readouterr()
    assert done.out == ""
    assert done.err.startswith("--json: prints and writes nothing else; call again without it")
    assert not Path("out").exists()


def test_nothing_is_written(checkout, ask):
    checkout.put(checkout.runs[0])
    before = {path: path.lstat().st_mtime_ns for path in Path().rglob("*")}
    ask("optimizer.lr=0.1", "--store", str(checkout.store))
    assert {path: path.lstat().st_mtime_ns for path in Path().rglob("*")} == before


def test_it_imports_no_heavy_library(checkout):
    code = "from grokatlas import cli; cli.main(['runs', 'optimizer.lr=0.1'])"
    assert not imported(code, "torch", "snakemake", "matplotlib", "pandas")


def test_a_member_is_told_with_all_of_a_value_that_is_a_list(checkout, ask):
    spec = audit_tree.spec_of(0.3)
    spec["ensemble"] = {"seed": [0], "model.init": [[1.0, 2.0], [1.0, 4.0]]}
    target = layout.run_folder(hashing.of(spec)[:12])
    audit_tree.make(Job("run", target, spec, {}, ()))
    (run,) = ask(f"id={target.name}")
    assert [member["model.init"] for member in run["matching"]] == [[1.0, 2.0], [1.0, 4.0]]
