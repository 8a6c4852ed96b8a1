"""A head job, with a Slurm and a Snakemake of small scripts."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from grokatlas.operate import head, heads
from grokatlas.results import locks
from tests.tiers import every
from tests.unit.operate.pretended_slurm import cluster

ORDER = heads.Order("slurm", "cpu", 1, (), ("--config", "scale=smoke"))
RULE = "9e34-a1 rule_train_wildcards_88f7cb2170a7"
RUN = "results/runs/88f7cb2170a7"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The checkout on the node of head 11, whose successor is 12."""
    made = cluster(tmp_path / "atlas", monkeypatch)
    monkeypatch.setenv("SLURM_JOB_ID", "11")
    monkeypatch.setattr(head, "PAUSE", 0.05)
    monkeypatch.setattr(head, "LOOK", 0.05)
    before = signal.getsignal(signal.SIGUSR1)
    made.queue("11 RUNNING grokatlas-head (null)", "12 PENDING grokatlas-head (null)")
    yield made
    signal.signal(signal.SIGUSR1, before)


def _run(capfd, after: str = "") -> tuple[int, str]:
    """The exit code of a head, and what it says."""
    code = head.Head(ORDER, after).run()
    return code, capfd.readouterr().out


def _time_is_over(seconds: float, written: Path | None = None) -> None:
    """What Slurm does a minute before the time limit; not before a file is written."""

    def ask():
        while written is not None and not (written.exists() and written.read_text().strip()):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGUSR1)

    threading.Timer(seconds, ask).start()


def test_a_head_submits_its_successor_and_cancels_it_when_all_is_made(here, capfd):
    here.snakemake(f'[ -s "{here.folder.parent}/calls" ] && grep -q sbatch ../calls')
    code, said = _run(capfd)
    assert code == 0
    assert said.splitlines()[-1].endswith("head 11: all is made")
    assert "--dependency=afterany:11" in here.calls("sbatch")[0]
    assert here.calls("scancel") == [["12"]]
    (call,) = here.calls("python")
    assert call == ["-m", "snakemake", "--profile", "slurm", "--local-cores", "1", *ORDER.options]
    assert heads.state(here.folder)["owner"] is None


def test_a_workflow_that_fails_ends_the_chain(here, capfd):
    here.snakemake("exit 1")
    code, said = _run(capfd)
    assert code == 1
    assert "a job failed for good" in said
    assert "the chain ends" in said
    assert here.calls("scancel") == [["12"]]


def test_after_a_snakemake_that_was_killed_the_successor_goes_on(here, capfd):
    here.lock()
    heads.keep(here.folder, {"owner": "10"})
    lock = here.folder / ".snakemake/locks/0.output.lock"
    unlock = f'case "$*" in *--unlock*) rm "{lock}"; exit 0;; esac'
    here.snakemake(f'{unlock}; echo a > "{lock}"; kill -9 $$')
    code, said = _run(capfd)
    assert code == 0
    assert "Snakemake was ended by signal 9; job 12 goes on" in said
    assert here.calls("scancel") == []
    assert heads.state(here.folder)["owner"] == "11"  # its lock is still there


@pytest.mark.parametrize("deaf", [True, False])
def test_before_its_time_is_over_a_head_ends_snakemake_and_hands_over(
    here, capfd, monkeypatch, deaf
):
    monkeypatch.setattr(head, "DRAIN", 0.5 if deaf else 15.0)
    lock = here.folder / ".snakemake/locks/0.output.lock"
    lock.parent.mkdir(parents=True)
    well = f"trap 'echo drawn > figure; rm \"{lock}\"; exit 1' TERM"
    trap = "trap '' TERM" if deaf else well
    here.snakemake(
        f"echo a > '{lock}'; {trap}; echo $$ > process; for k in $(seq 300); do sleep 0.1; done; :"
    )
    _time_is_over(0.0, here.folder / "process")
    began = time.monotonic()
    code, said = _run(capfd)
    assert time.monotonic() - began < 20
    assert code == 0
    assert "job 12 follows" in said
    assert here.calls("scancel") == []
    assert (here.folder / "figure").exists() != deaf
    with pytest.raises(ProcessLookupError):
        os.kill(int((here.folder / "process").read_text()), 0)
    # the lock that is found next is this head's only if Snakemake left one
    assert heads.state(here.folder)["owner"] == ("11" if deaf else None)
    lock = locks.acquire(here.folder / heads.LOCK)
    assert lock is not None
    lock.release()


