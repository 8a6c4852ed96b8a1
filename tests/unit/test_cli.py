"""The command line: what it does not take is told in one line."""

import contextlib
import os
import subprocess
import sys

import pytest

import grokatlas
from grokatlas import cli, cli_commands
from grokatlas.results import files
from tests import cases
from tests.checkout import ROOT


@pytest.mark.parametrize("given", [["--device", "gpu"], []])
def test_a_device_that_there_is_not_is_refused(monkeypatch, capsys, given):
    monkeypatch.setenv("GROKATLAS_DEVICE", "cpu" if given else "gpu")
    with pytest.raises(SystemExit):
        cli.main(["train", "spec.json", *given])
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.endswith("'gpu' is no device (auto, cpu or cuda; GROKATLAS_DEVICE is the default)")


@pytest.mark.parametrize("given", [["--scale", "smoke"], ["spec.json", "--partial"]])
def test_an_atlas_of_what_is_there_goes_to_its_own_folder(here, capsys, given):
    assert cli.main(["atlas", *given, "--out", "elsewhere"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("--out: is for a job file without --partial")


@pytest.mark.parametrize("out", [".", "thesis.tex"])
@pytest.mark.parametrize("pages", [[], ["index.html"], ["index.html", "manifest.json"]])
def test_an_atlas_replaces_no_other_files(tmp_path, capsys, out, pages):
    (tmp_path / "thesis.tex").write_text("")
    for page in pages:
        (tmp_path / page).write_text("mine")
    if "manifest.json" in pages:  # pages of ours among which something else was put
        content = {"kind": "atlas", "outputs": {"index.html": "0"}}
        files.write_json(tmp_path / "manifest.json", files.sealed(content))
    assert cli.main(["atlas", "spec.json", "--out", str(tmp_path / out)]) == 1
    assert "holds something else, which the pages would replace" in capsys.readouterr().err
    assert (tmp_path / "thesis.tex").exists()


@pytest.mark.parametrize("given", [[], ["help"], ["--help"]])
def test_the_help_has_each_command_once_in_a_line_but_those_of_rules(capsys, given):
    with contextlib.suppress(SystemExit):
        assert cli.main(given) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    listed = [line.split()[0] for line in lines if line.startswith("  ")]
    of_rules = {command.name for command in cli_commands.JOBS} - {"atlas"}
    names = {command.name.partition(" ")[0] for command in cli_commands.COMMANDS}
    assert sorted(listed) == sorted(names - of_rules)


def test_an_option_of_several_values_that_is_given_twice_keeps_all():
    several = [
        (command.name, argument.names[0], argument.keywords.get("action"))
        for command in cli_commands.COMMANDS
        for argument in command.arguments
        if argument.names[0].startswith("-") and argument.keywords.get("nargs") in ("*", "+")
    ]
    assert several
    assert not [each for each in several if each[2] != "extend"]


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"grokatlas {grokatlas.__version__}\n"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["verfy", "geometry/fig1"], "no such command; did you mean 'verify'?"),
        (["verify", "--strickt"], "takes no --strickt; did you mean '--strict'?"),
    ],
)
def test_what_is_not_taken_is_told_the_nearest(capsys, given, told):
    assert cli.main(given) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"grokatlas {given[0]}: {told}"


def test_a_figure_that_is_given_to_a_rules_command_is_told_what_makes_it(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert cli.main(["figure", "geometry/fig1"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("`snakemake results/quick/figures/geometry/fig1.pdf` makes it")


@pytest.mark.parametrize(
    ("typed", "name", "not_offered"),
    [
        ("verify geometry/fi", "geometry/fig1", "geometry/two_weights"),
        ("explain N1", "N18", "A11"),
        ("try geometry/two_", "geometry/two_weights", "geometry/fig1"),
        ("components pen", "penalties", "model"),
        ("", "verify", "N18"),
    ],
)
def test_a_shell_is_offered_names(tmp_path, typed, name, not_offered):
    line = f"grokatlas {typed}"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path / "offered"),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }
    command = [sys.executable, "-m", "grokatlas"]
    subprocess.run(command, env=os.environ | asked, cwd=ROOT, check=False, timeout=300)
    offered = [each.strip() for each in (tmp_path / "offered").read_text().split("\n")]
    assert name in offered
    assert not_offered not in offered


def test_a_command_of_an_earlier_version_names_what_to_use_instead(capsys):
    assert cli.main(["rulegraph"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("grokatlas rulegraph: is no longer a command; use `snakemake")


@cases.listed("given")
def test_an_empty_text_is_not_taken_for_this_folder(here, capsys, given):
    assert cli.main(given) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(": is empty; give a value, or leave it out")
    assert list(here.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    folder = tmp_path / "file/my-study"
    assert cli.main(["new", str(folder)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{folder}: Not a directory; see that the path is right")
    monkeypatch.setenv("GROKATLAS_TRACEBACK", "1")
    with pytest.raises(NotADirectoryError):
        cli.main(["new", str(folder)])


@pytest.mark.parametrize("command", ["compare", "diff"])
def test_a_comparison_that_cannot_be_made_is_no_difference(here, command):
    assert cli.main([command, "nowhere", "elsewhere"]) == 2
    assert cli.main(["show", "nowhere"]) == 1


def test_the_components_of_a_kind_are_listed_with_their_keywords(capsys):
    assert cli.main(["components", "optimizers"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "optimizer:"
    place = next(k for k, line in enumerate(lines) if line.startswith("  gd: "))
    assert lines[place + 1].startswith("    lr: a number")
    assert cli.main(["components", "penaltys"]) == 1
    assert "did you mean 'penalties'?" in capsys.readouterr().err
