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