def test_a_lock_that_somebody_takes_after_a_hand_over_stays(here, capfd):
    wait = "for k in $(seq 300); do sleep 0.1; done; :"
    here.snakemake(f"trap 'exit 0' TERM; echo $$ > process; {wait}")
    _time_is_over(0.0, here.folder / "process")
    assert _run(capfd)[0] == 0
    lock = here.lock()  # of a Snakemake on the login node
    code, said = _run(capfd)
    assert code == 1
    assert "locked by a Snakemake that is no head's" in said
    assert lock.exists()


def test_the_chain_ends_if_somebody_cancelled_the_successor(here, capfd, monkeypatch):
    monkeypatch.setattr(head, "DRAIN", 0.1)
    here.queue("11 RUNNING grokatlas-head (null)")
    here.snakemake("sleep 30")
    _time_is_over(1.0)
    code, said = _run(capfd)
    assert code == 0
    assert "the chain ends, as job 12 was cancelled; its jobs run on (`grokatlas unlock`" in said


def test_after_a_head_that_was_cancelled_nothing_is_submitted(here, capfd):
    here.program("scontrol", "echo JobId=10; echo '   JobState=CANCELLED Reason=None'")
    code, said = _run(capfd, after="10")
    assert code == 0
    assert "head 10 was cancelled, so the chain ends here" in said
    assert here.calls("sbatch") == here.calls("python") == []


@pytest.mark.parametrize("ending", ["TIMEOUT", "NODE_FAIL", "FAILED", "OUT_OF_MEMORY"])
def test_after_any_other_end_the_next_head_goes_on(here, capfd, ending):
    here.program("scontrol", f"echo '   JobState={ending} Reason=None'")
    assert _run(capfd, after="10")[0] == 0
    assert len(here.calls("python")) == 1


def test_jobs_that_were_left_are_waited_for_and_other_jobs_are_not(here, capfd):
    others = ("11 RUNNING grokatlas-head (null)", "13 RUNNING bash (null)")
    here.queue(*others, f"8 PENDING {RULE}", f"9 RUNNING {RULE}")
    queue = here.folder.parent / "queue"
    here.snakemake(f'grep -q rule_ "{queue}" && exit 1; exit 0')

    def end_jobs():  # when the head has seen them
        while len(here.calls("squeue")) < 2:
            time.sleep(0.05)
        here.queue(*others)

    threading.Thread(target=end_jobs, daemon=True).start()
    code, said = _run(capfd)
    assert code == 0
    assert "waits for jobs that were submitted before: 1 pending, 1 running" in said
    assert len(here.calls("python")) == 1


def test_a_head_that_waits_hands_over_too(here, capfd):
    here.queue(f"9 RUNNING {RULE}", "12 PENDING grokatlas-head (null)")
    _time_is_over(0.5)
    code, said = _run(capfd)
    assert code == 0
    assert "job 12 follows" in said
    assert here.calls("python") == here.calls("scancel") == []


def test_the_lock_of_a_head_that_is_gone_is_removed(here, capfd):
    lock = here.lock()
    heads.keep(here.folder, {"owner": "10"})
    here.snakemake(f'case "$*" in *--unlock*) rm "{lock}";; *) [ ! -e "{lock}" ];; esac')
    code, said = _run(capfd, after="10")
    assert code == 0
    assert "the lock that head 10 left is removed" in said
    assert len(here.calls("python")) == 2


