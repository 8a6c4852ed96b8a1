"""Runs that start from a snapshot of others, through the real Snakefile, and what hangs on that."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from grokatlas.export import ro_crate
from grokatlas.results import files
from grokatlas.rules.finished_run import FinishedRun
from tests.unit.crates import entities
from tests.workflow.conftest import Checkout, copy_checkout, once

pytestmark = pytest.mark.workflow
TABLE = "results/smoke/tables/phases/frozen.parquet"


def _copy(folder: Path) -> Checkout:
    checkout = copy_checkout(folder)
    shutil.rmtree(folder / "config/papers")
    shutil.copytree(Path(__file__).with_name("phases"), folder / "config/papers/phases")
    return checkout


@pytest.fixture(scope="session")
def phases(tmp_path_factory, worker_id) -> Checkout:
    """A checkout whose one figure is of runs that start from others. Do not change it."""

    def make(folder: Path) -> None:
        done = _copy(folder).snakemake("--cores", "2")
        assert done.returncode == 0, done.stderr
        assert "it is not run" not in done.stderr

    return Checkout(once(tmp_path_factory, worker_id, "phases", make))


@pytest.fixture
def checkout(phases, tmp_path) -> Checkout:
    shutil.copytree(phases.folder, tmp_path / "own", copy_function=shutil.copy2)
    return Checkout(tmp_path / "own")


def _runs(checkout: Checkout) -> tuple[Path, list[Path]]:
    """The child, and the runs that it starts from."""
    specs = {
        path.parent: files.read_json(path)["spec"]
        for path in checkout.folder.glob("results/runs/*/manifest.json")
    }
    ((child, spec),) = ((run, spec) for run, spec in specs.items() if "start" in spec)
    return child, [child.with_name(run) for run in spec["start"]["runs"]]


def _snapshot(run: Path, step: int) -> dict[str, np.ndarray]:
    arrays, _ = files.read_arrays(run / "snapshots.safetensors")
    before = f"{step:010d}/"
    return {key[len(before) :]: array for key, array in arrays.items() if key.startswith(before)}


def test_members_start_where_members_of_the_same_seed_ended(phases):
    child, parents = _runs(phases)
    assert len(parents) == 2
    begins, ends = _snapshot(child, 0), _snapshot(child, 10)
    first, last = (_snapshot(parent, 30) for parent in parents)  # seeds 0 and 1, and 2
    for key in ends:
        wanted = np.stack([last[key][0], first[key][0]] * 2)
        assert np.array_equal(begins[key], wanted)
        assert np.array_equal(ends[key], begins[key]) == key.startswith("layers.0.")
    history = files.read_parquet(parents[0] / "history.parquet")
    own_last = history.groupby("member")["step"].max()
    assert first["optimizer:step"].tolist() == own_last.tolist()
    assert own_last.max() < 30
    assert FinishedRun(parents[0], Path("data")).snapshots[30].keys() == ends.keys()


def test_the_edge_is_shown_by_every_command(phases, tmp_path, monkeypatch):
    child, parents = _runs(phases)
    manifest = files.read_sealed(child / "manifest.json")
    names = [f"results/runs/{parent.name}/snapshots.safetensors" for parent in parents]
    assert [name for name in manifest["inputs"] if "/runs/" in name] == names
    assert "files: " in phases.told("verify")
    explained = phases.told("explain", f"results/runs/{child.name}")
    page = (phases.folder / "results/smoke/atlas/paper-phases.html").read_text(encoding="utf-8")
    for parent in parents:
        assert f"\n  run {parent.name}: digest" in explained
        assert f"run {parent.name}" in page
    monkeypatch.chdir(phases.folder)
    ro_crate.write(tmp_path / "crate.zip", "smoke")
    job = entities(tmp_path / "crate.zip")[f"#job/runs/{child.name}"]
    assert {each["@id"] for each in job["object"]} >= set(names)


def test_nothing_is_made_twice_and_a_change_of_the_parent_makes_the_child_again(checkout):
    assert checkout.jobs() == []
    child, parents = _runs(checkout)
    before = files.read_json(child / "manifest.json")["digest"]
    checkout.edit("config/papers/phases/experiments.yaml", "steps: 30", "steps: 20")
    rules = [job.split()[0] for job in checkout.jobs()]
    assert rules.count("train") == 3
    checkout.edit("config/papers/phases/experiments.yaml", "steps: 20", "steps: 30")
    for parent in parents:
        (parent / "manifest.json").unlink()
        (parent / "snapshots.safetensors").unlink()
    (child / "manifest.json").unlink()
    checkout.make(TABLE)
    assert files.read_json(child / "manifest.json")["digest"] == before


def test_a_snapshot_that_an_archive_left_out_is_one_line(checkout, tmp_path):
    archive = tmp_path / "tables.zip"
    checkout.told("pack", str(archive), "--tables-only")
    clone = _copy(tmp_path / "clone")
    assert "3 runs" in clone.told("adopt", str(archive))
    assert " 0 modified" not in clone.told("verify")
    assert clone.jobs(TABLE) == []
    child, parents = _runs(clone)
    (child / "manifest.json").unlink()
    with pytest.raises(AssertionError) as error:
        clone.told("train", f"results/runs/{child.name}/spec.json")
    absent = f"results/runs/{parents[0].name}/snapshots.safetensors, which is not here"
    assert f"spec.json: it starts from {absent} (an archive may" in str(error.value)
    made = clone.jobs(f"results/runs/{child.name}/history.parquet")
    assert [job for job in made if job.startswith("train")] == sorted(
        f"train {run.name}" for run in (child, *parents)
    )


def test_a_parent_that_is_needed_is_not_pruned(checkout):
    _, parents = _runs(checkout)
    listed = checkout.told("prune", "--dry-run")
    assert not any(parent.name in listed for parent in parents)


def test_a_run_store_brings_parents_and_children(checkout, tmp_path, monkeypatch):
    child, parents = _runs(checkout)
    store = tmp_path / "store"
    store.mkdir()
    runs = [f"results/runs/{run.name}" for run in (child, *parents)]
    said = checkout.told("store", "add", "--store", str(store), *runs)
    assert said == "".join(f"added {run}\n" for run in runs)
    monkeypatch.setenv("GROKATLAS_RUN_STORE", str(store))
    clone = _copy(tmp_path / "clone")
    done = clone.make(TABLE)
    assert "3 runs brought in" in done.stderr
    assert "rule train" not in done.stderr + done.stdout
    assert (clone.folder / TABLE).read_bytes() == (checkout.folder / TABLE).read_bytes()


def test_another_parent_than_was_planned_is_refused(checkout):
    child, parents = _runs(checkout)
    (child / "manifest.json").unlink()
    manifest = files.read_sealed(parents[0] / "manifest.json")
    kept = {key: value for key, value in manifest.items() if key != "seal"}
    files.write_json(parents[0] / "manifest.json", files.sealed(kept | {"digest": "0" * 64}))
    with pytest.raises(AssertionError, match="is another run than it was planned with; run `snake"):
        checkout.told("train", f"results/runs/{child.name}/spec.json")
