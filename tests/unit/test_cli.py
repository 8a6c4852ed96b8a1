"""The command line: what it does not take is told in one line."""

import pytest

from grokatlas import cli
from tests import cases


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
def test_an_atlas_replaces_no_other_files(tmp_path, capsys, out):
    (tmp_path / "thesis.tex").write_text("")
    assert cli.main(["atlas", "spec.json", "--out", str(tmp_path / out)]) == 1
    assert "holds something else, which the pages would replace" in capsys.readouterr().err
    assert (tmp_path / "thesis.tex").exists()


def test_the_help_has_each_command_once_in_a_line(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100
    (rules,) = [line for line in lines if line.startswith("called by rules: ")]
    called = rules.removeprefix("called by rules: ").split(", ")
    listed = [line.split()[0] for line in lines if line.startswith("  ")]
    names = {command.name.partition(" ")[0] for command in cli.COMMANDS}
    assert sorted([*listed, *called]) == sorted(names)


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
