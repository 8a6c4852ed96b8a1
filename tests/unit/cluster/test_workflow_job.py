"""A job of `profiles/slurm/workflow.sh`, with a Slurm and a Snakemake of small scripts."""

import fcntl
import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.unit.cluster.pretended_slurm import cluster

CALL = ("--config", "scale=smoke", "--", "results/a figure.pdf")
JOB, NEXT = "11 RUNNING grokatlas-workflow (null)", "12 PENDING grokatlas-workflow (null)"
RULE = "9e34-a1 rule_train_wildcards_88f7cb2170a7"
RUN = "results/runs/88f7cb2170a7/.state"
LOCKS = ".snakemake/locks"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The checkout on the node of job 11, whose next job is 12 once it is submitted."""
    made = cluster(tmp_path / "my atlas", monkeypatch)
    for name, value in {"ID": "11", "NAME": "grokatlas-workflow", "PARTITION": "cpu"}.items():
        monkeypatch.setenv(f"SLURM_JOB_{name}", value)
    (made.folder / RUN).mkdir(parents=True)
    (made.folder / ".snakemake").mkdir()
    made.queue(JOB)
    queue = made.folder.parent / "queue"
    made.program("sbatch", f'echo "{NEXT.replace(" ", "|")}|{made.folder}" >> "{queue}"')
    return made


def _start(here, after: str = "") -> subprocess.Popen:
    """A job at work; Slurm passes on the environment."""
    return subprocess.Popen(
        ["bash", "profiles/slurm/workflow.sh", *CALL],
        cwd=here.folder,
        env={**os.environ, "GROKATLAS_AFTER": after},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def _run(here, after: str = "") -> tuple[int, str]:
    """The exit code of a job, and what it says last."""
    job = _start(here, after)
    said, _ = job.communicate(timeout=60)
    return job.returncode, said


def _write_and_wait(here, trap: str = "") -> Path:
    """Let Snakemake write its process into a file, then work for long; this file."""
    lock = f"mkdir -p {LOCKS}; touch {LOCKS}/0.lock"
    here.snakemake(f"{trap}\n{lock}; echo $$ > process; while :; do read -t 1 <> fifo; done")
    os.mkfifo(here.folder / "fifo")
    return here.folder / "process"


def _lives(number: int) -> bool:
    """Whether a process runs; one that has ended may wait for its parent."""
    try:
        return psutil.Process(number).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _until(holds) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_next_job_is_submitted_first_and_cancelled_when_all_is_made(here):
    here.snakemake('grep -q "^12" ../queue')
    code, said = _run(here)
    assert code == 0
    assert said.splitlines()[-1].endswith("job 11: all is made; no job follows")
    (call,) = here.calls("sbatch")
    given = ["--dependency=afterany:11", "--time=2:00:00", "--partition=cpu"]
    assert call[:3] == given
    assert call[-len(CALL) :] == list(CALL)
    assert Path(call[3]).name == "workflow.sh"
    assert here.calls("scancel") == [["12"]]
    snakemake = ["-m", "snakemake", "--profile", "profiles/slurm", "--local-cores", "1", *CALL]
    assert here.calls("python") == [snakemake]


def test_account_and_qos_are_those_of_the_job_before(here, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ACCOUNT", "physics")
    monkeypatch.setenv("SLURM_JOB_QOS", "night")
    _run(here)
    assert here.calls("sbatch")[0][3:5] == ["--account=physics", "--qos=night"]


def test_a_workflow_that_fails_ends(here):
    here.snakemake("exit 1")
    code, said = _run(here)
    assert code == 1
    assert "Snakemake failed (exit code 1)" in said.splitlines()[-1]
    assert here.calls("scancel") == [["12"]]


def test_after_a_snakemake_that_was_killed_the_next_job_removes_its_lock(here):
    here.snakemake(f"mkdir -p {LOCKS}; touch {LOCKS}/0.lock; kill -9 $$")
    code, said = _run(here)
    assert code == 0
    assert said.splitlines()[-1].endswith("ended by signal 9; job 12 follows")
    assert here.calls("scancel") == []
    here.snakemake(f"[ ! -e {LOCKS} ]")
    assert _run(here, after="11")[0] == 0


@pytest.mark.parametrize("deaf", [True, False])
def test_before_its_time_is_over_a_job_ends_snakemake_and_hands_over(here, deaf):
    well = f"trap 'echo drawn > figure; rm -r {LOCKS}; exit 1' TERM"
    process = _write_and_wait(here, "trap '' TERM" if deaf else well)
    job = _start(here)
    _until(lambda: process.exists() and process.read_text().strip())
    job.send_signal(signal.SIGUSR1)
    said, _ = job.communicate(timeout=20)
    assert job.returncode == 0
    assert said.splitlines()[-1].endswith("job 12 follows")
    assert here.calls("scancel") == []
    assert (here.folder / "figure").exists() != deaf
    assert not _lives(int(process.read_text()))
    (here.folder / LOCKS).mkdir(exist_ok=True)  # perhaps of a Snakemake on the login node
    here.snakemake("exit 0")
    _run(here, after="11")
    assert (here.folder / LOCKS).exists() != deaf


def test_a_lock_of_another_snakemake_stays(here):
    here.lock()
    here.snakemake(f"[ -e {LOCKS} ] && exit 1")
    assert _run(here)[0] == 1
    assert (here.folder / LOCKS).exists()


def test_it_says_so_if_somebody_cancelled_the_next_job(here):
    here.snakemake("sed -i /^12/d ../queue; kill -9 $$")
    code, said = _run(here)
    assert code == 0
    assert said.splitlines()[-1].endswith("; no job follows")


def test_after_a_job_that_was_cancelled_nothing_is_submitted(here):
    for program in ("scontrol", "sacct"):  # Slurm's memory is short
        here.program("scontrol", "exit 1")
        state = "   JobState=CANCELLED Reason=None" if program == "scontrol" else "CANCELLED by 0"
        here.program(program, f"echo '{state}'")
        code, said = _run(here, after="10")
        assert code == 0
        assert "job 10 was cancelled; no job follows" in said
    assert here.calls("sbatch") == here.calls("python") == []


@pytest.mark.parametrize("ending", ["TIMEOUT", "NODE_FAIL", "FAILED", "OUT_OF_MEMORY"])
def test_after_any_other_end_the_next_job_starts_snakemake(here, ending):
    here.program("scontrol", f"echo '   JobState={ending} Reason=None'")
    assert _run(here, after="10")[0] == 0
    assert len(here.calls("python")) == 1


def test_jobs_that_were_left_are_waited_for_and_other_jobs_are_not(here):
    here.queue(JOB, "13 RUNNING bash (null)", f"8 PENDING {RULE}")
    here.snakemake("grep -q rule_ ../queue && exit 1; exit 0")
    job = _start(here)
    _until(lambda: here.calls("sbatch"))
    time.sleep(1)
    assert here.calls("python") == []
    here.queue(JOB, NEXT, "13 RUNNING bash (null)")
    job.communicate(timeout=20)
    assert job.returncode == 0


def test_jobs_of_another_checkout_are_not_waited_for(here):
    queue = here.folder.parent / "queue"
    queue.write_text(f"{queue.read_text()}8|RUNNING|{RULE.replace(' ', '|')}|/other{here.folder}\n")
    assert _run(here)[0] == 0


def test_a_job_that_waits_hands_over_too(here):
    here.queue(JOB, NEXT, f"9 RUNNING {RULE}")
    job = _start(here)
    _until(lambda: len(here.calls("squeue")) > 4)
    job.send_signal(signal.SIGUSR1)
    said, _ = job.communicate(timeout=20)
    assert said.splitlines()[-1].endswith("job 12 follows")
    assert here.calls("python") == here.calls("scancel") == []


def test_a_job_waits_for_the_snakemake_of_the_one_before(here):
    """Slurm may take a node for lost whose processes live on."""
    with (here.folder / ".snakemake/grokatlas_workflow.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        job = _start(here, after="10")
        _until(lambda: here.calls("sbatch"))
        time.sleep(1)
        assert here.calls("python") == []
    job.communicate(timeout=20)
    assert job.returncode == 0
    assert len(here.calls("python")) == 1


def test_a_job_that_is_cancelled_ends_its_snakemake(here):
    process = _write_and_wait(here, "trap '' TERM")
    job = _start(here)
    _until(lambda: process.exists() and process.read_text().strip())
    job.terminate()
    job.communicate(timeout=20)
    _until(lambda: not _lives(int(process.read_text())))


def test_the_snakemake_of_a_killed_job_holds_that_file(here):
    process = _write_and_wait(here)
    job = _start(here)
    _until(lambda: process.exists() and process.read_text().strip())
    job.kill()
    number = int(process.read_text())
    with (here.folder / ".snakemake/grokatlas_workflow.lock").open("w") as lock:
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.kill(number, signal.SIGKILL)
        fcntl.flock(lock, fcntl.LOCK_EX)
    job.communicate()


@pytest.mark.parametrize("left", ["snapshot-0000000000.safetensors", "notes.json"])
def test_three_starts_that_make_nothing_end_the_workflow(here, left):
    here.snakemake(f"date +%N > {RUN}/{left}; kill -9 $$")  # before the first save
    for k in range(3):
        assert _run(here, after="10" * bool(k))[0] == 0
    code, said = _run(here, after="10")
    assert code == 1
    assert "Snakemake was started 3 times, and nothing was made or saved since" in said
    assert len(here.calls("python")) == 3
    assert here.calls("scancel") == [["12"]]
    assert _run(here)[0] == 0  # submitted again: it is counted anew


@pytest.mark.parametrize("made", [f"touch {RUN}/state.json", "touch results/$$.manifest.json"])
def test_what_is_made_or_saved_lets_the_workflow_go_on(here, made):
    here.snakemake(f"{made}; kill -9 $$")
    for k in range(5):
        assert _run(here, after="10" * bool(k))[0] == 0
    assert len(here.calls("python")) == 5


def test_a_disk_that_cannot_be_written_ends_the_workflow(here):
    (here.folder / ".snakemake/grokatlas_workflow.starts").mkdir()
    code, said = _run(here, after="10")
    assert code == 1
    assert "the disk cannot be written; no job follows" in said
    assert here.calls("scancel") == [["12"]]


def test_slurm_is_asked_again_for_the_next_job(here):
    queue = here.folder.parent / "queue"
    submit = f'echo "{NEXT.replace(" ", "|")}|{here.folder}" >> "{queue}"'
    here.program("sbatch", f"cd ..; [ -e there ] && {submit} && exit; touch there; exit 1")
    assert _run(here)[0] == 0
    assert len(here.calls("sbatch")) == 2


def test_a_job_that_slurm_took_without_an_answer_is_not_submitted_again(here):
    here.queue(JOB, NEXT)
    assert _run(here)[0] == 0
    assert here.calls("sbatch") == []


def test_without_a_next_job_nothing_is_started(here):
    here.program("sbatch", "echo 'sbatch: error: limit of jobs' >&2; exit 1")
    code, said = _run(here)
    assert code == 1
    assert "the next job could not be submitted; no job follows" in said
    assert here.calls("python") == []
