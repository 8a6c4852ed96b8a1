"""The studies of this checkout, as a stranger uses them: copied, edited, with a wheel's package."""

import csv
import shutil
from pathlib import Path

import pandas as pd
import pytest

from grokatlas.plan.recorded_studies import folders
from tests.workflow.conftest import ROOT, once
from tests.workflow.test_study import Study, install

pytestmark = pytest.mark.workflow

STUDIES = sorted(file.parent.name for file in (ROOT / "studies").glob("*/study.yaml"))
MADE = shutil.ignore_patterns("results", ".snakemake", "__pycache__", ".pytest_cache")


@pytest.fixture(scope="session")
def site(tmp_path_factory, worker_id) -> Path:
    """A folder with the modules of a wheel."""
    return once(tmp_path_factory, worker_id, "a-site", lambda folder: install(folder / "site"))


def copy(name: str, site: Path, folder: Path) -> Study:
    """A copy of a study in a folder, run by the installed package alone."""
    shutil.copytree(ROOT / "studies" / name, folder / name, ignore=MADE)
    (folder / "site").symlink_to(site / "site")
    return Study(folder / name)


@pytest.mark.parametrize("name", STUDIES)
def test_a_copy_with_another_step_size_makes_every_figure(name, site, tmp_path):
    study = copy(name, site, tmp_path)
    trained, edited = True, 0
    for file in (study.folder / "config/papers").rglob("*.yaml"):
        text = file.read_text(encoding="utf-8")
        trained = trained and "import:" not in text
        edited += "lr: 1e-3" in text or "lr: 1e-2" in text
        text = text.replace("lr: 1e-3", "lr: 3e-3").replace("lr: 1e-2", "lr: 3e-2")
        file.write_text(text, encoding="utf-8")
    assert bool(edited) == trained
    done = study.python("-m", "snakemake", "--cores", "2", "--config", "scale=smoke")
    assert done.returncode == 0, done.stdout + done.stderr
    results = study.folder / "results/smoke"
    drawn = {path.stem for path in (study.folder / "papers" / name).glob("*.py")}
    drawn -= {"__init__", "claims"}
    assert drawn == {path.stem for path in (results / "figures" / name).glob("*.pdf")}
    assert (results / f"atlas/paper-{name}.html").is_file()
    done = study.python("-m", "grokatlas", "check-components")
    own = list((study.folder / "components").rglob("*.py"))
    assert done.returncode == 0 or not own, done.stdout + done.stderr


@pytest.mark.parametrize("name", STUDIES)
def test_the_tests_of_a_study_pass(name, site, tmp_path):
    done = copy(name, site, tmp_path).python(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", [file.name for file in folders(ROOT)])
def test_what_a_study_recorded_is_drawn_again_and_not_trained(name, site, tmp_path):
    study = copy(name, site, tmp_path)
    for scale in sorted(
        file.name for file in (study.folder / "recorded").iterdir() if file.is_dir()
    ):
        done = study.python("-m", "grokatlas", "restore", "--scale", scale)
        assert done.returncode == 0, done.stderr
    with (study.folder / "recorded/figures.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert rows
    for row in rows:
        results = study.folder / "results" / row["scale"]
        assert (results / "figures" / name / f"{row['figure']}.png").is_file()
        assert f'id="{row["figure"]}"' in (results / f"atlas/paper-{name}.html").read_text("utf-8")
    assert not list(study.folder.glob("results/runs/*/log.txt"))


def test_statements_on_the_runs_of_others_are_judged(site, tmp_path):
    run = copy("norm_cap", site, tmp_path).python
    done = run("-m", "snakemake", "--cores", "1", "--config", "scale=paper")
    assert done.returncode == 0, done.stderr
    claims = pd.read_csv(tmp_path / "norm_cap/results/paper/claims.csv")
    assert claims["verdict"].tolist() == ["reproduced", "reproduced"]
    assert claims["reason"].str.contains("imported: s5").all()
    page = tmp_path / "norm_cap/results/paper/atlas/paper-norm_cap.html"
    source = "imported from https://github.com/PeterPonyu/muon-norm-cap-grokking"
    assert source in page.read_text(encoding="utf-8")
    assert run("-m", "grokatlas", "verify").returncode == 0
    log = tmp_path / "norm_cap/logs/s5_normctl.csv"
    log.write_text(log.read_text(encoding="utf-8").replace("0.66389", "0.66388"), encoding="utf-8")
    done = run("-m", "grokatlas", "verify")
    assert done.returncode != 0
    assert "logs/s5_normctl.csv is modified" in done.stdout
