"""`grokatlas try`: an experiment with other values, in a tree of its own and in no claim."""

import subprocess
from pathlib import Path

import pytest

from tests.checkout import python
from tests.tiers import exhaustive
from tests.workflow.conftest import Checkout, copy_checkout

pytestmark = pytest.mark.workflow
TRIAL = ("geometry/two_weights", "--scale", "smoke", "--set", "optimizer.lr=")


def attempt(checkout: Checkout, *arguments: str) -> subprocess.CompletedProcess:
    return python("-m", "grokatlas", "try", *arguments, cwd=checkout.folder)


def runs(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("results/runs/*/history.parquet")}


def test_a_trial_has_a_tree_and_a_figure_of_its_own(tmp_path):
    fresh = copy_checkout(tmp_path / "atlas")
    before = {file: file.read_bytes() for file in fresh.folder.glob("config/**/*.yaml")}
    done = attempt(fresh, *TRIAL[:-1], f"{TRIAL[-1]}0.05,0.2")
    assert done.returncode == 0, done.stderr
    folder = fresh.folder / "trials/geometry-two_weights"
    first = done.stdout.splitlines()[0]
    assert first == "trials/geometry-two_weights/results/smoke/figures/trials/runs.pdf"
    assert (fresh.folder / first).stat().st_size > 1000
    assert len(runs(folder)) == 2
    assert not (fresh.folder / "results/runs").exists()
    assert {f: f.read_bytes() for f in fresh.folder.glob("config/**/*.yaml")} == before
    assert not list(folder.glob("config/**/claims.yaml"))


@exhaustive
def test_a_further_value_trains_one_run_more(tmp_path):
    fresh = copy_checkout(tmp_path / "atlas")
    folder = fresh.folder / "trials/geometry-two_weights"
    found = []
    for values in ("0.05", "0.05,0.2"):
        assert attempt(fresh, *TRIAL[:-1], f"{TRIAL[-1]}{values}").returncode == 0
        histories = sorted(folder.glob("results/runs/*/history.parquet"))
        found.append({file: file.stat().st_mtime_ns for file in histories})
    assert len(found[0]) == 1
    assert len(found[1]) == 2
    assert found[0].items() <= found[1].items()
