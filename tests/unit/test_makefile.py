"""`make` keeps an environment that is whole, and makes anew one that names another folder."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import cases
from tests.checkout import ROOT, called, program
from tests.tiers import every

TEXTS = cases.texts(__file__)

pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "first"
    folder.mkdir()
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    program(tmp_path / "python", TEXTS["python"])
    return folder


def make(folder: Path, *arguments: str, **variables: str) -> str:
    command = ["make", f"PYTHON={folder.parent / 'python'}", *arguments]
    ambient = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    env = {**ambient, **variables}  # these tests may have been started by `make test`
    done = called(*command, check=True, cwd=folder, env=env)
    return done.stdout


def times_made(folder: Path) -> int:
    make(folder, ".venv/.installed")
    return (folder / "made.txt").read_text().count("made")


def test_make_alone_says_what_there_is_and_makes_nothing(checkout):
    shown = make(checkout)
    assert re.findall("^[a-z-]+", shown, re.MULTILINE)[:2] == ["help", "figures"]
    assert "atlas       from recorded results" in shown
    assert not (checkout / "made.txt").exists()


def test_an_environment_is_made_once(checkout):
    assert times_made(checkout) == 1
    assert times_made(checkout) == 1
    assert (checkout / ".venv/.installed").read_text().strip() == str(checkout)


@pytest.mark.parametrize("how", [shutil.copytree, shutil.move])
def test_a_checkout_elsewhere_gets_an_environment_of_its_own(checkout, how):
    times_made(checkout)
    second = checkout.with_name("second")
    how(checkout, second)
    assert times_made(second) == 2
    assert str(second) in (second / ".venv/bin/activate").read_text()
    assert times_made(second) == 2


def test_another_name_of_the_same_folder_is_no_other_place(checkout):
    times_made(checkout)
    link = checkout.with_name("link")
    link.symlink_to(checkout)
    assert times_made(link) == 1


def test_a_new_lock_installs_into_the_environment_that_is_there(checkout):
    times_made(checkout)
    (checkout / ".venv/kept").touch()
    stamp = checkout / ".venv/.installed"
    os.utime(stamp, (0, 0))
    assert times_made(checkout) == 2
    assert (checkout / ".venv/kept").exists()


def test_an_account_without_a_home_gets_a_cache_in_the_checkout(checkout):
    makefile = checkout / "Makefile"
    makefile.write_text(f"{makefile.read_text()}\nshow: ; @echo $$XDG_CACHE_HOME\n")
    file = str(makefile)  # nothing can be made below a file
    said = make(checkout, "show", HOME=file, XDG_CACHE_HOME="")
    assert said.strip() == str(checkout / ".snakemake/cache")
    assert make(checkout, "show", HOME=str(checkout), XDG_CACHE_HOME="").strip() == ""


def test_an_account_that_names_no_home_gets_one_in_the_checkout(checkout, monkeypatch):
    makefile = checkout / "Makefile"
    makefile.write_text(f"{makefile.read_text()}\nshow: ; @echo $$HOME\n")
    assert make(checkout, "show", HOME="/elsewhere").strip() == "/elsewhere"
    monkeypatch.setenv("XDG_CACHE_HOME", str(checkout / "cache"))
    monkeypatch.delenv("HOME")
    assert make(checkout, "show").strip() == str(checkout / ".snakemake/home")


def test_an_account_whose_pip_installs_for_the_user_gets_an_environment(checkout):
    pip = '"-m pip") echo "user: $PIP_USER" ;;'
    python = checkout.parent / "python"
    python.write_text(python.read_text().replace('"-m pip") : ;;', pip))
    assert "user: 0" in make(checkout, ".venv/.installed", PIP_USER="1")
    assert "user: 0" in make(checkout, ".venv/.installed", "--always-make")


@pytest.fixture
def drawing(checkout):
    """A checkout whose `make figures` runs the real Snakemake on quick jobs."""
    times_made(checkout)
    (checkout / "Snakefile").write_text(TEXTS["snakefile"])
    shutil.copytree(ROOT / "profiles", checkout / "profiles")
    command = f'exec "{sys.executable}" -m snakemake --cores 1 "$@"'
    program(checkout / ".venv/bin/snakemake", command)
    return checkout


def test_a_terminal_shows_bars_with_the_time_left(drawing, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    ours, theirs = pty.openpty()
    command = ["make", "figures"]
    process = subprocess.Popen(command, cwd=drawing, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 4096)
        except OSError:  # the other side is closed
            break
    os.close(ours)
    assert process.wait() == 0, shown.decode()
    assert "Total Progress" in shown.decode()
    assert re.search(r"about \d+(\.\d+)? s left", shown.decode())


@pytest.mark.parametrize(
    ("target", "papers"), every(2, [("figures", {"one", "two"}), ("plates", None)])
)
def test_without_a_terminal_figures_are_of_the_papers_and_plates_of_all(drawing, target, papers):
    for name in ("one", "two", "plates"):
        (drawing / "config" / "papers" / name).mkdir(parents=True)
    told = 'import json; json.dump(config.get("papers"), open("told.json", "w"))'
    (drawing / "Snakefile").write_text(f"{told}\n{TEXTS['snakefile']}")
    command = ["make", target]
    done = called(*command, check=True, cwd=drawing)
    named = json.loads((drawing / "told.json").read_text())
    assert (set(named) if named else None) == papers
    assert "4 of 5 steps (80%) done" in done.stderr
    assert "\x1b" not in done.stderr
