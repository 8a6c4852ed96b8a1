"""Members that do not share a run: the same table, and a seed more is a run more."""

import pandas as pd
import pytest

from tests.tiers import exhaustive
from tests.workflow.conftest import Checkout, copy_checkout

pytestmark = pytest.mark.workflow

YAML = "config/papers/beyond_l2/experiments.yaml"
SEEDS = "    ensemble: {seed: 2}\n"
SOME = "    ensemble: {seed: 3}\n    members_per_run: {seed: 1}\n    run_first: {seed: 2}\n"
STEM = "results/smoke/figures/beyond_l2/fig1"


def table(checkout: Checkout, name: str) -> pd.DataFrame:
    return pd.read_parquet(checkout.folder / f"results/smoke/tables/{name}.parquet")


def made(checkout: Checkout, *arguments: str) -> str:
    done = checkout.make(*arguments)
    return done.stdout + done.stderr


def rules(checkout: Checkout) -> list[str]:
    return [job.split()[0] for job in checkout.jobs()]


def assert_same_but_runs(split: pd.DataFrame, whole: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(split.drop(columns="run"), whole.drop(columns="run"))
    assert split["run"].nunique() > whole["run"].nunique()


@exhaustive
def test_some_of_the_seeds_give_the_table_and_the_figure_of_these(checkout):
    whole = table(checkout, "beyond_l2/modular_addition")
    csv = (checkout.folder / f"{STEM}.csv").read_text()
    checkout.edit(YAML, SEEDS, SOME)
    assert rules(checkout) == ["figure", "table", *["train"] * 4]
    made(checkout)
    assert (checkout.jobs(), checkout.closing()) == ([], [])
    page = checkout.folder / "results/smoke/atlas/paper-beyond_l2.html"
    assert "<strong>2 of 3 seeds</strong>" in page.read_text()
    assert_same_but_runs(table(checkout, "beyond_l2/modular_addition"), whole)
    first, *rows = csv.splitlines()
    assert (checkout.folder / f"{STEM}.csv").read_text().splitlines() == [
        f"{first},so_far",
        *(f"{row},2 of 3 seeds" for row in rows),
    ]
    before = checkout.runs("modular_addition", "beyond_l2")
    checkout.edit(YAML, "run_first: {seed: 2}", "run_first: {seed: 3}")
    added = checkout.runs("modular_addition", "beyond_l2") - before
    trained = sorted(f"train {run.rpartition('/')[2]}" for run in added)
    assert len(trained) == 2
    assert checkout.jobs() == [
        "figure beyond_l2/fig1",
        "table beyond_l2/modular_addition",
        *trained,
    ]


@exhaustive
def test_other_axes_split_too_and_each_member_has_its_own_data(checkout):
    toys = "config/papers/geometry/experiments.yaml"
    names = ["geometry/two_weights", "geometry/isolated_dynamics"]
    whole = [table(checkout, name) for name in names]
    weights = "    penalties.0.weight: [0.01, 0.1, 0.2]\n"
    checkout.edit(toys, weights, f"{weights}  members_per_run: {{penalties.0.weight: 2}}\n")
    checkout.edit(
        toys,
        "{steps: 20}, ensemble: {seed: 2}}",
        "{steps: 20}, ensemble: {seed: 2}, members_per_run: {seed: 1}}",
    )
    made(checkout, *(f"results/smoke/tables/{name}.parquet" for name in names))
    for name, expected in zip(names, whole, strict=True):
        assert_same_but_runs(table(checkout, name), expected)


@exhaustive
def test_seeds_made_elsewhere_join_by_the_run_store(checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("GROKATLAS_RUN_STORE", str(tmp_path / "store"))
    (tmp_path / "store").mkdir()
    elsewhere = copy_checkout(tmp_path / "elsewhere")
    elsewhere.edit(YAML, SEEDS, "    ensemble: {seed: [1, 2]}\n    members_per_run: {seed: 1}\n")
    made(
        elsewhere,
        *(f"{run}/history.parquet" for run in elsewhere.runs("modular_addition", "beyond_l2")),
    )
    checkout.edit(YAML, SEEDS, SOME.replace("    run_first: {seed: 2}\n", ""))
    assert rules(checkout) == ["figure", "table", *["train"] * 2]
