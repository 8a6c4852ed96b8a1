"""What others find: the workflow of the catalogue, a deployment as a module, the rule graph."""

import re
import shutil
from pathlib import Path

import pytest

from tests.checkout import CONFIG, ROOT
from tests.tiers import exhaustive
from tests.workflow.conftest import Checkout, copy_checkout

pytestmark = pytest.mark.workflow

PAGE = "docs/handing-on.md"
MODULE = """
module atlas:
    snakefile: "{}/workflow/Snakefile"
    config: config

use rule * from atlas
"""


def jobs(text: str) -> dict[str, int]:
    """How many jobs of each rule a dry run has."""
    return {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", text, re.MULTILINE)}


def deployed(folder: Path, checkout: Checkout) -> Checkout:
    """A folder that uses a checkout's workflow as a module, with a configuration of its own."""
    (folder / "workflow").mkdir(parents=True)
    text = f"{MODULE.format(checkout.folder)}\nassert [*config] == ['scale']\n"
    (folder / "workflow/Snakefile").write_text(text)  # what it has configured is its own
    shutil.copytree(checkout.folder / "config", folder / "config")
    return Checkout(folder)


@exhaustive
def test_the_workflow_of_the_catalogue_is_the_one_of_the_root(tmp_path):
    fresh = copy_checkout(tmp_path / "atlas")
    found = []
    for arguments in ((), ("--snakefile", "workflow/Snakefile")):
        done = fresh.snakemake("-n", *arguments)
        assert done.returncode == 0, done.stderr
        found.append(jobs(done.stdout + done.stderr))
    assert found[0] == found[1]
    assert found[0]["all"] == 1
    assert found[0]["train"] > 1


def test_as_a_module_it_reads_the_configuration_of_who_uses_it(tmp_path):
    fresh = copy_checkout(tmp_path / "atlas")
    other = deployed(tmp_path / "other", fresh)
    shutil.rmtree(fresh.folder / "config")
    done = other.snakemake("-n")
    assert done.returncode == 0, done.stderr
    assert jobs(done.stdout + done.stderr)["train"] > 1


@exhaustive
def test_as_a_module_it_draws_a_figure(tmp_path):
    other = deployed(tmp_path / "other", copy_checkout(tmp_path / "atlas"))
    figure = "results/smoke/figures/geometry/fig1.pdf"
    done = other.call("--cores", "1", "--config", "scale=smoke", "--", figure)
    assert done.returncode == 0, done.stderr
    assert (other.folder / figure).stat().st_size > 1000


@exhaustive
def test_the_graph_in_the_docs_is_that_of_the_rules(tmp_path):
    fresh = copy_checkout(tmp_path / "atlas")
    shutil.rmtree(fresh.folder / "config")
    shutil.copytree(CONFIG, fresh.folder / "config")
    call = ("--rulegraph", "mermaid-js", "--forceall", "--config", "scale=paper")
    graph = fresh.call("--cores", "1", *call).stdout
    names = dict(re.findall(r"(id\d+)\[(\w+)\]", graph))
    arrows = {(names[a], names[b]) for a, b in re.findall(r"(id\d+) --> (id\d+)", graph)}
    shown = re.findall(r"^    (\w+) --> (\w+)$", (ROOT / PAGE).read_text(), re.MULTILINE)
    assert sorted(shown) == sorted(arrow for arrow in arrows if "all" not in arrow)
