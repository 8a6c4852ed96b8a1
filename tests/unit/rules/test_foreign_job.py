"""A run that the engine does not train, from its job file: what it leaves, and how it fails."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from grokatlas.audit.explain import about
from grokatlas.audit.tree import Tree
from grokatlas.errors import UserError
from grokatlas.plan.graph import READER
from grokatlas.results import foreign, hashing, layout
from grokatlas.rules import train
from grokatlas.rules.finished_run import FinishedRun
from grokatlas.run_store import store
from tests.runs import job_file

LOOP = """import sys
with open("log.csv", "w") as file:
    file.write("step,loss\\n0,1\\n5,0." + sys.argv[1] + "\\n")
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / "train.py").write_text(LOOP)
    return tmp_path


def execute(spec, out=None):
    run = layout.run_folder(hashing.of(spec)[:12])
    job = job_file(layout.spec_path("run", run), "run", spec, [READER])
    train.execute(job, out or run, "cpu", 1, 300.0)
    return run


def script(here, body=LOOP, **changes):
    (here / "loop" / "train.py").write_text(body)
    sources = foreign.files_sha256([here / "loop" / "train.py"], here / "loop")
    block = {
        "folder": "loop",
        "command": f"{sys.executable} train.py {{seed}}",
        "files": ["*.py"],
        "history": "log.csv",
        "format": "csv",
        "gpu": False,
        "sources": sources,
    }
    return {"ensemble": {"seed": [3, 4]}, "script": block | changes}


def imported(here):
    (here / "a.csv").write_text("step,loss\n0,1\n5,0.5\n")
    block = {"file": "a.csv", "format": "csv", "source": "https://example.org"}
    return {
        "ensemble": {"seed": [7]},
        "import": block | {"sha256": hashing.file_sha256(here / "a.csv")},
    }


def test_an_imported_run_is_a_run(here):
    run = execute(imported(here))
    history = pd.read_parquet(run / layout.HISTORY)
    assert history.to_dict("list") == {"member": [0, 0], "step": [0, 5], "loss": [1.0, 0.5]}
    manifest = FinishedRun(run).manifest
    assert manifest["imported"] == {"a.csv": hashing.file_sha256(here / "a.csv")}
    assert manifest["seeds"] == [7]
    assert "imported from https://example.org" in about(manifest)
    assert list(foreign.changed(manifest, True)) == []
    (here / "a.csv").write_text("step,loss\n0,1\n")
    assert [name for name, _ in foreign.changed(manifest, True)] == ["a.csv"]
    (here / "a.csv").unlink()
    assert [problem for _, problem in foreign.changed(manifest, True)] == ["is missing"]
    assert list(foreign.changed(manifest, False)) == []  # of an archive, elsewhere


def test_another_file_than_is_declared_is_refused(here):
    spec = imported(here)
    (here / "a.csv").write_text("step,loss\n0,2\n")
    with pytest.raises(UserError, match=f"sha256 is {hashing.file_sha256(here / 'a.csv')}"):
        execute(spec)
    (here / "a.csv").unlink()
    with pytest.raises(UserError, match=r"fetch it from https://example\.org"):
        execute(spec)


def test_each_member_of_a_script_has_its_own_seed_and_folder(here):
    run = execute(script(here))
    history = pd.read_parquet(run / layout.HISTORY)
    assert history["member"].tolist() == [0, 0, 1, 1]
    assert history["loss"].tolist() == [1.0, 0.3, 1.0, 0.4]
    assert not (here / "log.csv").exists()
    assert not (here / "loop" / "log.csv").exists()


def test_a_script_is_not_run_again_where_the_run_store_has_its_run(here, monkeypatch):
    (here / "store").mkdir()
    monkeypatch.setenv(store.VARIABLE, str(here / "store"))
    run = execute(script(here))
    (entry,) = (here / "store" / "runs").iterdir()
    assert entry.name.startswith(run.name)
    assert (entry / layout.HISTORY).read_bytes() == (run / layout.HISTORY).read_bytes()
    execute(imported(here))  # is read from its file wherever it is declared
    assert [entry] == [*(here / "store" / "runs").iterdir()]


def test_members_of_a_script_log_the_same_columns(here):
    own = "import sys\nopen('log.csv', 'w').write(f'step,loss{sys.argv[1]}\\n0,1\\n')\n"
    with pytest.raises(UserError, match="loss3 is a column of some members alone"):
        execute(script(here, own))


def test_a_script_that_fails_ends_with_its_last_lines(here):
    noisy = "for k in range(9): print('line', k)\nraise SystemExit('out of luck')"
    with pytest.raises(UserError) as error:
        execute(script(here, noisy))
    assert "ended with 1; its last lines: line 5 | line 6 | line 7 | line 8 | out of luck" in str(
        error.value
    )
    with pytest.raises(
        UserError, match=r"wrote no log\.csv in its working folder; it said nothing"
    ):
        execute(script(here, "pass"))
    with pytest.raises(UserError, match=r"wrote no l3\.csv in its working folder"):
        execute(script(here, "pass", history="l{seed}.csv"))
    with pytest.raises(UserError, match="cannot be started: No such file"):
        execute(script(here, command="no-such-program {seed}"))


