"""Wrong input: one line with file, place, value, what is allowed; never a traceback."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grokatlas.errors import UserError
from grokatlas.plan import graph
from grokatlas.plan import project as plan
from grokatlas.results import files, layout
from grokatlas.results.environment import LOWERING
from tests import cases
from tests.checkout import ROOT, called
from tests.tiers import every
from tests.unit.malformed import (
    FILES,
    GOOD_INTERPRETATION,
    changed,
    malformed,
    with_interpretation,
    write_paper,
)

FOLDERS = {"data_dir": "GROKATLAS_DATA", "run_store": "GROKATLAS_RUN_STORE"}
SETTINGS = "scale: quick\npapers: all\ndevice: auto\n"


def write(folder: Path, files: dict[str, str] = FILES, settings: str = SETTINGS) -> Path:
    write_paper(folder / "papers" / "geometry", files)
    (folder / "config.yaml").write_text(settings)
    return folder


def refusal(folder: Path, **overrides: object) -> str:
    """The one line that a project in `folder` is refused with."""
    with pytest.raises(UserError) as caught:
        plan.Project(folder, overrides)
    line = str(caught.value)
    assert line.isprintable()
    assert "pydantic" not in line
    assert "Input should" not in line
    return line


def test_the_good_files_are_accepted(tmp_path):
    files = with_interpretation(GOOD_INTERPRETATION)
    papers = plan.Project(write(tmp_path, files), {}).papers
    assert len(graph.make_plan(papers, "smoke").runs) == 5
    slow = papers["geometry"].interpretations["slow"]
    assert slow.instead["two"].cases == {"descent": "adaptive"}


@pytest.mark.parametrize("case", list(malformed()), ids=lambda case: case.name)
def test_a_mistake_in_a_paper_is_told_in_one_line(tmp_path, case):
    line = refusal(write(tmp_path, case.files))
    assert line.startswith(f"papers/geometry/{case.place}: "), line
    assert case.fragment in line


@pytest.fixture
def _environment(monkeypatch):
    """Whatever a test's `prepare_jobs` sets is undone."""
    named = ("PATH", "PYTHONPATH", "GROKATLAS_DEVICE", *FOLDERS.values(), *plan.KEPT_MEMORY)
    for variable in (*named, *LOWERING["cpu"], *LOWERING["cuda"]):
        monkeypatch.setenv(variable, os.environ.get(variable, ""))


@pytest.mark.usefixtures("_environment")
@pytest.mark.parametrize(("key", "variable"), FOLDERS.items())
def test_jobs_learn_the_folders_of_the_settings(tmp_path, key, variable):
    os.environ[variable] = str(tmp_path)
    plan.Project(write(tmp_path, settings=f"{key}: null\n"), {}).prepare_jobs()
    assert os.environ[variable] == str(tmp_path)
    plan.Project(tmp_path, {key: str(tmp_path / "papers")}).prepare_jobs()
    assert os.environ[variable] == str(tmp_path / "papers")


@pytest.mark.usefixtures("_environment")
def test_jobs_compute_in_full_and_keep_freed_memory_unless_told_otherwise(tmp_path):
    first, second = plan.KEPT_MEMORY
    del os.environ[first]
    os.environ |= {second: "0", "DNNL_DEFAULT_FPMATH_MODE": "BF16"}
    plan.Project(write(tmp_path), {}).prepare_jobs()
    assert (os.environ[first], os.environ[second]) == (str(32 * 1024**2), "0")
    assert "DNNL_DEFAULT_FPMATH_MODE" not in os.environ


@pytest.mark.usefixtures("_environment")
@pytest.mark.parametrize("key", FOLDERS)
@pytest.mark.parametrize("overridden", [False, True])
@pytest.mark.parametrize("folder", ["nowhere", "~nobody_at_all/data"])
def test_a_folder_that_is_not_there_is_refused(tmp_path, key, overridden, folder):
    overrides = {key: folder} if overridden else {}
    project = plan.Project(write(tmp_path, settings=f"{key}: {folder}\n"), overrides)
    with pytest.raises(UserError, match="no folder") as caught:
        project.prepare_jobs()
    place = "--config" if overridden else "config.yaml"
    assert str(caught.value).startswith(f"{place}: {key}: ")


@pytest.mark.usefixtures("_environment")
@pytest.mark.parametrize("folder", ["results", "results/store"])
def test_results_are_no_run_store(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    (tmp_path / folder).mkdir(parents=True)
    project = plan.Project(write(tmp_path, settings=f"run_store: {folder}\n"), {})
    with pytest.raises(UserError, match=r"run_store: .* is inside results, so that each run"):
        project.prepare_jobs()


@pytest.mark.usefixtures("_environment")
def test_a_job_needs_no_run_store(tmp_path):
    """A node may not have it: its training is not lost."""
    project = plan.Project(write(tmp_path, settings="run_store: nowhere\n"), {})
    plan.tell_jobs(project.settings, {}, main=False)
    assert os.environ[FOLDERS["run_store"]].endswith("nowhere")


@cases.listed("settings", "place", "fragment")
def test_a_mistake_in_the_settings_is_told_in_one_line(tmp_path, settings, place, fragment):
    line = refusal(write(tmp_path, settings=settings))
    assert line.startswith(f"{place}: "), line
    assert fragment in line


@pytest.mark.parametrize(
    ("overrides", "place"),
    [({"scale": "fast"}, "--config: scale"), ({"papers": ["x"]}, "--config: papers.0")],
)
def test_a_mistake_on_the_command_line_is_placed_there(tmp_path, overrides, place):
    assert refusal(write(tmp_path), **overrides).startswith(f"{place}: ")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "must be a block of keys, not null"),
        (b"# only a comment\n", "must be a block of keys, not null"),
        (b"- source\n", 'must be a block of keys, not ["source"]'),
        (b"source: \xff\xfe\n", "not UTF-8 text (byte 8); save it as UTF-8"),
        (b"source: \x00\n", "not valid YAML"),
    ],
)
def test_a_file_that_is_no_paper(tmp_path, content, problem):
    (write(tmp_path) / "papers" / "geometry" / "paper.yaml").write_bytes(content)
    assert refusal(tmp_path).startswith(f"papers/geometry/paper.yaml: {problem}")


