"""What one checkout recorded, a fresh clone draws, judges and verifies, with nothing trained."""

import json
import shutil
import subprocess

import pandas as pd
import pytest

from tests.tiers import exhaustive
from tests.workflow.conftest import Checkout, copy_checkout

pytestmark = pytest.mark.workflow
FIGURE = "results/smoke/figures/geometry/fig1.pdf"
UNFINISHED = "zero_loss_sets"
TABLE = "results/smoke/tables/geometry/two_weights.parquet"


def git(checkout: Checkout, *arguments: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@b.example"]
    subprocess.run(["git", *who, *arguments], cwd=checkout.folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Checkout:
    """A repository in which one figure was made, and its experiment recorded and committed."""
    checkout = copy_checkout(tmp_path_factory.mktemp("recorded") / "atlas")
    (checkout.folder / ".gitignore").write_text("/results/\n/.snakemake/\n__pycache__/\n")
    git(checkout, "init", "--quiet")
    git(checkout, "add", "--all")
    git(checkout, "commit", "--quiet", "--message", "the code")
    first, *_ = sorted(checkout.runs(UNFINISHED))
    checkout.make(FIGURE, f"{first}/history.parquet")
    done = checkout.grokatlas("record", "--scale", "smoke")
    assert done.returncode == 0, done.stderr
    assert "geometry/two_weights: " in done.stdout
    assert "(1 of 3 runs so far)" in done.stdout
    git(checkout, "add", "--all")
    git(checkout, "commit", "--quiet", "--message", "the evidence")
    return checkout


@pytest.fixture
def clone(recorded, tmp_path) -> Checkout:
    """A fresh clone of it."""
    subprocess.run(["git", "clone", "-q", recorded.folder, tmp_path / "clone"], check=True)
    return Checkout(tmp_path / "clone")


def test_a_clone_draws_what_was_recorded_and_all_of_it_verifies(recorded, clone):
    told = clone.told("restore", "--scale", "smoke")
    assert "drew 1 of 5 figures and tables" in told
    assert told.splitlines()[-1] == "results/smoke/atlas/index.html"
    csv = FIGURE.replace(".pdf", ".csv")
    assert (clone.folder / csv).read_bytes() == (recorded.folder / csv).read_bytes()
    done = clone.grokatlas("verify", "--json", "-")
    receipt = json.loads(done.stdout)
    assert receipt["passed"], done.stdout
    assert {name for name, count in receipt["counts"].items() if count} == {"ok", "not kept"}
    assert clone.jobs(FIGURE) == []
    done = clone.grokatlas("explain", "geometry/fig1")
    assert "its files were not kept" in done.stdout
    assert "missing" not in done.stdout
    assert "(clean)" in done.stdout


@exhaustive
@pytest.mark.parametrize("name", ["EROFS", "ENOENT", "ENOSYS", "ENOSPC"])
def test_without_semaphores_figures_are_drawn_one_after_the_other(clone, name):
    """As where /dev/shm is missing, closed or full."""
    preamble = (
        "import errno, os, _multiprocessing\n"
        "class SemLock(_multiprocessing.SemLock):\n"
        "    def __new__(cls, *given, **named):\n"
        f"        raise OSError(errno.{name}, os.strerror(errno.{name}))\n"
        "_multiprocessing.SemLock = SemLock\n"
    )
    (clone.folder / "src/sitecustomize.py").write_text(preamble)
    told = clone.told("restore", "--scale", "smoke")
    assert "drew 1 of 5 figures and tables" in told
    assert (clone.folder / FIGURE).is_file()


@exhaustive
def test_a_restyled_figure_is_drawn_from_the_recorded_table(clone):
    clone.told("restore", "--scale", "smoke")
    clone.edit("src/grokatlas/papers/geometry/fig1.py", "height=2.6", "height=2.7")
    assert clone.jobs(FIGURE) == ["figure geometry/fig1"]


@exhaustive
def test_an_unfinished_experiment_goes_on_in_a_clone(clone):
    first, *others = (run.removeprefix("results/runs/") for run in sorted(clone.runs(UNFINISHED)))
    fresh = clone.jobs("results/smoke/figures/geometry/fig3.pdf")
    assert {f"train {run}" for run in (first, *others)} <= {*fresh}
    clone.told("restore", "--scale", "smoke")
    left = clone.jobs("results/smoke/figures/geometry/fig3.pdf")
    assert {job for job in left if job.startswith("train")} == {f"train {run}" for run in others}
    assert {job for job in left if job.startswith("table")} == {f"table geometry/{UNFINISHED}"}
    clone.make("results/smoke/figures/geometry/fig3.pdf")


@exhaustive
def test_a_data_set_that_was_left_out_is_made_for_other_runs_alone(clone):
    first = min(clone.runs(UNFINISHED)).removeprefix("results/runs/")
    clone.told("restore", "--scale", "smoke")
    two_rates = "  sweep: {optimizer.lr: [0.05, 0.04]}\n  cases:\n    curved:"
    clone.edit("config/papers/geometry/experiments.yaml", "  cases:\n    curved:", two_rates)
    jobs = clone.jobs("results/smoke/figures/geometry/fig3.pdf")
    assert sum(job.startswith("dataset") for job in jobs) == 3
    assert sum(job.startswith("train") for job in jobs) == 5
    assert f"train {first}" not in jobs


@exhaustive
def test_results_of_earlier_code_are_drawn_and_told(clone):
    path = "src/grokatlas/components/optimizers/gd.py"
    text = (clone.folder / path).read_text(encoding="utf-8")
    (clone.folder / path).write_text(f"{text}\nEARLIER = 1\n", encoding="utf-8")
    done = clone.grokatlas("restore", "--scale", "smoke")
    assert "drew 1 of 5 figures and tables" in done.stdout
    assert "1 of 6 results are made by earlier code" in done.stderr
    receipt = json.loads(clone.grokatlas("verify", FIGURE, "--json", "-").stdout)
    assert receipt["files"][FIGURE]["verdict"] == "stale-code"
    assert "tables that earlier code made" in clone.grokatlas("explain", "geometry/fig1").stdout
    assert "; 2 would be made otherwise now" in clone.grokatlas("recorded").stdout
    assert "train" in " ".join(clone.jobs(FIGURE))


def test_bad_archives_are_a_line_each_and_the_others_are_restored(clone):
    folder = clone.folder / "recorded/smoke/geometry"
    good, unfinished = folder / "two_weights.zip", folder / "zero_loss_sets.zip"
    shutil.copyfile(good, folder / "three_weights.zip")
    shutil.copyfile(unfinished, folder / "isolated_dynamics.zip")
    shutil.copyfile(good, folder / "two_weight.zip")
    unfinished.write_bytes(unfinished.read_bytes()[:-100])
    done = clone.grokatlas("restore", "--scale", "smoke")
    assert done.returncode == 1
    for line in (
        "zero_loss_sets.zip: is damaged or truncated",
        "three_weights.zip: holds what is behind results/smoke/tables/geometry/two_weights",
        "isolated_dynamics.zip: holds what is behind results/smoke/tables/geometry/zero_loss_sets",
        "two_weight.zip: no paper declares geometry/two_weight;",
    ):
        assert line in done.stdout
    assert "drew 1 of 5 figures and tables" in done.stdout
    assert (clone.folder / "results/smoke/atlas/index.html").is_file()
    assert "recorded/smoke: 4 of 5 archives are left out" in done.stderr.splitlines()[-1]


def test_restore_and_snakemake_end_with_the_same_in_either_order(clone, recorded, tmp_path):
    """Also for a run that both need, of which the archive holds no more than the records."""
    subprocess.run(["git", "clone", "-q", recorded.folder, tmp_path / "other"], check=True)
    other = Checkout(tmp_path / "other")
    steps = [
        lambda checkout: checkout.snakemake("--cores", "1", FIGURE.replace("fig1", "fig3")),
        lambda checkout: checkout.grokatlas("restore", "--scale", "smoke"),
    ]
    ends = []
    for checkout, order in ((clone, steps), (other, [*reversed(steps), steps[1]])):
        for step in order:
            done = step(checkout)
            assert done.returncode == 0, done.stderr
        folder = checkout.folder / "results/smoke"
        drawn = sorted(path.relative_to(folder) for path in folder.glob("figures/*/*.csv"))
        judged = pd.read_csv(folder / "claims.csv").drop(columns=["commit", "code"])
        ends.append((drawn, judged.to_csv(), _lineage(checkout)))
    assert ends[0] == ends[1]
    (lineage,) = {each[2] for each in ends}
    assert "data set" in lineage


def _lineage(checkout: Checkout) -> str:
    """The lines of `explain` that name a result, without digests."""
    text = checkout.grokatlas("explain", "geometry/fig3").stdout
    names = ("run ", "data set ", "table ", "measure ")
    return "\n".join(
        line.partition(":")[0] for line in text.splitlines() if line.strip().startswith(names)
    )


@exhaustive
def test_what_is_here_already_stays(recorded, clone):
    done = clone.snakemake("--cores", "1", FIGURE)  # in a clone of another commit
    assert done.returncode == 0, done.stderr
    manifest = clone.folder / TABLE.replace(".parquet", ".manifest.json")
    before = manifest.read_bytes()
    clone.told("restore", "--scale", "smoke")
    assert manifest.read_bytes() == before


def test_results_of_no_commit_are_not_recorded(checkout):
    done = checkout.grokatlas("record", "--scale", "smoke")
    assert (done.returncode, done.stdout) == (1, "")
    assert "this checkout: is in no repository, or git does not work" in done.stderr
