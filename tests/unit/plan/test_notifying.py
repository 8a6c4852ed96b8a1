"""The command that hears when a workflow ends or a run fails: what it gets, and what it may do."""

import json
import logging
import sys
import tempfile
import time
from types import SimpleNamespace

import pytest
from snakemake.logging import logger
from snakemake_interface_logger_plugins.common import LogEvent

from grokatlas.declare.settings import Notify, load_settings
from grokatlas.errors import UserError
from grokatlas.plan import notifying
from grokatlas.results import layout

WRITE = """
import json, os, sys
facts = {k[10:]: v for k, v in os.environ.items() if k.startswith("GROKATLAS_")}
with open("told.jsonl", "a") as file:
    file.write(json.dumps([sys.stdin.read(), facts]) + "\\n")
"""
INTERRUPTED = "run ba9876543210: stopped by SIGTERM at step 7; run it again to go on"


def _notify(program: str, timeout: float = 30.0) -> Notify:
    return Notify(command=[sys.executable, "-c", program], timeout=timeout)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    handlers = [*logger.handlers]
    yield tmp_path
    logger.handlers[:] = handlers


def _notifier(notify):
    return notifying.Notifier(SimpleNamespace(settings=SimpleNamespace(notify=notify)), "smoke")


def _told(folder):
    return [json.loads(line) for line in (folder / "told.jsonl").read_text().splitlines()]


def _fail(folder, run, last="training failed: disk full", rule="train"):
    log = folder / f"results/runs/{run}/log.txt"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("")
    facts = {"event": LogEvent.JOB_ERROR, "rule_name": rule}
    facts |= {"log": [str(log.relative_to(folder))]}
    logger.error("a job that begins", extra=facts | {"event": LogEvent.JOB_INFO})
    log.write_text(f"run {run}: step 10\n{last}\n")
    for _ in range(2):
        logger.error("Error in rule", extra=facts)


def test_a_workflow_that_ends_is_told_with_its_facts(here):
    _notifier(_notify(WRITE)).ended(well=True)
    ((message, facts),) = _told(here)
    assert message.startswith(f"Grokking Atlas, smoke scale, in {here} on ")
    assert message.endswith(": the workflow ended.\n")
    assert (facts["EVENT"], facts["SCALE"]) == ("workflow ended", "smoke")
    assert facts["FOLDER"] == str(here)


def test_runs_that_fail_are_told_at_once_and_again_in_the_end(here):
    notifier = _notifier(_notify(WRITE))
    notifier.listen()
    _fail(here, "0123456789ab")
    until = time.monotonic() + 30
    while not (here / "told.jsonl").exists() and time.monotonic() < until:
        time.sleep(0.05)
    _fail(here, "ba9876543210", INTERRUPTED)
    _fail(here, "aaaaaaaaaaaa", rule="measure")
    notifier.ended(well=False)
    (message, facts), (last, ended) = _told(here)
    line = "run 0123456789ab failed: training failed: disk full"
    assert message.splitlines()[1:] == [line]
    assert (facts["EVENT"], facts["RUN"]) == ("run failed", "0123456789ab")
    assert facts["LOG"] == "results/runs/0123456789ab/log.txt"
    interrupted = "stopped by SIGTERM at step 7; run it again to go on"
    assert last.splitlines()[1:] == [line, f"run ba9876543210 is not finished: {interrupted}"]
    assert last.splitlines()[0].endswith("the workflow failed.")
    assert ended["EVENT"] == "workflow failed"
    assert "RUN" not in ended


def test_a_run_that_a_later_try_finished_is_not_named_in_the_end(here):
    notifier = _notifier(_notify(WRITE))
    notifier.listen()
    _fail(here, "0123456789ab")
    _fail(here, "ba9876543210", INTERRUPTED)
    for run in ("0123456789ab", "ba9876543210"):
        layout.manifest_of("run", here / "results/runs" / run).write_text("{}")
    notifier.ended(well=True)
    (_, facts), (last, _) = _told(here)
    assert (facts["EVENT"], facts["RUN"]) == ("run failed", "0123456789ab")
    assert last.endswith(": the workflow ended.\n")


def test_a_run_that_failed_and_was_then_interrupted_is_named_by_its_last_try(here):
    notifier = _notifier(_notify(WRITE))
    notifier.listen()
    _fail(here, "ba9876543210")
    _fail(here, "ba9876543210", INTERRUPTED)
    notifier.ended(well=False)
    assert "stopped by SIGTERM at step 7" in _told(here)[-1][0]
    assert "disk full" not in _told(here)[-1][0]


