"""The lines of progress of a run: how often, from which step, and when logs are far apart."""

import json
import re
import signal

import numpy as np
import pytest

from grokatlas.errors import UserError
from grokatlas.results import layout
from grokatlas.rules.jobs import progress
from grokatlas.rules.jobs.savepoint import InterruptedRunError, Savepoint


@pytest.fixture
def clock(monkeypatch):
    """The time that progress sees, in a list of one."""
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def lines(capsys):
    return capsys.readouterr().err.splitlines()


def test_a_line_counts_from_the_step_at_which_the_process_began(clock, capsys):
    shown = progress.Progress("run a", 100, 400, lambda: "1 of 2 members not finite")
    clock[0] += 50
    shown.moved(200)
    assert lines(capsys) == [
        "run a: step 200/400, 2.0 steps/s, 100 s left, 1 of 2 members not finite"
    ]


def test_there_is_a_line_between_two_logs_and_one_of_the_end_alone(clock, capsys):
    shown = progress.Progress("run a", 0, 42, lambda: "")
    shown.logged(0, 42)
    for step in range(1, 43):
        clock[0] += 4
        shown.moved(step)
    shown.logged(42, 42)
    steps = [int(re.search(r"step (\d+)/", line)[1]) for line in lines(capsys)]
    assert steps == [*range(3, 42, 3), 42]


@pytest.mark.parametrize(("hours", "pause"), [(0.1, 10), (3, 108), (100, 300)])
def test_lines_are_rarer_the_longer_a_run_takes(clock, capsys, hours, pause):
    shown = progress.Progress("run a", 0, 10**9, lambda: "")
    clock[0] += 3600 * hours
    shown.moved(1)
    clock[0] += pause - 1
    shown.moved(2)
    clock[0] += 3
    shown.moved(3)
    assert [line.partition("/")[0] for line in lines(capsys)] == ["run a: step 1", "run a: step 3"]


def test_a_run_that_can_be_saved_reports_its_step(tmp_path):
    seen = []
    record = Savepoint(tmp_path / "a", "d" * 64, 600.0, {})
    record.moved = seen.append
    record.after(7, dict)
    assert seen == [7]


def test_a_run_that_is_asked_to_end_is_saved_whoever_still_reads_its_progress(tmp_path):
    record = Savepoint(tmp_path / "a", "d" * 64, 600.0, {})

    def moved(step):
        raise BrokenPipeError

    record.moved = moved
    with record.listening():
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(InterruptedRunError):
            record.after(7, dict)
    assert json.loads((tmp_path / "a" / layout.STATE / "state.json").read_text())["step"] == 7


def test_a_run_that_goes_on_and_logged_nothing_yet_has_no_note():
    history = progress.LastLog(lambda rows: None, {"observables": [{"name": "losses"}]})
    assert history.unsound() == ""


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        ("optimizer.lr", "an observable logs optimizer.lr, which every table has; rename it"),
        ("member", "an observable logs member, which every table has; rename it"),
        ("own", "an observable logs own, and no COLUMNS names it; add it there"),
    ],
)
def test_a_column_that_the_plan_did_not_know_is_refused_at_the_first_log(column, problem):
    ensemble = {"zip": [{"optimizer.lr": [0.1]}], "seed": [0]}
    spec = {"observables": [{"name": "accuracies"}], "ensemble": ensemble}
    history = progress.LastLog(lambda _: None, spec)
    seen = {"train_accuracy": np.ones(1)}
    history.add(0, [0], seen)
    history = progress.LastLog(lambda _: None, spec)
    with pytest.raises(UserError, match=rf"observables \(accuracies\): {problem}"):
        history.add(0, [0], seen | {column: np.ones(1)})
