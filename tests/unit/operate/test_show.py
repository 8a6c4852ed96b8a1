"""`grokatlas show`: the state of a run is told in one line, whatever was left of it."""

import pytest

from grokatlas import cli
from tests.unit import audit_tree


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A finished run."""
    monkeypatch.chdir(tmp_path)
    jobs = audit_tree.declared()
    audit_tree.build(jobs)
    return next(job for job in jobs.values() if job.kind == "run")


def _state(run, capsys) -> str:
    assert cli.main(["show", run.target.name]) == 0
    return capsys.readouterr().out.splitlines()[1]


def test_a_finished_run_is_done(run, capsys):
    assert _state(run, capsys).startswith("state: done on node1 (H200)")


def test_a_run_of_earlier_code_is_not_done(run, capsys):
    audit_tree.edited(run.spec_path, seal=True, digest="0" * 64)
    assert "its spec, code or data changed since" in _state(run, capsys)


def test_a_run_whose_files_are_gone_is_not_done(run, capsys):
    run.outputs[0].unlink()
    assert "made, but history.parquet not here" in _state(run, capsys)


@pytest.mark.parametrize("text", ["{}", "[]", "{", "\0"])
def test_a_damaged_manifest_is_the_state(run, capsys, text):
    run.manifest.write_text(text)
    assert _state(run, capsys).startswith(f"state: {run.manifest}: ")


def test_a_log_may_hold_any_bytes(run, capsys):
    run.manifest.unlink()
    (run.target / "log.txt").write_bytes(b"disk \xff full\n")
    assert "not done; log ends with: disk \ufffd full" in _state(run, capsys)


def test_members_that_diverged_are_told(run, capsys):
    changes = {"members": 3, "diverged": {"2": 40}}
    audit_tree.edited(run.manifest, seal=True, **changes)
    assert _state(run, capsys).endswith(", 1 of 3 members diverged (the first at step 40)")
