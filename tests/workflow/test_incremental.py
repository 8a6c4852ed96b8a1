"""Exactly what changed is remade: the job list of a dry run, compared whole."""

import json
import os
import shutil

import pytest

from tests import cases
from tests.tiers import exhaustive
from tests.workflow.conftest import CLOSING, Checkout, copy_checkout

pytestmark = pytest.mark.workflow

TOYS = ("two_weights", "three_weights", "zero_loss_sets")


def downstream(checkout: Checkout, targets: set[str]) -> list[str]:
    """The jobs with these targets and all that hang on them, as `Checkout.jobs` names them.

    Without claims and atlas, as there.
    """
    plan = checkout.plan()
    hit = set(targets)
    for _, target, inputs in plan:
        if hit & set(inputs):
            hit.add(target)
    named = []
    for kind, target, _ in plan:
        if target in hit and kind not in CLOSING:
            rule = "train" if kind == "run" else kind
            parts = target.split("/")
            keep = parts[-1:] if kind in ("run", "dataset") else parts[-2:]
            named.append(f"{rule} {'/'.join(keep)}")
    return sorted(named)


def test_nothing_changed_makes_nothing(finished):
    assert finished.jobs() == []


@exhaustive
def test_touched_sources_make_nothing(checkout):
    for folder in ("src", "config", "workflow"):
        for file in (checkout.folder / folder).rglob("*"):
            os.utime(file)
    assert checkout.jobs() == []


def test_touched_results_make_nothing(checkout):
    for file in (checkout.folder / "results").rglob("*"):
        os.utime(file)
    assert checkout.jobs() == []


@exhaustive
def test_results_copied_into_a_fresh_clone_make_nothing(finished, tmp_path):
    clone = copy_checkout(tmp_path / "clone")
    names = sorted((finished.folder / "results").rglob("*"), reverse=True)
    for file in names:  # newest first and with new times: the worst order
        if file.is_file():
            target = clone.folder / file.relative_to(finished.folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    assert not (clone.folder / ".snakemake").exists()
    assert clone.jobs() == []


@exhaustive
@cases.listed("path", "old", "new")
def test_edits_without_meaning_make_nothing(checkout, path, old, new):
    checkout.edit(path, old, new)
    assert checkout.jobs() == []


def test_an_edit_in_a_figure_redraws_that_figure(checkout):
    checkout.edit("src/grokatlas/papers/geometry/fig1.py", '"$w_1$"', '"w1"')
    assert checkout.jobs() == ["figure geometry/fig1"]


def test_an_edit_that_keeps_size_and_date_redraws_that_figure(checkout):
    """What the first call keeps of the sources (`plan.cache`) is not used by the second."""
    assert checkout.jobs() == []
    assert (checkout.folder / ".snakemake/grokatlas-plan.json").exists()
    path = checkout.folder / "src/grokatlas/papers/geometry/fig1.py"
    before = path.stat()
    checkout.edit("src/grokatlas/papers/geometry/fig1.py", '"$w_1$"', '"$w_2$"')
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert checkout.jobs() == ["figure geometry/fig1"]


def test_a_learning_rate_reruns_that_run_and_what_depends_on_it(checkout):
    before = checkout.runs("two_weights")
    checkout.edit(
        "config/papers/geometry/experiments.yaml",
        "optimizer: {name: gd, lr: 0.1}",
        "optimizer: {name: gd, lr: 0.05}",
    )
    jobs = checkout.jobs()
    after = checkout.runs("two_weights")
    assert after.isdisjoint(before)
    assert jobs == downstream(checkout, after)
    assert [job.split()[0] for job in jobs] == ["figure", "table", "train"]


@exhaustive
def test_one_more_seed_reruns_only_that_experiment(checkout):
    checkout.edit(
        "config/papers/geometry/experiments.yaml",
        "model: {width: 32}, train: {steps: 20}, ensemble: {seed: 2}",
        "model: {width: 32}, train: {steps: 20}, ensemble: {seed: 3}",
    )
    jobs = checkout.jobs()
    made = [job.split()[0] for job in jobs]
    assert made == ["dataset", "figure", *["measure"] * 2, "table", "train", "train"]
    assert "figure geometry/fig4" in jobs
    assert "table geometry/isolated_dynamics" in jobs


@exhaustive
def test_a_new_component_file_makes_nothing(checkout):
    file = checkout.folder / "src/grokatlas/components/penalties/elastic_net.py"
    file.write_text('"""New."""\n\n\ndef build(*, weight: float):\n    return None\n')
    assert checkout.jobs() == []


@exhaustive
def test_a_run_shared_by_two_figures_is_trained_once(checkout):
    checkout.edit(
        "config/papers/geometry/paper.yaml",
        "figures:\n  fig1:\n    experiments: [two_weights]\n",
        "figures:\n  fig1:\n    experiments: [two_weights, twin]\n",
    )
    file = checkout.folder / "config/papers/geometry/experiments.yaml"
    text = file.read_text()
    start, end = text.index("two_weights:"), text.index("three_weights:")
    twin = text[start:end].replace("two_weights", "twin")
    file.write_text(text[:end] + twin + text[end:])
    assert checkout.jobs() == ["figure geometry/fig1", "table geometry/twin"]


@exhaustive
def test_an_edit_undone_makes_nothing(checkout):
    path = "src/grokatlas/components/optimizers/gd.py"
    checkout.edit(path, "value - self.lr", "value - 2 * self.lr")
    assert any(job.startswith("train") for job in checkout.jobs())
    checkout.edit(path, "value - 2 * self.lr", "value - self.lr")
    assert checkout.jobs() == []


def test_a_deleted_figure_is_redrawn_and_nothing_else(checkout):
    (checkout.folder / "results/smoke/figures/geometry/fig2.png").unlink()
    assert checkout.jobs() == ["figure geometry/fig2"]


@exhaustive
def test_a_run_made_again_elsewhere_renews_what_was_drawn_from_it(checkout):
    (run,) = checkout.runs("two_weights")
    manifest = checkout.folder / run / "manifest.json"
    content = json.loads(manifest.read_text())
    content["outputs"]["history.parquet"] = "0" * 64
    manifest.write_text(json.dumps(content))
    assert checkout.jobs() == ["figure geometry/fig1", "table geometry/two_weights"]
