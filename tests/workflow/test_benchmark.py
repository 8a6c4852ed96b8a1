"""`grokatlas benchmark` in an empty folder, with the package as a wheel holds it."""

import shutil
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from tests.workflow.conftest import once
from tests.workflow.test_study import Study, install

pytestmark = pytest.mark.workflow

METHOD = """\
methods:
  shrink:
    title: shrinkage of all weights
    source: a test
    updates: [{name: weight_decay, parameters: ["*"], towards: zero}]
    vary: {updates.0.rate: [1e-4, 1e-3, 1e-2, 0.1]}
"""
ENTRY = "benchmark-mine"


@pytest.fixture(scope="session")
def made(tmp_path_factory, worker_id) -> Path:
    """A folder with the installed package and an entry on one task at scale smoke."""

    def make(folder: Path) -> None:
        install(folder / "site")
        (folder / "empty").mkdir()
        (folder / "empty/mine.yaml").write_text(METHOD, encoding="utf-8")
        given = ("add", "mine.yaml", "--tasks", "xor", "--scale", "smoke")
        done = Study(folder / "empty").python("-m", "grokatlas", "benchmark", *given)
        assert done.returncode == 0, done.stdout + done.stderr
        (folder / "told.txt").write_text(done.stdout, encoding="utf-8")

    return once(tmp_path_factory, worker_id, "a-benchmark", make)


def command(made: Path, folder: Path, *arguments: str):
    """Run `grokatlas benchmark` in a folder beside the installed package."""
    if not (folder.parent / "site").exists():
        (folder.parent / "site").symlink_to(made / "site")
    folder.mkdir(exist_ok=True)
    return Study(folder).python("-m", "grokatlas", "benchmark", *arguments)


def test_an_entry_tells_its_time_and_its_rank_and_packs_a_submission(made):
    told = (made / "told.txt").read_text(encoding="utf-8")
    assert told.startswith(f"{ENTRY}: 2 runs to train, about ")
    folder = made / "empty" / ENTRY
    rows = pd.read_csv(folder / "rows.csv")
    assert set(rows["method"]) == {"own", "shrink"}  # the baseline has no recorded rows at smoke
    assert (rows.groupby("method")["seed"].nunique() == 8).all()
    assert " of 2" in told
    assert (folder / "benchmark.png").read_bytes().startswith(b"\x89PNG")
    assert "packed" in told


def test_a_submission_is_checked_to_its_runs_and_gives_the_same_row(made, tmp_path):
    submission = made / "empty" / ENTRY / "submission.zip"
    done = command(made, tmp_path / "check", "check", str(submission))
    assert done.returncode == 0, done.stdout + done.stderr
    told = (made / "told.txt").read_text(encoding="utf-8")
    rows = [line for line in told.splitlines() if "shrink" in line and " of 2" in line]
    assert len(rows) == 2
    assert set(rows) <= set(done.stdout.splitlines())


@pytest.mark.parametrize("name", ["history.parquet", "experiments.yaml", "xor__shrink.parquet"])
def test_a_tampered_submission_is_refused_by_the_name_of_the_file(made, tmp_path, name):
    submission, tampered = made / "empty" / ENTRY / "submission.zip", tmp_path / "tampered.zip"
    with zipfile.ZipFile(submission) as old, zipfile.ZipFile(tampered, "w") as new:
        changed = next(each for each in old.namelist() if each.endswith(name))
        for each in old.namelist():
            text = old.read(each)
            new.writestr(each, bytes([text[0] ^ 1]) + text[1:] if each == changed else text)
    done = command(made, tmp_path / "check", "check", str(tampered))
    assert done.returncode == 1
    assert changed in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_submission_of_another_task_than_the_benchmarks_is_refused(made, tmp_path):
    folder = tmp_path / "easier"
    shutil.copytree(made / "empty" / ENTRY, folder)
    (tmp_path / "site").symlink_to(made / "site")
    file = folder / "config/papers/benchmark/experiments.yaml"
    text = file.read_text(encoding="utf-8")
    assert "amplitude: 0.2" in text
    file.write_text(text.replace("amplitude: 0.2", "amplitude: 0.9"), encoding="utf-8")
    study = Study(folder)
    done = study.python("-m", "snakemake", "--cores", "2")
    assert done.returncode == 0, done.stderr
    done = study.python("-m", "grokatlas", "pack", "easier.zip")
    assert done.returncode == 0, done.stderr
    done = command(made, tmp_path / "check", "check", str(folder / "easier.zip"))
    assert done.returncode == 1
    assert "experiments.yaml: is not what benchmark 1 makes of config/methods.yaml" in done.stderr


def test_the_rows_become_a_page(made, tmp_path):
    rows = made / "empty" / ENTRY / "rows.csv"
    done = command(made, tmp_path / "p", "page", "p.html", "--scale", "smoke", "--rows", str(rows))
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "p/p.html").read_text(encoding="utf-8")
    assert page.count("<table>") == 2
    assert "XOR clusters, MLP, weight decay" in page
    link = f"{ENTRY}/results/smoke/atlas/paper-benchmark.html"
    assert f"{link}#xor__shrink" in page
    pages = made / "empty" / ENTRY / "results/smoke/atlas/paper-benchmark.html"
    assert 'id="xor__shrink"' in pages.read_text(encoding="utf-8")


def test_a_misspelt_component_is_one_line_that_names_the_file(made, tmp_path):
    folder = tmp_path / "p"
    folder.mkdir()
    wrong = METHOD.replace("name: weight_decay", "name: weight_decai")
    (folder / "mine.yaml").write_text(wrong, encoding="utf-8")
    done = command(made, folder, "add", "mine.yaml", "--tasks", "xor", "--dry-run")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("mine.yaml: ")
    assert "did you mean 'weight_decay'?" in line
