"""`grokatlas submit` on a login node, with a Slurm of small scripts."""

import shlex
import shutil
import sys
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.operate import heads, slurm, submit
from tests.unit.operate.pretended_slurm import ROOT, cluster

TARGET = "results/smoke/figures/geometry/fig3.pdf"


@pytest.fixture
def here(tmp_path, monkeypatch):
    return cluster(tmp_path / "my atlas", monkeypatch)


def _submit(capsys, *arguments: str) -> tuple[int, str, str]:
    code = cli.main(["submit", *arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_one_small_job_is_submitted_that_runs_snakemake_as_it_was_asked_for(here, capsys):
    options = ("--config", "scale=smoke", "papers=[geometry]", "--", TARGET)
    code, out, err = _submit(capsys, "--profile", "slurm", "--time", "2h", *options)
    assert (code, err) == (0, "")
    (call,) = here.calls("sbatch")
    asked = ("--time=120", "--partition=cpu", "--cpus-per-task=1", "--signal=B:USR1@60")
    for option in (*asked, f"--chdir={here.folder}", "--no-requeue"):
        assert option in call
    assert not [option for option in call if "gpu" in option or "dependency" in option]
    (wrap,) = [option.removeprefix("--wrap=") for option in call if option.startswith("--wrap=")]
    ignoring, _, run = wrap.partition("; exec ")
    assert ignoring == "trap '' USR1"
    program, *module, order, after = shlex.split(run)
    assert (program, module, after) == (sys.executable, ["-m", "grokatlas.operate.head"], "")
    assert heads.order_of(order).snakemake()[-len(options) :] == list(options)
    assert "job 12 is submitted" in out
    assert ".snakemake/slurm_logs/head.log" in out
    assert "grokatlas submit --cancel" in out


def test_the_plan_is_looked_at_with_the_same_options(here, capsys):
    code, out, _ = _submit(capsys, "-n", "--config", "scale=smoke")
    assert code == 0
    assert "8 jobs are to be made" in out
    (call,) = here.calls("python")
    assert call[:4] == ["-m", "snakemake", "--profile", "slurm"]
    assert call[6:8] == ["--config", "scale=smoke"]
    assert "--dry-run" in call
    assert here.calls("sbatch") == []


def test_an_option_that_silences_snakemake_does_not_hide_the_plan(here, capsys):
    assert _submit(capsys, "--quiet", "all", "--", TARGET)[0] == 0
    (call,) = here.calls("python")
    assert call[-7:] == ["--dry-run", "--nolock", "--quiet", "rules", "host", "--", TARGET]
    assert len(here.calls("sbatch")) == 1


def test_snakemakes_other_spelling_only_looks_too(here, capsys):
    assert _submit(capsys, "--dryrun")[0] == 0
    assert here.calls("sbatch") == []


def test_where_nothing_is_left_to_make_nothing_is_submitted(here, capsys):
    here.snakemake("echo 'Nothing to be done'")
    code, out, _ = _submit(capsys)
    assert code == 0
    assert out.splitlines()[-1].endswith("nothing is left to make")
    assert here.calls("sbatch") == []


def _edit(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new))


LIMITED = "  cpu: {max_runtime: 90m}\n"


@pytest.mark.parametrize(
    ("arguments", "partitions", "expected"),
    [
        ((), "  cpu: {}\n", ("cpu", 4320)),
        ((), LIMITED, ("cpu", 90)),
        ((), "  cpu: {max_runtime: 90}\n  long: {}\n", ("long", 4320)),
        (("--time", "4-00:00:00"), "  long: {}\n", ("long", 5760)),
        (("--time", "1d12h", "--partition", "gpu"), LIMITED, ("gpu", 2160)),
    ],
)
def test_partition_and_time_are_those_of_the_profile_or_as_given(
    here, capsys, arguments, partitions, expected
):
    _edit("profiles/slurm/partitions.yaml", "  cpu: {}\n", partitions)
    assert _submit(capsys, *arguments)[0] == 0
    (call,) = here.calls("sbatch")
    name, minutes = expected
    assert f"--partition={name}" in call
    assert f"--time={minutes}" in call


def test_the_account_and_the_qos_of_the_profile_are_asked_for(here, capsys):
    text = "\n  slurm_account: \"'physics'\"\nslurm-qos: night\n"
    _edit("profiles/slurm/config.yaml", "\n  # slurm_account: \"'myproject'\"\n", text)
    assert _submit(capsys)[0] == 0
    (call,) = here.calls("sbatch")
    assert "--account=physics" in call
    assert "--qos=night" in call


@pytest.mark.parametrize(
    ("change", "arguments", "told"),
    [
        (lambda here: here.without("sbatch"), (), "sbatch: is not installed here; run this on a"),
        (lambda here: Path("Snakefile").unlink(), (), "has no Snakefile; run this in the checkout"),
        (None, ("--profile", "lsf"), "--profile lsf: no such profile; allowed: slurm, workstation"),
        (None, ("--profile", "workstation"), "its executor is not slurm"),
        (None, ("--time", "noon"), "--time noon: is no time; allowed: minutes such as 90, or 12h"),
        (None, ("--time", "0"), "--time 0: is no time"),
        (None, ("--time", "²"), "--time ²: is no time"),
        (None, ("--cancel", "-n"), "--cancel: ends a chain, and -n only looks; give one of the"),
        (None, ("--unlock",), "--unlock: makes nothing, so there is nothing to submit; give it"),
        (None, ("--unl",), "--unl: makes nothing"),
        (None, ("-S",), "-S: makes nothing"),
        (None, ("--executor", "touch"), "--executor: makes nothing"),
        (None, ("--report=a.html",), "--report: makes nothing"),
        (lambda here: here.snakemake("echo done"), (), "says neither how many jobs are to be made"),
        (
            None,
            ("--partition", "long", "--time", "8d"),
            "--time 8d: is more than partition long allows: 168 h 0 min",
        ),
        (None, ("--partition", "old"), "is not there, or is down; allowed: cpu, gpu, long"),
        (
            lambda here: _edit("profiles/slurm/partitions.yaml", "  cpu: {}\n", "  batch: {}\n"),
            (),
            "names no partition without GPU that is up; sinfo shows cpu, gpu, long; mend it",
        ),
        (
            lambda here: here.program("sinfo", "echo 'slurm_load: no controller' >&2; exit 1"),
            (),
            "sinfo: slurm_load: no controller; try again when Slurm answers",
        ),
        (
            lambda here: here.queue("7 PENDING grokatlas-head (null)"),
            (),
            "head job 7 is in the queue already; look with `grokatlas status`, end it by",
        ),
        (lambda here: here.lock(), (), "if it was killed: `grokatlas unlock`"),
        (
            lambda here: here.snakemake("echo '--config: papers.0: no paper' >&2; exit 1"),
            (),
            "snakemake --dry-run: --config: papers.0: no paper; mend it, nothing was submitted",
        ),
        (
            lambda here: here.program(
                "sbatch", "echo 'sbatch: error: invalid account' >&2; exit 1"
            ),
            (),
            "sbatch: error: invalid account; see the message",
        ),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_submitted(here, capsys, change, arguments, told):
    if change:
        change(here)
    code, out, err = _submit(capsys, *arguments)
    assert code == 1
    (line,) = err.splitlines()
    assert told in line
    assert "is submitted" not in out


def test_jobs_that_were_left_are_told_of(here, capsys):
    here.queue("7 RUNNING 9e34-a1 rule_train_wildcards_88f7cb2170a7", "8 RUNNING bash (null)")
    code, out, _ = _submit(capsys)
    assert code == 0
    assert "the head waits until 1 jobs that were left have ended" in out


def test_cancel_ends_heads_jobs_and_lock(here, capsys):
    left = ["7 RUNNING grokatlas-head (null)", "8 PENDING grokatlas-head (null)"]
    here.queue(*left, "9 RUNNING 9e34-a1 rule_train_wildcards_88f7cb2170a7")
    queue = here.folder.parent / "queue"
    here.program("scancel", f'for job in "$@"; do sed -i "/^$job|/d" "{queue}"; done')
    lock = here.lock()
    here.snakemake(f'rm "{lock}"')
    code, out, _ = _submit(capsys, "--cancel")
    assert code == 0
    assert "heads 7, 8 cancelled; 1 jobs cancelled, the folder is unlocked" in out
    assert here.calls("scancel") == [["7", "8"], ["9"]]
    assert here.calls("python") == [["-m", "snakemake", "--unlock"]]


def test_there_is_nothing_to_cancel_without_a_head(here, capsys):
    here.queue("9 RUNNING 9e34-a1 rule_train_wildcards_88f7cb2170a7")
    code, _, err = _submit(capsys, "--cancel")
    assert code == 1
    assert "no head of this checkout is in the queue; `grokatlas unlock`" in err
    assert here.calls("scancel") == []


def test_other_commands_still_refuse_what_they_do_not_know(capsys):
    with pytest.raises(SystemExit):
        cli.main(["status", "--nothing"])
    assert "unrecognized arguments: --nothing" in capsys.readouterr().err


def test_the_real_snakemake_takes_what_a_head_calls(tmp_path, monkeypatch):
    atlas = tmp_path / "atlas"
    for name in ("config", "profiles", "workflow"):
        shutil.copytree(ROOT / name, atlas / name)
    (atlas / "slurm").symlink_to("profiles/slurm")
    (atlas / "src").symlink_to(ROOT / "src")
    shutil.copy(ROOT / "Snakefile", atlas)
    monkeypatch.chdir(atlas)
    options = ("--config", "scale=smoke", "papers=[geometry]", "-q", "all", "--", TARGET)
    order = heads.Order("slurm", "cpu", 1, (), options)
    assert submit._left(order) == 8


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90", 90),
        ("30:00", 30),
        ("²", None),
        ("infinite", None),
        ("1d12h30m", 2190),
        ("4:00:00", 240),
        ("2-00:30:00", 2910),
        ("1.5h", None),
    ],
)
def test_times_are_minutes(text, expected):
    assert slurm.minutes(text) == expected


@pytest.mark.parametrize(
    ("scontrol", "sacct", "expected"),
    [
        ("echo 'JobId=7 JobName=a'; echo '   JobState=CANCELLED Reason=None'", ":", "CANCELLED"),
        ("exit 1", "echo 'CANCELLED by 0'", "CANCELLED"),
        ("exit 1", "exit 1", ""),
    ],
)
def test_slurm_is_asked_how_a_job_ended(here, scontrol, sacct, expected):
    here.program("scontrol", scontrol)
    here.program("sacct", sacct)
    assert slurm.ending("7") == expected


def test_a_job_that_is_submitted_from_a_job_knows_nothing_of_that_one(here, monkeypatch):
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "4000")
    monkeypatch.setenv("SLURM_CONF", "/etc/slurm/slurm.conf")
    monkeypatch.setenv("GROKATLAS_SAVE_EVERY", "60")
    here.program("sbatch", "env > env; echo '12;physics'")
    order = heads.Order("slurm", "cpu", 60, (), ())
    assert order.submit(here.folder, after="11") == "12"
    assert "--dependency=afterany:11" in here.calls("sbatch")[0]
    known = dict(line.split("=", 1) for line in Path("env").read_text().splitlines() if "=" in line)
    assert known["SLURM_CONF"] == "/etc/slurm/slurm.conf"
    assert known["GROKATLAS_SAVE_EVERY"] == "60"
    assert "SLURM_MEM_PER_NODE" not in known
