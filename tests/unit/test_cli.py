"""The command line: what it does not take is told in one line."""

import pytest

from grokatlas import cli


@pytest.mark.parametrize("given", [["--device", "gpu"], []])
def test_a_device_that_there_is_not_is_refused(monkeypatch, capsys, given):
    monkeypatch.setenv("GROKATLAS_DEVICE", "cpu" if given else "gpu")
    with pytest.raises(SystemExit):
        cli.main(["train", "spec.json", *given])
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.endswith("'gpu' is no device (auto, cpu or cuda; GROKATLAS_DEVICE is the default)")


@pytest.mark.parametrize("given", [["--scale", "smoke"], ["spec.json", "--partial"]])
def test_an_atlas_of_what_is_there_goes_to_its_own_folder(tmp_path, monkeypatch, capsys, given):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["atlas", *given, "--out", "elsewhere"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("--out: is for a job file without --partial")


@pytest.mark.parametrize("out", [".", "thesis.tex"])
def test_an_atlas_replaces_no_other_files(tmp_path, capsys, out):
    (tmp_path / "thesis.tex").write_text("")
    assert cli.main(["atlas", "spec.json", "--out", str(tmp_path / out)]) == 1
    assert "holds something else, which the pages would replace" in capsys.readouterr().err
    assert (tmp_path / "thesis.tex").exists()


def test_a_command_of_an_earlier_version_names_what_to_use_instead(capsys):
    assert cli.main(["rulegraph"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("grokatlas rulegraph: is no longer a command; use `snakemake")
