"""A new study, in which this process runs."""

import shutil
import sys
from pathlib import Path

import pytest

from grokatlas.declare import signatures
from grokatlas.study import new


@pytest.fixture
def new_study(tmp_path, monkeypatch) -> Path:
    """The folder of a new study; its modules and what was read of them are forgotten."""
    folder = tmp_path / "my-study"
    read = (signatures.signature, signatures.defines, signatures.columns, signatures._compiled)
    list(new.make(folder))
    for cached in read:
        cached.cache_clear()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("GROKATLAS_TRACEBACK", raising=False)
    monkeypatch.setattr("grokatlas.rules.jobs.devices.use_repeatable_kernels", lambda: None)
    yield folder
    for name in [name for name, module in sys.modules.items() if str(folder) in repr(module)]:
        del sys.modules[name]
    for cached in read:
        cached.cache_clear()


@pytest.fixture
def plain_study(new_study) -> Path:
    """A new study of one experiment, whose one component of its own is the penalty."""
    for kind in (new_study / "components").iterdir():
        if kind.name != "penalties":
            shutil.rmtree(kind)
    folder = new_study / "config/papers/my_study"
    for name, begin in (
        ("experiments", "# One example of each block"),
        ("paper", "  # a figure without code"),
        ("claims", "votes:"),
    ):
        file = folder / f"{name}.yaml"
        text, cut, _ = file.read_text().partition(begin)
        assert cut, f"{file} has no {begin!r}"
        file.write_text(text)
    return new_study