def test_a_script_sees_the_files_that_are_named_alone(here):
    (here / "loop" / "secret.txt").write_text("0.5")
    with pytest.raises(UserError, match=r"No such file or directory: 'secret.txt'"):
        execute(script(here, "open('secret.txt')"))


def test_a_script_that_was_edited_since_it_was_planned_is_not_run(here):
    spec = script(here)
    (here / "loop" / "train.py").write_text("pass")
    with pytest.raises(UserError, match="changed since the run was planned"):
        execute(spec)


def test_a_script_imports_what_lies_beside_it_whatever_the_job_sets(here, monkeypatch):
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    (here / "loop" / "values.py").write_text("LOSS = 0.25\n")
    body = "import values\nopen('log.csv', 'w').write(f'step,loss\\n0,{values.LOSS}\\n')\n"
    spec = script(here, body)
    files = sorted((here / "loop").iterdir())
    spec["script"]["sources"] = foreign.files_sha256(files, here / "loop")
    history = pd.read_parquet(execute(spec) / layout.HISTORY)
    assert history["loss"].tolist() == [0.25, 0.25]


def test_a_log_may_be_anywhere(here):
    spec = imported(here)
    spec["import"]["file"] = str(here / "a.csv")
    run = execute(spec)
    assert FinishedRun(run).manifest["imported"] == {
        str(here / "a.csv"): hashing.file_sha256(here / "a.csv")
    }


def test_a_script_holds_the_lock_of_its_run(here):
    body = "import pathlib\npathlib.Path('log.csv').write_text('step,loss\\n0,1\\n')\n"
    lock = here / layout.run_folder("*") / layout.LOCK
    seen = f"import glob\nprint(glob.glob({str(lock)!r}), file=open({str(here / 'seen')!r}, 'a'))\n"
    run = execute(script(here, body + seen))
    assert (here / "seen").read_text() == 2 * f"{[str(here / run / layout.LOCK)]}\n"
    assert not (run / layout.LOCK).exists()


def saved_log(here, error):
    """The text of the log that an error names."""
    return (here / str(error.value).rpartition("the log is ")[2].rstrip(")")).read_text()


def test_a_log_that_is_refused_is_left_in_the_folder_of_the_run(here):
    percent = "open('log.csv', 'w').write('step,test_accuracy\\n0,50\\n')\n"
    with pytest.raises(UserError, match=r"is 50, .* \(the log is (\S+)\)$") as error:
        execute(script(here, percent))
    assert saved_log(here, error) == "step,test_accuracy\n0,50\n"
    found = Tree(layout.RESULTS).results.values()
    assert not any(result.files for result in found)  # it is no file of the run
    with pytest.raises(UserError, match=r"is 50, .* \(the log is elsewhere/\.refused-log\.csv\)$"):
        execute(script(here, percent), Path("elsewhere"))


def test_a_log_whose_script_ends_with_an_error_is_left_too(here):
    half = "open('log.csv', 'w').write('step,loss\\n0,1\\n')\nraise SystemExit('out of luck')\n"
    with pytest.raises(UserError, match=r"out of luck \(the log is (\S+)\)$") as error:
        execute(script(here, half))
    assert saved_log(here, error) == "step,loss\n0,1\n"


def test_members_of_a_script_log_at_the_same_steps(here):
    own = "import sys\nopen('log.csv', 'w').write(f'step,loss\\n{sys.argv[1]},1\\n')\n"
    with pytest.raises(UserError, match="logged at step 4 where the first member is at 3"):
        execute(script(here, own))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_job_that_is_stopped_stops_its_script_and_what_that_started(here, number):
    loop = f"""import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
with open({str(here / "pids.tmp")!r}, "w") as file:
    print(os.getpid(), child.pid, file=file)
os.rename({str(here / "pids.tmp")!r}, {str(here / "pids")!r})
time.sleep(60)
"""
    spec = script(here, loop)
    run = layout.run_folder(hashing.of(spec)[:12])
    job = job_file(layout.spec_path("run", run), "run", spec, [READER])
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
    code += "from pathlib import Path; from grokatlas.rules import train;"
    code += f"train.execute(Path({str(job)!r}), Path({str(run)!r}), 'cpu', 1, 300.0)"
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL) as process:
        pids = list(map(int, _when_there(here / "pids").split()))
        process.send_signal(number)
        assert process.wait(timeout=30)
    assert all(_ended(pid) for pid in pids)


def _when_there(file):
    for _ in range(600):
        if file.exists():
            return file.read_text()
        time.sleep(0.05)
    raise AssertionError(f"no {file}")


def _ended(pid: int) -> bool:
    """True if a process ends within some seconds; one that nobody waits for is a zombie."""
    for _ in range(200):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z"):
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False
