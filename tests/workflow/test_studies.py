"""The studies of this checkout, as a stranger uses them: copied, edited, with a wheel's package."""

import shutil
from pathlib import Path

import pytest

from tests.workflow.conftest import ROOT, once
from tests.workflow.test_study import Study, install

pytestmark = pytest.mark.workflow

STUDIES = sorted(file.parent.name for file in (ROOT / "studies").glob("*/study.yaml"))
MADE = shutil.ignore_patterns("results", ".snakemake", "__pycache__", ".pytest_cache")


@pytest.fixture(scope="session")
def site(tmp_path_factory, worker_id) -> Path:
    """A folder with the modules of a wheel."""
    return once(tmp_path_factory, worker_id, "a-site", lambda folder: install(folder / "site"))


@pytest.mark.parametrize("name", STUDIES)
def test_a_copy_with_another_step_size_makes_every_figure(name, site, tmp_path):
    shutil.copytree(ROOT / "studies" / name, tmp_path / name, ignore=MADE)
    (tmp_path / "site").symlink_to(site / "site")
    study = Study(tmp_path / name)
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
    shutil.copytree(ROOT / "studies" / name, tmp_path / name, ignore=MADE)
    (tmp_path / "site").symlink_to(site / "site")
    done = Study(tmp_path / name).python("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert done.returncode == 0, done.stdout
