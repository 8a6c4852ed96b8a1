"""A study in an empty folder, with the package as a wheel holds it: no checkout is in reach."""

import ast
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.checkout import python
from tests.workflow.conftest import ROOT, once

PAPER = "config/papers/my_study/experiments.yaml"


def parts() -> tuple[str, ...]:
    """What a wheel holds in the package's folder beside the modules."""
    tree = ast.parse((ROOT / "hatch_build.py").read_text(encoding="utf-8"))
    (found,) = (node.value for node in tree.body if isinstance(node, ast.Assign))
    return ast.literal_eval(found)


def install(site: Path) -> None:
    """The files of a wheel in a folder of modules."""
    ignore = shutil.ignore_patterns("__pycache__")
    for package in ("grokatlas", "snakemake_logger_plugin_grokatlas"):
        shutil.copytree(ROOT / "src" / package, site / package, ignore=ignore)
    for part in parts():
        source, target = ROOT / part, site / "grokatlas" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if source.is_dir() else shutil.copy2
        copy(source, target)


class Study:
    """A study, and the programs that run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def python(self, *arguments: str):
        """Run Python with the installed package alone; the finished process."""
        names = ("SNAKEMAKE_PROFILE", "GROKATLAS_CODE", "GROKATLAS_DATA", "GROKATLAS_RUN_STORE")
        env = {key: value for key, value in os.environ.items() if key not in names}
        return python(
            *arguments, cwd=self.folder, env=env | {"PYTHONPATH": str(self.folder.parent / "site")}
        )

    def snakemake(self, *arguments: str):
        """Run Snakemake at smoke scale as the README says."""
        options = ("--profile", "profiles/workstation", "--config", "scale=smoke")
        return self.python("-m", "snakemake", *arguments, *options)

    def jobs(self) -> set[str]:
        """The rules that a dry run has."""
        done = self.snakemake("-n")
        assert done.returncode == 0, done.stderr
        found = set(re.findall(r"^(?:local)?rule (\w+):", done.stdout + done.stderr, re.MULTILINE))
        return found - {"all", "claims", "atlas"}


@pytest.fixture(scope="session")
def made(tmp_path_factory, worker_id) -> Path:
    """A folder with the installed package and a study in which everything was made once."""

    def make(folder: Path) -> None:
        install(folder / "site")
        done = Study(folder / "site").python("-m", "grokatlas", "new", str(folder / "my-study"))
        assert done.returncode == 0, done.stderr
        done = Study(folder / "my-study").snakemake()
        assert done.returncode == 0, done.stderr

    return once(tmp_path_factory, worker_id, "a-study", make)


@pytest.fixture
def study(made: Path, tmp_path: Path) -> Study:
    """A copy of the study that a test may change; file times are kept."""
    shutil.copytree(made / "my-study", tmp_path / "my-study", copy_function=shutil.copy2)
    (tmp_path / "site").symlink_to(made / "site")
    return Study(tmp_path / "my-study")


def test_a_new_study_makes_its_figure_its_claims_and_its_pages(made):
    results = made / "my-study/results/smoke"
    assert (results / "figures/my_study/shares.pdf").read_bytes().startswith(b"%PDF")
    page = (results / "atlas/paper-my_study.html").read_text(encoding="utf-8")
    assert "recovery under the elastic net" in page
    assert "grokalign" not in (results / "atlas/index.html").read_text(encoding="utf-8")
    runs = (made / "my-study/results/runs").glob("*/manifest.json")
    manifests = "".join(run.read_text(encoding="utf-8") for run in runs)
    for name in ("penalties.elastic_net", "models.tanh_net", "optimizers.sign_descent"):
        assert f"grokatlas.components.{name}" in manifests


def test_nothing_is_made_twice_and_an_edit_of_its_component_remakes_what_used_it(study):
    assert study.jobs() == set()
    file = study.folder / "components/penalties/elastic_net.py"
    text = file.read_text(encoding="utf-8")
    file.write_text("# a comment\n" + text, encoding="utf-8")
    assert study.jobs() == set()
    assert text.count("squares / 2)") == 1
    file.write_text(text.replace("squares / 2)", "squares / 3)"), encoding="utf-8")
    assert study.jobs() == {"train", "table", "figure"}
    done = study.python("-m", "grokatlas", "verify")
    assert "stale" in done.stdout


def test_a_notebook_gets_what_the_workflow_made(study):
    before = sorted(study.folder.rglob("results/**/*"))
    program = (
        "import sys, grokatlas\n"
        "table = grokatlas.table('my_study', 'elastic_net', 'smoke')\n"
        "figure, data = grokatlas.figure('my_study', 'shares', 'smoke')\n"
        "shares = [float(share) for share in sorted(data['share'].unique())]\n"
        "print(list(table['record'].unique()), len(figure.axes), shares, figure._repr_png_()[1:4])"
    )
    done = study.python("-c", program)
    assert done.stdout.split("\n")[0] == "['history'] 2 [0.0, 0.01, 0.1, 1.0] b'PNG'", done.stderr
    assert sorted(study.folder.rglob("results/**/*")) == before


def test_the_form_of_snakedeploy_works_as_well(study):
    (study.folder / "Snakefile").unlink()
    (study.folder / "workflow").mkdir()
    shipped = study.folder.parent / "site/grokatlas/Snakefile"
    (study.folder / "workflow/Snakefile").write_text(
        'configfile: "config/config.yaml"\n\n\n'
        f'module atlas:\n    snakefile:\n        "{shipped}"\n    config:\n        config\n\n\n'
        "use rule * from atlas\n"
    )
    assert study.jobs() == set()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            lambda folder: (folder / "components/penalties/l1.py").write_text(""),
            "components/penalties/l1.py: study.yaml makes this a study, and grokatlas has a module",
        ),
        (
            lambda folder: (folder / "study.yaml").write_text('grokatlas: ">=99"'),
            "study.yaml: grokatlas: the study asks for >=99, and ",
        ),
    ],
    ids=["shadows", "version"],
)
def test_a_mistake_is_one_line(study, change, problem):
    change(study.folder)
    done = study.snakemake("-n")
    assert done.returncode == 1
    told = [line for line in done.stderr.splitlines() if problem in line]
    assert len(told) == 1
    assert told[0].startswith(problem)
    assert "Traceback" not in done.stderr


def test_an_experiment_is_tried_with_the_components_of_the_study(study):
    value = ("--set", "optimizer.momentum=0.1", "--scale", "smoke")
    done = study.python("-m", "grokatlas", "try", "my_study/majority", *value)
    assert done.returncode == 0, done.stderr
    figure, *_ = done.stdout.splitlines()
    assert (study.folder / figure).stat().st_size > 1000


def test_snakemake_in_another_folder_is_refused_in_one_line(study):
    done = study.snakemake("-n", "--directory", str(study.folder.parent))
    assert done.returncode == 1
    assert "is not the study's folder" in done.stderr
    assert "Traceback" not in done.stderr
