"""What was packed in one checkout is adopted in a fresh one: nothing is trained again."""

import filecmp
import shutil
from pathlib import Path

import pytest

from tests.tiers import exhaustive
from tests.workflow.conftest import Checkout, copy_checkout, once

pytestmark = pytest.mark.workflow
FIGURES = [
    "figure beyond_l2/fig1",
    "figure geometry/fig1",
    "figure geometry/fig2",
    "figure geometry/fig3",
    "figure geometry/fig4",
]


@pytest.fixture(scope="module")
def archives(finished, tmp_path_factory, worker_id) -> dict[str, Path]:
    def make(folder: Path) -> None:
        folder.mkdir()
        finished.told("pack", str(folder / "all.zip"), "--scale", "smoke")
        finished.told("pack", str(folder / "tables.zip"), "--tables-only")

    folder = once(tmp_path_factory, worker_id, "archives", make)
    return {"all": folder / "all.zip", "tables": folder / "tables.zip"}


# of the archive of tables alone, one test draws a figure
@pytest.fixture(params=["all", pytest.param("tables", marks=exhaustive)])
def fresh(request, archives, tmp_path) -> Checkout:
    """A fresh clone that adopted an archive."""
    checkout = copy_checkout(tmp_path / "clone")
    assert "adopted" in checkout.told("adopt", str(archives[request.param]))
    return checkout


def test_nothing_is_left_to_do(fresh):
    assert fresh.jobs() == []
    shutil.rmtree(fresh.folder / ".snakemake", ignore_errors=True)
    assert fresh.jobs() == []


def test_all_of_it_verifies(archives, tmp_path):
    checkout = copy_checkout(tmp_path / "clone")
    checkout.told("adopt", str(archives["all"]))
    assert checkout.told("verify").split(": ")[1].strip().endswith(" ok")


def test_a_figure_is_redrawn_from_tables_alone(archives, finished, tmp_path):
    clone = copy_checkout(tmp_path / "clone")
    clone.told("adopt", str(archives["tables"]))
    drawn = [f"results/smoke/figures/geometry/fig1{suffix}" for suffix in (".pdf", ".png", ".csv")]
    for file in drawn:
        (clone.folder / file).unlink()
    clone.make(drawn[0])
    for file in drawn:
        assert filecmp.cmp(clone.folder / file, finished.folder / file, shallow=False), file
    assert not list(clone.folder.glob("results/runs/*/history.parquet"))  # nothing was trained


@exhaustive
def test_every_figure_is_redrawn_from_tables_alone(fresh, finished):
    figures = Path("results/smoke/figures")
    shutil.rmtree(fresh.folder / figures)
    assert fresh.jobs() == FIGURES
    fresh.make()
    drawn = sorted(f.relative_to(fresh.folder) for f in fresh.folder.glob(f"{figures}/*/*.p*"))
    assert len(drawn) == 2 * len(FIGURES)
    for file in drawn:
        assert filecmp.cmp(fresh.folder / file, finished.folder / file, shallow=False), file
    assert fresh.jobs() == []


@exhaustive
def test_a_restyled_figure_is_redrawn_alone(fresh):
    path = fresh.folder / "src/grokatlas/papers/geometry/fig1.py"
    path.write_text(path.read_text(encoding="utf-8") + "\nSTYLE = 1\n", encoding="utf-8")
    assert fresh.jobs() == ["figure geometry/fig1"]
    fresh.make()


@exhaustive
def test_a_changed_experiment_is_made_again(fresh):
    """What does not fit is not taken on trust, with or without what was trained."""
    path = fresh.folder / "src/grokatlas/components/observables/losses.py"
    path.write_text(path.read_text(encoding="utf-8") + "\nCHANGED = 1\n", encoding="utf-8")
    assert any(job.startswith("train ") for job in fresh.jobs())