def test_a_file_that_is_not_there(tmp_path):
    (write(tmp_path) / "papers" / "geometry" / "paper.yaml").unlink()
    assert refusal(tmp_path).startswith("papers: no paper in ")
    (tmp_path / "config.yaml").unlink()
    assert refusal(tmp_path) == "config.yaml: no such file; add it"
    (tmp_path / "config.yaml").mkdir()
    assert refusal(tmp_path) == "config.yaml: cannot be read: Is a directory"


@pytest.mark.parametrize("name", ["Geometry", "geo-metry", "a b", 51 * "a"])
def test_a_paper_with_a_name_that_makes_no_file(tmp_path, name):
    write_paper(write(tmp_path) / "papers" / name)
    assert refusal(tmp_path).startswith(f"papers/{name}: is not a name for a paper")


def test_the_longest_names_have_files_on_every_disk(tmp_path):
    name = 50 * "a"
    project = plan.Project(write(tmp_path, changed("descent:", f"{name}:")), {})
    assert name in project.papers["geometry"].experiments["two"].cases
    manifest = layout.manifest_of("table", layout.table_stem("smoke", "geometry", name))
    for file in (manifest.name, f"{name}-{name}.png"):  # the second is a picture of the atlas
        with files.atomic(tmp_path / file) as temporary:
            assert len(temporary.name) <= 143


@pytest.mark.parametrize("name", ["other.yaml", "other.yml"])
def test_a_paper_in_one_file_is_told_where_its_parts_go(tmp_path, name):
    (write(tmp_path) / "papers" / name).write_text("source: {}\n")
    line = refusal(tmp_path)
    assert line.startswith(f"papers/{name}: is not read: a paper is a folder of paper.yaml, ")


def test_files_of_editors_are_no_papers(tmp_path):
    (write(tmp_path) / "papers" / "._geometry.yaml").write_bytes(b"\x00\x05")
    (tmp_path / "papers" / ".git").mkdir()
    assert list(plan.Project(tmp_path, {}).papers) == ["geometry"]


def test_a_paper_without_functions(tmp_path):
    write(tmp_path)
    (tmp_path / "papers" / "geometry").rename(tmp_path / "papers" / "unknown")
    place = "papers/unknown/paper.yaml: figures.fig1"
    assert refusal(tmp_path).startswith(f"{place}: no function draws it")


def test_every_scale_is_checked_whatever_is_run(tmp_path):
    write(tmp_path, changed("steps: 5}", "steps: none}"))
    place = "papers/geometry/experiments.yaml: one.smoke.train.steps"
    assert refusal(tmp_path, scale="paper").startswith(f"{place}: ")


def test_only_chosen_papers_are_read(tmp_path):
    write_paper(write(tmp_path) / "papers" / "beyond_l2", {"paper.yaml": "5"})
    assert list(plan.Project(tmp_path, {"papers": ["geometry"]}).papers) == ["geometry"]


def test_an_experiment_that_no_figure_uses_is_a_warning(tmp_path):
    warnings = []
    plan.Project(write(tmp_path, changed("[one, two]", "[one]")), {}, warnings.append)
    (line,) = warnings
    assert line.startswith("warning: papers/geometry/experiments.yaml: two: no figure uses it")


@pytest.mark.workflow
@pytest.mark.parametrize(
    ("old", "new", "options", "expected"),
    every(
        4,
        [
            ("lr: 0.07}", "lr: '0.07'}", [], "experiments.yaml: two_weights.optimizer.lr: "),
            ("{name: mse", "{name: msee", [], "paper.yaml: defaults.loss.name: "),
            ("\ntwo_weights:", "\n\ttwo_weights:", [], "line "),
            ("", "", ["--config", "scale=papr"], "--config: scale: "),
        ],
    ),
)
def test_snakemake_prints_one_line_and_fails(tmp_path, old, new, options, expected):
    finished = snakemake(tmp_path, old, new, options)
    (line,) = finished.stderr.splitlines()
    assert finished.returncode == 1
    assert expected in line
    assert "Traceback" not in finished.stdout


@pytest.mark.workflow
def test_snakemake_goes_on_after_a_warning(tmp_path):
    finished = snakemake(tmp_path, "experiments: [two_weights]", "experiments: [three_weights]", [])
    assert finished.returncode == 0
    assert "experiments.yaml: two_weights: no figure uses it" in finished.stderr
    assert "Traceback" not in finished.stderr


def snakemake(folder: Path, old: str, new: str, options: list[str]) -> subprocess.CompletedProcess:
    """A dry run in a copy of the workflow with a change in the files of `geometry`."""
    shutil.copy(ROOT / "Snakefile", folder)
    for part in ("workflow", "config", "src"):
        shutil.copytree(ROOT / part, folder / part)
    files = sorted((folder / "config" / "papers" / "geometry").iterdir())
    assert any(old in file.read_text() for file in files)
    for file in files:
        file.write_text(file.read_text().replace(old, new))
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", *options]
    plain = {key: value for key, value in os.environ.items() if key != "SNAKEMAKE_PROFILE"}
    return called(*command, cwd=folder, env=plain)
