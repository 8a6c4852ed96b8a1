"""Checkouts that share a run store: what one trained, another does not train."""

import filecmp
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tiers import exhaustive
from tests.workflow.conftest import Checkout, copy_checkout, once
from tests.workflow.test_archive import FIGURES
from tests.workflow.test_incremental import downstream

pytestmark = pytest.mark.workflow
TABLE = "results/smoke/tables/geometry/two_weights.parquet"


@pytest.fixture(scope="module")
def filled(finished, tmp_path_factory, worker_id) -> Path:
    """A store that holds every run of the finished checkout. Do not change it."""
    runs = sorted(
        path.relative_to(finished.folder) for path in finished.folder.glob("results/runs/*")
    )

    def make(folder: Path) -> None:
        folder.mkdir()
        said = finished.told("store", "add", "--store", str(folder), *map(str, runs))
        assert said == "".join(f"added {run}\n" for run in runs)

    return once(tmp_path_factory, worker_id, "store", make)


@pytest.fixture
def store(filled, tmp_path, monkeypatch) -> Path:
    """A copy of that store, which every checkout of the test uses."""
    folder = tmp_path / "store"
    shutil.copytree(filled, folder, copy_function=shutil.copy2)
    monkeypatch.setenv("GROKATLAS_RUN_STORE", str(folder))
    return folder


@pytest.fixture
def clone(tmp_path) -> Checkout:
    return copy_checkout(tmp_path / "clone")


def brought(checkout: Checkout) -> set[str]:
    """The run folders with a manifest."""
    return {
        f"results/runs/{p.parent.name}"
        for p in checkout.folder.glob("results/runs/*/manifest.json")
    }


def ids(names: set[str]) -> list[str]:
    return sorted(name.rpartition("/")[2] for name in names)


def spoil(file: Path) -> None:
    file.chmod(0o600)
    file.write_bytes(file.read_bytes()[:-1] + b"x")


@pytest.mark.usefixtures("store")
def test_a_figure_of_a_second_checkout_is_drawn_without_training(clone, finished):
    figure = "results/smoke/figures/geometry/fig1.pdf"
    assert clone.jobs(figure) == ["figure geometry/fig1", "table geometry/two_weights"]
    clone.make(figure)
    assert brought(clone) == clone.runs("two_weights")
    assert not list(clone.folder.glob("results/runs/*/log.txt"))
    assert filecmp.cmp(clone.folder / figure, finished.folder / figure, shallow=False)


@exhaustive
@pytest.mark.usefixtures("store")
def test_a_second_checkout_trains_nothing_and_draws_the_same_bytes(clone, finished):
    kinds = {job.split()[0] for job in clone.jobs()}
    assert kinds == {"measure", "table", "figure"}
    clone.make()
    assert not list(clone.folder.glob("results/runs/*/log.txt"))
    drawn = sorted(finished.folder.glob("results/smoke/figures/*/*.p*"))
    assert len(drawn) == 2 * len(FIGURES)
    for file in drawn:
        twin = clone.folder / file.relative_to(finished.folder)
        assert filecmp.cmp(file, twin, shallow=False), file
    assert clone.jobs() == []
    assert "results from the run store" in clone.told("verify")


@exhaustive
@pytest.mark.usefixtures("store")
def test_only_the_runs_that_are_asked_for_are_brought_in(clone):
    assert clone.jobs(TABLE) == ["table geometry/two_weights"]
    runs = clone.runs("two_weights")
    assert brought(clone) == runs
    clone.jobs(f"{next(iter(clone.runs('three_weights')))}/history.parquet")
    assert brought(clone) == runs | clone.runs("three_weights")


@exhaustive
@pytest.mark.usefixtures("store")
def test_a_job_does_not_look_into_the_store(clone):
    clone.told("plan", "--scale", "smoke")
    done = clone.snakemake("-n", TABLE, "--mode", "subprocess")
    assert done.returncode == 0, done.stderr
    assert brought(clone) == set()


