"""What a checkout brings in from the run store, what stays, and what is then planned again."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import filelock

from grokatlas import cli
from grokatlas.plan.jobs import Plan, with_ancestors
from grokatlas.results import files, layout
from grokatlas.run_store import store as run_store
from tests.unit import audit_tree
from tests.unit.run_store.checkouts import contents, resealed


def test_a_run_comes_back_with_the_data_it_was_made_from(shared, capsys):
    shared.enter("second")
    assert set(shared.bring()) == {job.target for job in (*shared.runs, shared.data)}
    assert capsys.readouterr().err == f"run store: 2 runs brought in from {shared.root}\n"
    for job in (*shared.runs, shared.data):
        made_there = shared.folder / "first" / job.target
        for file in job.outputs:
            assert files.verified(file).read_bytes() == (made_there / file.name).read_bytes()
        marked = files.read_sealed(job.manifest)
        mark = marked.pop("run_store")
        assert mark.keys() == {"entry", "host", "when"}
        assert files.sealed(marked) == files.read_sealed(made_there / "manifest.json")
    assert shared.bring() == []
    assert not list(Path().rglob(layout.LOCK))


def test_a_run_that_is_here_stays(shared):
    shared.enter("second")
    audit_tree.build(shared.jobs, number=1.0)
    before = contents(shared.runs[0].target)
    assert shared.bring() == []
    after = contents(shared.runs[0].target)
    assert {k: v for k, v in after.items() if k != "spec.json"} == {
        k: v for k, v in before.items() if k != "spec.json"
    }


def test_a_run_is_brought_in_where_a_file_of_it_is_gone(shared):
    shared.runs[0].outputs[0].unlink()
    assert shared.bring() == [shared.runs[0].target]


def test_a_run_replaces_one_that_does_not_fit(shared):
    shared.enter("second")
    audit_tree.build(audit_tree.declared(run_code="0"))
    shutil.rmtree(shared.data.target)
    (shared.runs[0].target / layout.STATE).mkdir()
    assert set(shared.bring()) == {job.target for job in (*shared.runs, shared.data)}
    assert files.read_sealed(shared.runs[0].manifest)["digest"] == shared.runs[0].digest
    assert not (shared.runs[0].target / layout.STATE).exists()


def test_runs_of_other_code_lie_beside_each_other_and_are_not_confused(shared):
    newer = audit_tree.declared(run_code="2")
    shared.enter("newer")
    assert shared.bring(newer) == []
    audit_tree.build(newer)
    for job in newer.values():
        if job.kind == "run":
            assert run_store.put(shared.root, job.target, Path())
    shared.enter("old")
    assert len(shared.bring()) == 3
    shared.enter("new")
    assert len(shared.bring(newer)) == 3
    assert len(list((shared.root / "runs").iterdir())) == 4
    assert len(list((shared.root / "data").iterdir())) == 1


def test_an_accepted_run_is_stored_under_the_digest_it_was_given(shared):
    newer = audit_tree.declared(run_code="2")
    (run,) = [job for job in newer.values() if job.target == shared.runs[0].target]
    shared.bring(newer)  # writes the job files of the new plan
    note = {"old": shared.runs[0].digest, "new": run.digest, "code": run.code}
    audit_tree.edited(run.manifest, seal=True, digest=run.digest, accepted=[note])
    assert run_store.put(shared.root, run.target, Path())
    shared.enter("second")
    assert run.target in shared.bring(newer)
    assert files.read_sealed(run.manifest)["accepted"] == [note]


def test_what_was_brought_in_is_stored_elsewhere_as_it_was_made(shared):
    shared.enter("second")
    shared.bring()
    other = shared.folder / "other"
    other.mkdir()
    assert run_store.put(other, shared.runs[0].target, Path())
    place = shared.place(shared.runs[0])
    assert contents(other / "runs" / place.name) == contents(place)


def test_a_run_of_other_data_than_lie_here_is_not_used(shared, capsys):
    shared.enter("second")
    audit_tree.make(shared.data, number=1.0)
    assert shared.bring() == []
    assert "was made from other data than are here; not used" in capsys.readouterr().err


def test_data_that_do_not_fit_are_replaced(shared):
    shared.enter("second")
    audit_tree.make(
        audit_tree.recoded(shared.data, **{"grokatlas.engine.dataset": "0"}), number=1.0
    )
    assert shared.data.target in shared.bring()


def test_a_data_set_that_the_store_has_of_other_code_stays_there(shared):
    newer = audit_tree.declared(data_code="2")
    shared.enter("newer")
    audit_tree.build(newer)
    runs = [job for job in newer.values() if job.kind == "run"]
    for run in runs:
        assert run_store.put(shared.root, run.target, Path())
    shared.enter("third")
    assert set(shared.bring(newer)) == {run.target for run in runs}
    assert not shared.data.outputs[0].exists()


def test_a_run_that_trains_here_is_left_alone(shared):
    shared.enter("second")
    folder = shared.runs[0].target
    folder.mkdir(parents=True)
    with filelock.FileLock(folder / layout.LOCK):
        renewed = shared.bring()
    assert folder not in renewed
    assert shared.runs[1].target in renewed


def test_a_run_that_was_made_elsewhere_waits_for_no_data(shared):
    run = shared.runs[0]
    resealed(run.manifest, inputs={})
    made = Plan("smoke", datasets={"": shared.data}, runs={"": run})
    assert [current for _, current in made.inputs(run)] == [True]
    shutil.rmtree(shared.data.target)
    made.look_again([shared.data.target])
    assert made.inputs(run) == []
    resealed(run.manifest, digest="other")
    made.look_again([run.target])
    assert made.inputs(run) == [(shared.data.outputs[0], False)]


def test_what_depends_on_a_run_is_planned_again(shared):
    made = Plan("smoke")
    for job in shared.jobs.values():
        getattr(made, f"{job.kind}s")[job.target] = job
    (first, second) = shared.runs
    names = [job.target for job in made.look_again([first.target])]
    assert names[0] == first.target
    assert second.target not in names
    assert {job.kind for job in made.look_again([first.target])} == {
        "run",
        "measure",
        "table",
        "figure",
    }
    assert {job.target for job in with_ancestors([replace(second)])} == {
        second.target,
        shared.data.target,
    }


def test_what_was_brought_in_verifies_and_says_so(shared, capsys):
    shared.enter("second")
    shared.bring()
    assert cli.main(["verify"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("; 3 results from the run store")
    assert cli.main(["explain", shared.runs[0].target.name]) == 0
    assert "brought from the run store 20" in capsys.readouterr().out
    assert cli.main(["show", shared.runs[0].target.name]) == 0
    assert ", from the run store" in capsys.readouterr().out


def test_a_manifest_says_nothing_of_where_the_store_is(shared):
    shared.enter("second")
    shared.bring()
    text = json.dumps(files.read_json(shared.runs[0].manifest))
    assert str(shared.folder) not in text