def test_the_lock_of_any_other_snakemake_stays(here, capfd):
    lock = here.lock()
    code, said = _run(capfd)
    assert code == 1
    assert "locked by a Snakemake that is no head's" in said
    assert lock.exists()
    assert here.calls("python") == []
    assert here.calls("scancel") == [["12"]]


def test_a_head_waits_for_the_process_of_the_one_before(here, capfd):
    """Slurm may take a node for lost whose processes live on."""
    (here.folder / ".snakemake").mkdir()
    lock = locks.acquire(here.folder / heads.LOCK)
    ended = []
    timer = threading.Timer(1.0, lambda: (ended.append(time.time()), lock.release()))
    timer.start()
    here.snakemake("date +%s.%N > started")
    assert _run(capfd)[0] == 0
    assert float((here.folder / "started").read_text()) > ended[0]


def test_three_starts_that_make_nothing_end_the_chain(here, capfd):
    lock = here.lock()
    heads.keep(here.folder, {"owner": "10"})
    unlock = f'case "$*" in *--unlock*) rm "{lock}"; exit 0;; esac'
    here.snakemake(f'{unlock}; echo "$*" >> started; echo a > "{lock}"; kill -9 $$')
    for _ in range(3):
        assert _run(capfd)[0] == 0
    code, said = _run(capfd)
    assert not lock.exists()  # the next chain can begin
    assert code == 1
    assert "Snakemake was started 3 times, and nothing was made or saved since" in said
    assert len((here.folder / "started").read_text().splitlines()) == 3
    assert here.calls("scancel") == [["12"]]


def test_an_attempt_that_dies_before_its_first_save_makes_nothing(here, capfd):
    (here.folder / RUN / ".state").mkdir(parents=True)
    begun = "date +%N > .state/notes.json; date +%N > .state/snapshot-0000000000.safetensors"
    here.snakemake(f"cd {RUN}; {begun}; kill -9 $$")
    for _ in range(3):
        assert _run(capfd)[0] == 0
    code, said = _run(capfd)
    assert code == 1
    assert "Snakemake was started 3 times, and nothing was made or saved since" in said


@pytest.mark.parametrize(
    "script",
    every(2, ["touch .state/state.json; kill -9 $$", "touch $$.manifest.json; kill -9 $$"]),
)
def test_what_is_made_or_saved_lets_the_chain_go_on(here, capfd, script):
    (here.folder / RUN / ".state").mkdir(parents=True)
    here.snakemake(f"cd {RUN}; {script}")
    for _ in range(5):
        assert _run(capfd)[0] == 0
    assert len(here.calls("python")) == 5


def test_a_disk_that_cannot_be_written_ends_the_chain(here, capfd, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(heads, "keep", full)
    code, said = _run(capfd)
    assert code == 1
    assert "No space left on device; the chain ends" in said
    assert here.calls("scancel") == [["12"]]


def test_slurm_is_asked_again_for_a_successor(here, capfd):
    here.queue("11 RUNNING grokatlas-head (null)")
    there = here.folder.parent / "there"
    here.program("sbatch", f'[ -e "{there}" ] && echo 12 && exit; touch "{there}"; exit 1')
    assert _run(capfd)[0] == 0
    assert len(here.calls("sbatch")) == 2
    assert len(here.calls("python")) == 1


def test_a_successor_that_slurm_took_without_an_answer_is_not_submitted_again(here, capfd):
    here.program("sbatch", "echo 'sbatch: error: timed out' >&2; exit 1")  # 12 is in the queue
    code, said = _run(capfd)
    assert code == 0
    assert "job 12 waits to follow" in said
    assert len(here.calls("sbatch")) == 1
    assert here.calls("scancel") == [["12"]]


def test_a_head_without_successor_says_so_when_its_time_is_over(here, capfd):
    here.queue("11 RUNNING grokatlas-head (null)")
    here.program("sbatch", "echo 'sbatch: error: limit of jobs' >&2; exit 1")
    _time_is_over(0.7)
    code, said = _run(capfd)
    assert code == 1
    assert "no successor could be submitted; the chain ends" in said
    assert "was cancelled" not in said
    assert here.calls("python") == []
