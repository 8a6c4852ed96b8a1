"""`grokatlas submit` on a login node, with a Slurm of small scripts."""

import shutil
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.cluster import slurm
from tests.checkout import program
from tests.unit.cluster.pretended_slurm import ROOT, cluster

TARGET = "results/smoke/figures/geometry/fig3.pdf"
QUEUED = "7 PENDING grokatlas-workflow (null)"
REFUSED = "echo '--config: papers.0: no paper' >&2; exit 1"
SCRIPT = "profiles/slurm/workflow.sh"


@pytest.fixture
def here(tmp_path, monkeypatch):
    return cluster(tmp_path / "my atlas", monkeypatch)


def _submit(capsys, *arguments: str) -> tuple[int, str, str]:
    code = cli.main(["submit", *arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_the_script_is_submitted_with_the_arguments_of_snakemake(here, capsys):
    options = ("--config", "scale=smoke", "papers=[geometry]", "--", TARGET)
    here.program("sbatch", 'echo "$PATH" > path; echo "12;physics"')
    code, out, err = _submit(capsys, "--time", "2:00:00", "--partition", "long", *options)
    assert (code, err) == (0, "")
    asked = ["--parsable", "--time=2:00:00", "--partition=long", SCRIPT, *options]
    assert here.calls("sbatch") == [asked]
    (plan,) = here.calls("python")
    looks = ["--dry-run", "--nolock", "--quiet", "--", TARGET]
    assert plan == ["-m", "snakemake", "--profile", "profiles/slurm", *options[:3], *looks]
    assert out.startswith("job 12 is submitted")
    assert "scancel 12" in out
    assert Path(".snakemake/slurm_logs").is_dir()  # Slurm makes no folder for the log
    assert Path("path").read_text().startswith(f"{here.folder.parent}/programs:")


def test_the_job_number_is_the_last_line_that_is_one(here, capsys):
    here.program("sbatch", "echo 'Welcome, 2 nodes are down'; echo 7; echo 123456; echo Bye")
    assert _submit(capsys)[1].startswith("job 123456 is submitted")


@pytest.mark.parametrize("printed", ["", "Submitted batch job 7", "12a", "123_[0-3]"])
def test_what_names_no_job_is_an_error_with_what_was_printed(here, capsys, printed):
    here.program("sbatch", f"echo '{printed}'")
    code, out, err = _submit(capsys)
    assert (code, out) == (1, "")
    assert err.startswith(f"sbatch: printed no number of a job, but {printed!r}; look with")


@pytest.mark.parametrize(
    ("change", "arguments", "expected"),
    [
        (lambda here: here.without("sbatch"), (), "takes sbatch and profiles/slurm/workflow.sh;"),
        (lambda here: Path(SCRIPT).unlink(), (), "run it on a login node, in the checkout"),
        (None, ("--cancel",), "--cancel: is no option of submit; `scancel` the jobs that"),
        (None, ("-n",), "-n: is no option of submit; `snakemake --profile slurm -n` shows"),
        (lambda here: here.queue(QUEUED), (), "is in jobs 7 (pending); `scancel` them to end it"),
        (lambda here: here.lock(), (), "if a Snakemake was killed here, run `grokatlas unlock`"),
        (lambda here: here.snakemake(REFUSED), (), "papers.0: no paper; mend it, nothing was sub"),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_submitted(
    here, capsys, change, arguments, expected
):
    if change:
        change(here)
    code, out, err = _submit(capsys, *arguments)
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert expected in line
    assert here.calls("sbatch") == []


def test_what_slurm_refuses_is_one_line(here, capsys):
    here.program("sbatch", "echo 'sbatch: error: invalid account' >&2; exit 1")
    code, _, err = _submit(capsys)
    assert code == 1
    assert err.startswith("sbatch: error: invalid account; ")


def test_other_commands_still_refuse_what_they_do_not_know(capsys):
    assert cli.main(["status", "--nothing"]) == 2
    assert "takes no --nothing; see grokatlas status --help" in capsys.readouterr().err


def test_the_real_snakemake_takes_what_is_asked_of_it(tmp_path, monkeypatch, capsys):
    atlas = tmp_path / "atlas"
    for name in ("config", "profiles", "workflow"):
        shutil.copytree(ROOT / name, atlas / name)
    (atlas / "src").symlink_to(ROOT / "src")
    shutil.copy(ROOT / "Snakefile", atlas)
    monkeypatch.chdir(atlas)
    for name, text in {"sbatch": "echo 12", "squeue": ":"}.items():
        program(tmp_path / "programs" / name, text)
    monkeypatch.setenv("PATH", str(tmp_path / "programs"), prepend=":")
    options = ("--config", "scale=smoke", "papers=[geometry]", "--", TARGET)
    assert _submit(capsys, *options)[0] == 0
    wrong = ("--config", "scale=smoke", "papers=[geometri]")
    assert "geometri" in _submit(capsys, *wrong)[2]


TIMES = {"90": 90, "30:00": 30, "4:00:00": 240, "2-00:30:00": 2910}
TIMES |= dict.fromkeys(("²", "infinite", "1.5h"))


@pytest.mark.parametrize("text", TIMES)
def test_times_are_minutes(text):
    assert slurm.minutes(text) == TIMES[text]
