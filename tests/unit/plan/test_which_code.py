"""In a checkout its own code acts, whatever is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grokatlas.errors import UserError
from grokatlas.plan import which_code
from grokatlas.registry import PACKAGE
from tests.checkout import ROOT, called, python


@pytest.fixture
def other(tmp_path) -> Path:
    """Another checkout, whose `store ls` says which code it is."""
    for part in ("Snakefile", "config", "src", "workflow"):
        source = ROOT / part
        copy = shutil.copytree if source.is_dir() else shutil.copy2
        copy(source, tmp_path / part)
    file = tmp_path / "src/grokatlas/run_store/command.py"
    text = file.read_text()
    (tmp_path / "store").mkdir()
    start = text.index("    store, declared = root(given), _declared()\n    runs, data")
    file.write_text(text[:start] + "    return 'the other code'\n" + text[start:])
    return tmp_path


def grokatlas(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
    """The installed command, as a user calls it in a folder."""
    rest = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", which_code.CHOSEN)}
    return python(
        "-m",
        "grokatlas",
        *arguments,
        cwd=folder,
        env={**rest, "PYTHONPATH": str(PACKAGE.parent), **variables},
    )


def test_the_code_of_the_folder_runs(other):
    done = grokatlas(other, "store", "ls", "--store", "store")
    assert done.stdout == "the other code\n"
    assert done.stderr.splitlines() == [
        f"grokatlas: the code of this checkout runs, not {PACKAGE.resolve()}"
    ]


def test_a_job_keeps_the_code_that_its_snakemake_chose(other):
    chosen = {which_code.CHOSEN: str(PACKAGE.resolve())}
    done = grokatlas(other, "store", "ls", "--store", "store", **chosen)
    assert done.stdout.endswith(" in store\n"), done.stderr


def test_the_exit_code_and_the_arguments_are_those_of_the_other(other):
    done = grokatlas(other, "verify", "results/a b", "--results", "nowhere")
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == [
        "nowhere: no such results folder; run `snakemake` to make it"
    ]


def test_no_code_is_chosen_outside_a_checkout(tmp_path):
    assert which_code.of_folder(tmp_path) is None
    assert which_code.of_folder(ROOT) == PACKAGE.resolve()


def test_code_that_cannot_be_reached_is_one_line(other, monkeypatch):
    package = other / "src/grokatlas"
    monkeypatch.setenv(which_code.CHOSEN, str(package.resolve()))
    with pytest.raises(UserError, match="is the code of this checkout, and Python imports"):
        which_code.run_that_of(other, [])


@pytest.mark.parametrize("name", ["a {b}", "a:b", "}"])
def test_a_checkout_whose_path_cannot_be_named_is_refused_at_once(tmp_path, name):
    with pytest.raises(UserError, match=r"has '.*' in its path, .*; move the folder") as caught:
        which_code.refuse_unfit_path(tmp_path / name / "src/grokatlas")
    assert caught.value.place == str(tmp_path / name)


@pytest.mark.parametrize("name", ["a b", "it's", 'a"b', "a[b]", "$a", "a*", "%a", "a;b", "a=b"])
def test_other_signs_in_a_path_are_fine(tmp_path, name):
    which_code.refuse_unfit_path(tmp_path / name / "src/grokatlas")


def test_a_command_names_the_colon_instead_of_the_environment(other):
    moved = other.parent / "a:b"
    other.rename(moved)
    done = grokatlas(moved, "store", "ls", "--store", "store")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{moved}: has ':' in its path")


def test_the_code_of_the_folder_runs_beside_files_with_names_of_libraries(other):
    for name in ("json", "random", "copy", "yaml"):
        (other / f"{name}.py").write_text("raise SystemExit(__file__)\n")
    asked = ("store", "ls", "--store", "store")
    done = grokatlas(other, *asked, PYTHONSAFEPATH="1")
    assert done.stdout == "the other code\n", done.stderr
    installed = Path(sys.executable).with_name("grokatlas")
    done = called(installed, *asked, cwd=other, env={"PATH": "/usr/bin:/bin"})
    assert done.stdout == "the other code\n", done.stderr


def test_the_doctor_says_that_the_path_cannot_be_named(other):
    moved = other.parent / "a {b}"
    other.rename(moved)
    done = grokatlas(moved, "doctor", PYTHONPATH=str(moved / "src"))
    assert done.returncode == 1
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"fail  plan        {moved}: has ")