@exhaustive
@pytest.mark.usefixtures("store")
def test_a_run_of_other_code_is_not_taken(clone):
    clone.edit(
        "src/grokatlas/components/optimizers/adam.py",
        "* double(self.eps)",
        "* double(2 * self.eps)",
    )
    trained = [job.split()[1] for job in clone.jobs() if job.startswith("train")]
    assert trained == ids(clone.runs("modular_addition", "beyond_l2"))


@exhaustive
def test_a_table_of_other_bytes_is_made_again_from_what_is_brought_in(store, checkout):
    """The run here is gone; the store's fits but is another machine's."""
    (run,) = checkout.runs("two_weights")
    code = (
        "import sys; from pathlib import Path\n"
        "from grokatlas.results import files as store, hashing as digest\n"
        "place = next(Path(sys.argv[1]).glob(sys.argv[2] + '-*'))\n"
        "file, path = place / 'history.parquet', place / 'manifest.json'\n"
        "file.chmod(0o600); file.write_bytes(file.read_bytes() + b'other')\n"
        "content = store.read_sealed(path)\n"
        "content['outputs'][file.name] = digest.file_sha256(file)\n"
        "store.write_json(path, store.sealed(content))\n"
    )
    command = [sys.executable, "-c", code, str(store / "runs"), Path(run).name]
    variables = {**os.environ, "PYTHONPATH": str(checkout.folder / "src")}
    subprocess.run(command, check=True, env=variables)
    shutil.rmtree(checkout.folder / run)
    changed = [job for job in downstream(checkout, {run}) if not job.startswith("train")]
    assert checkout.jobs() == changed


@exhaustive
def test_what_is_trained_is_put_and_what_is_damaged_is_trained_again(store, clone, tmp_path):
    clone.jobs(TABLE)
    (run,) = ids(clone.runs("two_weights"))
    shutil.rmtree(clone.folder / "results")
    (place,) = (store / "runs").glob(f"{run}-*")
    whole = {file.name: file.read_bytes() for file in place.iterdir()}
    spoil(place / "history.parquet")
    clone.edit("config/config.yaml", "run_store: null", f"run_store: {store}")
    done = clone.make(TABLE, env={"GROKATLAS_RUN_STORE": ""})
    (line,) = [line for line in done.stderr.splitlines() if "run store: " in line]
    assert "history.parquet: is not the file its manifest records; set aside as damaged/" in line
    assert (clone.folder / f"results/runs/{run}/log.txt").exists()
    assert (place / "history.parquet").read_bytes() == whole["history.parquet"]
    assert (place / "snapshots.safetensors").read_bytes() == whole["snapshots.safetensors"]
    second = copy_checkout(tmp_path / "second")
    assert second.jobs(TABLE) == ["table geometry/two_weights"]


@exhaustive
def test_a_run_made_from_its_spec_alone_is_added_and_not_trained_again(clone, tmp_path):
    """Its measures need the data set, which is made; it waits for none of it."""
    root, away = tmp_path / "empty", tmp_path / "away"
    root.mkdir()
    target = "results/smoke/tables/geometry/isolated_dynamics.parquet"
    before = clone.jobs(target)
    runs = ids(clone.runs("isolated_dynamics"))
    assert [job for job in before if job.startswith("train")] == [f"train {run}" for run in runs]
    spec = f"results/runs/{runs[0]}/spec.json"
    clone.told("plan", "--scale", "smoke")
    command = [sys.executable, "-m", "grokatlas", "train", spec, "--out", str(away)]
    variables = {**os.environ, "PYTHONPATH": str(clone.folder / "src")}
    subprocess.run(command, cwd=clone.folder, env=variables, check=True, capture_output=True)
    clone.told("store", "add", "--store", str(root), str(away))
    clone.edit("config/config.yaml", "run_store: null", f"run_store: {root}")
    after = clone.jobs(target)
    assert after == [job for job in before if job != f"train {runs[0]}"]


@exhaustive
def test_a_store_that_is_not_there_is_one_line(clone):
    done = clone.snakemake("-n", env={"GROKATLAS_RUN_STORE": "nowhere"})
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line == "GROKATLAS_RUN_STORE: no folder nowhere; make it or unset the variable"