def test_a_workflow_does_not_wait_for_messages_of_runs(here):
    notifier = _notifier(_notify("import time; time.sleep(60)", timeout=0.3))
    notifier.listen()
    start = time.monotonic()
    for run in range(20):
        _fail(here, f"{run:012d}")
    assert time.monotonic() - start < 1.0
    notifier.ended(well=False)
    assert time.monotonic() - start < 20


def test_many_runs_that_fail_together_are_few_messages(here):
    notifier = _notifier(_notify(f"{WRITE}\nimport time; time.sleep(0.5)"))
    notifier.listen()
    for run in range(25):
        _fail(here, f"{run:012d}")
    notifier.ended(well=False)
    *messages, (last, _) = _told(here)
    assert 1 <= len(messages) <= 3
    assert last.splitlines()[-1] == "and 15 more"


@pytest.mark.parametrize(
    ("program", "timeout", "problem"),
    [
        ("import sys; sys.exit('no route to host')", 30.0, "ended with code 1: no route to host"),
        ("import time; time.sleep(60)", 0.2, "was ended, as it took more than 0.2 s"),
    ],
)
def test_a_command_that_fails_costs_one_line(here, capsys, program, timeout, problem):
    start = time.monotonic()
    _notifier(_notify(program, timeout)).ended(well=True)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("warning: notify: ")
    assert line.endswith(problem)
    assert time.monotonic() - start < 20


def test_a_command_that_cannot_be_run_costs_one_line(here, capsys):
    (here / "no-program").write_text("text")
    _notifier(Notify(command=[str(here / "no-program")])).ended(well=True)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("no-program cannot be run: Permission denied")


@pytest.mark.usefixtures("here")
def test_a_full_folder_of_temporary_files_costs_one_line(here, capsys, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(here / "nowhere"))
    _notifier(_notify(WRITE)).ended(well=True)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("warning: notify: no message was sent: No such file or directory; set")


def test_without_the_setting_nothing_is_called_and_nothing_listens():
    before = [*logger.handlers]
    for project in (SimpleNamespace(), SimpleNamespace(settings=SimpleNamespace(notify=None))):
        notifier = notifying.Notifier(project, "smoke")
        notifier.listen()
        notifier.ended(well=True)
    assert logger.handlers == before
    assert logging.getLogger().level is not None


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("mail", 'notify: "mail" is not allowed: must be a block of keys'),
        ("{}", "notify.command: missing; give a list"),
        ("{command: mail}", 'notify.command: "mail" is not allowed: must be a list'),
        ("{command: []}", "notify.command: [] is not allowed"),
        ("{command: [mail], timeout: 0}", "notify.timeout: 0 is not allowed: must be a number > 0"),
        ("{comand: [mail]}", "notify.comand: unknown key; did you mean 'command'?"),
    ],
)
def test_a_mistake_in_the_setting_is_one_line(here, written, problem):
    file = here / "config.yaml"
    file.write_text(f"notify: {written}\n")
    with pytest.raises(UserError) as error:
        load_settings(file, {})
    assert str(error.value).startswith(f"config.yaml: {problem}")
    assert "\n" not in str(error.value)


def test_a_program_that_is_not_there_is_refused_before_anything_runs(here):
    file = here / "config.yaml"
    file.write_text("notify: {command: [no-such-program, -s]}\n")
    with pytest.raises(UserError, match=r"config\.yaml: notify\.command\.0: no program 'no-such-p"):
        notifying.check(load_settings(file, {}), {})


def test_under_a_head_job_nothing_is_refused_and_the_head_tells_of_the_end(here, monkeypatch):
    file = here / "config.yaml"
    file.write_text("scale: smoke\nnotify: {command: [no-such-program]}\n")
    monkeypatch.setenv(notifying.HEAD, str(here / "for-the-head.json"))
    notifying.check(load_settings(file, {}), {})
    kept = json.loads((here / "for-the-head.json").read_text())
    assert kept["scale"] == "smoke"
    assert kept["notify"]["command"] == ["no-such-program"]
    notifier = _notifier(_notify(WRITE))
    notifier.listen()
    _fail(here, "0123456789ab")
    notifier.ended(well=False)
    ((_, facts),) = _told(here)
    assert facts["EVENT"] == "run failed"
