"""Keywords that are renamed: every result stays as it is, under either name in the YAML."""

import re

import pytest

from tests.workflow.conftest import Checkout

pytestmark = pytest.mark.workflow

TASK = "src/grokatlas/components/tasks/one_sample.py"
PENALTY = "src/grokatlas/components/penalties/l2.py"
PAPER = "config/papers/geometry/experiments.yaml"


def rename(checkout: Checkout, file: str, old: str, new: str) -> None:
    """Rename a keyword in a component's file."""
    path = checkout.folder / file
    text = re.sub(rf"\b{old}\b", new, path.read_text(encoding="utf-8"))
    head, rest = text.split("\n\n\ndef build", 1)
    renamed = f'{head}\n\nRENAMED = {{"{new}": "{old}"}}\n\n\ndef build{rest}'
    path.write_text(renamed, encoding="utf-8")


def is_as_made(checkout: Checkout) -> None:
    """Nothing is stale, by Snakemake and by the commands."""
    assert checkout.jobs() == []
    assert checkout.closing() == []
    assert re.search(r"^(\d+) files: \1 ok$", checkout.told("verify"), re.MULTILINE)
    assert "nothing would be made again" in checkout.told("explain", "--stale")
    assert "all of it is up to date" in checkout.told("accept", "results", "--reason", "x")


def test_a_renamed_keyword_leaves_every_result_as_it_is(checkout):
    rename(checkout, TASK, "test_points", "test_samples")
    rename(checkout, PENALTY, "weight", "strength")
    is_as_made(checkout)
    file = checkout.folder / PAPER
    text = file.read_text(encoding="utf-8")
    text = text.replace("test_points", "test_samples").replace(
        "penalties.0.weight", "penalties.0.strength"
    )
    file.write_text(
        text.replace("squared: true, weight", "squared: true, strength"), encoding="utf-8"
    )
    is_as_made(checkout)


def test_a_run_of_a_renamed_keyword_trains_to_the_same_bytes(checkout):
    rename(checkout, TASK, "test_points", "test_samples")
    before = made(checkout)
    for folder in ("data", "runs", "smoke/tables", "smoke/figures"):
        for manifest in (checkout.folder / "results" / folder).rglob("*manifest.json"):
            manifest.unlink()
    figure = "results/smoke/figures/geometry/fig1.csv"
    checkout.make(figure)
    after = made(checkout)
    assert before == {name: after[name] for name in before}


def made(checkout: Checkout) -> dict[str, bytes]:
    root = checkout.folder / "results"
    files = [*root.glob("runs/*/history.parquet"), *root.glob("smoke/figures/geometry/fig1.csv")]
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}


def test_both_names_of_a_keyword_are_one_error(checkout):
    rename(checkout, TASK, "test_points", "test_samples")
    text = (
        "two_weights:\n  about: a linear model of two weights on one sample, three weight decays\n"
    )
    checkout.edit(
        PAPER, text, f"{text}  smoke: {{task: {{test_samples: 3}}}}\n".replace("  smoke", "  quick")
    )
    done = checkout.snakemake("-n")
    assert done.returncode != 0
    (line,) = [each for each in done.stderr.splitlines() if "test_points" in each]
    problem = "is the older name of test_samples, which is given too; remove one of them"
    assert line.endswith(f"two_weights.task.test_points: {problem}")
