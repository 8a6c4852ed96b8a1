"""A file that a component reads is in a digest, or the job is refused."""

import importlib
import os
import py_compile
import runpy
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from grokatlas.code import code_digest
from grokatlas.errors import UserError
from grokatlas.rules.jobs import undeclared_reads

MODULE = "grokatlas.components.tasks.own_points"


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study whose task may read ``points.csv`` beside it; another file is at its root."""
    tasks = tmp_path / "components/tasks"
    tasks.mkdir(parents=True)
    (tmp_path / "study.yaml").write_text('grokatlas: ">=0"\n')
    (tasks / "own_points.py").write_text('FILES = ("points.csv",)\n')
    for name in ("components/tasks/points.csv", "other.csv", "plots/house.mplstyle"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_code_that_is_in_no_room_is_no_module(study):
    (study / "helper.py").write_text("SLOPE = 2\n")
    with (
        undeclared_reads.refused([MODULE]),
        pytest.raises(UserError, match=r"helper.py: is read by the job and is in no digest"),
    ):
        runpy.run_path("helper.py")


def test_a_module_in_no_room_is_refused_also_where_python_compiled_it_before(study, monkeypatch):
    (study / "helper.py").write_text("SLOPE = 2\n")
    py_compile.compile("helper.py")
    monkeypatch.syspath_prepend(str(study))
    with (
        undeclared_reads.refused([MODULE]),
        pytest.raises(UserError, match=r"helper.py: is read .*; move it into components, papers"),
    ):
        importlib.import_module("helper")
    sys.modules.pop("helper", None)


def test_a_library_that_is_installed_in_a_study_may_be_read(study):
    library = study / "venv/lib/python3/site-packages/foo.py"
    library.parent.mkdir(parents=True)
    library.write_text("SLOPE = 2\n")
    with undeclared_reads.refused([MODULE]):
        assert runpy.run_path(str(library))["SLOPE"] == 2


READERS = {
    "open": lambda path: Path(path).open().close(),
    "for both": lambda path: Path(path).open("r+").close(),
    "os": lambda path: os.close(os.open(path, os.O_RDONLY)),
    "NumPy": np.loadtxt,
    "pandas": pd.read_csv,
    "from elsewhere": lambda path: Path(f"components/../{path}").read_text(),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_file_that_no_module_names_is_refused(study, read):
    with undeclared_reads.refused([MODULE]):
        with pytest.raises(UserError, match=r"other.csv: is read by the job and is in no digest"):
            read("other.csv")
        read("components/tasks/points.csv")
    read("other.csv")


def test_the_path_to_write_is_from_the_module_that_reads(study):
    reader = study / "components/tasks/own_points.py"
    code = compile("open('other.csv')", str(reader), "exec")
    with (
        undeclared_reads.refused([MODULE]),
        pytest.raises(UserError, match=r'FILES = \("../../other.csv",\)'),
    ):
        exec(code)


def test_a_style_of_a_study_counts(study):
    with (
        undeclared_reads.refused([MODULE]),
        pytest.raises(UserError, match=r'FILES = \("house.mplstyle",\)'),
    ):
        Path("plots/house.mplstyle").read_text()


@pytest.mark.parametrize(
    "name",
    ["results/a.csv", "config/a.yaml", ".venv/a.csv", "components/__pycache__/a.nbi", "plots/a.py"],
)
def test_results_settings_environments_and_code_may_be_read(study, name):
    (study / name).parent.mkdir(parents=True, exist_ok=True)
    (study / name).write_text("1\n")
    with undeclared_reads.refused([MODULE]):
        assert Path(name).read_text() == "1\n"


def test_a_file_that_another_module_names_is_hashed_and_not_read(study):
    Path("components/tasks/other.py").write_text('FILES = ("../../other.csv",)\n')
    with undeclared_reads.refused([MODULE]):
        assert code_digest.code(["grokatlas.components.tasks.other"])
        with pytest.raises(UserError, match=r"other.csv: is read by the job"):
            Path("other.csv").read_text()


def test_data_sets_may_be_read_and_any_file_written(study, monkeypatch):
    (study / "images").mkdir()
    (study / "images/a.gz").write_text("1\n")
    monkeypatch.setenv("GROKATLAS_DATA", str(study / "images"))
    with undeclared_reads.refused([MODULE]):
        assert Path("images/a.gz").read_text() == "1\n"
        Path("notes.txt").write_text("written")


def test_a_folder_that_is_opened_is_no_file_that_is_read(study):
    """As a library does that removes a folder by its descriptor, by names relative to it."""
    with undeclared_reads.refused([MODULE]):
        descriptor = os.open(study, os.O_RDONLY | os.O_DIRECTORY)
        opened = os.open("plots", os.O_RDONLY, dir_fd=descriptor)
        assert os.path.samestat(os.fstat(opened), (study / "plots").stat())
        os.close(opened)
        os.close(descriptor)
