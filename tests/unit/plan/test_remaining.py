"""What is left to make, and `grokatlas plan`."""

import json
import shutil

import pytest

from grokatlas import cli
from grokatlas.plan import remaining
from grokatlas.results import layout
from tests.checkout import CONFIG


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    folder = tmp_path / "config"
    shutil.copytree(CONFIG, folder)
    text = (folder / "config.yaml").read_text()
    (folder / "config.yaml").write_text(text.replace("papers: all", "papers: [geometry]"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("checkout")
def test_plan_writes_every_job_file_and_runs_nothing(capsys):
    assert cli.main(["plan", "--scale", "smoke"]) == 0
    written = list(layout.RESULTS.rglob("*spec.json"))
    assert capsys.readouterr().out == f"{len(written)} job files of scale smoke are in results\n"
    assert {json.loads(file.read_text())["kind"] for file in written} >= {"run", "table", "atlas"}
    assert not list(layout.RESULTS.rglob("*manifest.json"))


@pytest.mark.usefixtures("checkout")
def test_everything_behind_a_figure_is_left_to_make_until_it_is_made():
    found = remaining.at("smoke")
    assert remaining.unmade(found.jobs) == found.jobs
    assert {job.kind for job in found.jobs} == {"dataset", "run", "measure", "table", "figure"}


def test_outside_a_checkout_it_is_one_line(here, capsys):
    assert cli.main(["plan"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
