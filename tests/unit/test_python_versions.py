"""Every Python that is here and that the project is for reads all of its sources."""

import os
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from tests.checkout import ROOT, called

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSIONS = [
    each.rpartition(" ")[2]
    for each in PROJECT["classifiers"]
    if re.search(r":: Python :: 3\.\d+$", each)
]
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"


def interpreter(version: str) -> str | None:
    """A Python of this version, on the path or of pyenv."""
    kept = sorted(PYENV.glob(f"{version}.*/bin/python"))
    return str(kept[-1]) if kept else shutil.which(f"python{version}")


def test_the_oldest_is_the_one_that_is_required():
    assert PROJECT["requires-python"] == f">={VERSIONS[0]}"
    text = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert f'python: ["{VERSIONS[0]}", "{VERSIONS[-1]}"]' in text


@pytest.mark.parametrize("version", VERSIONS)
def test_sources_are_read_without_a_warning(version, tmp_path):
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} is here")
    command = [python, "-W", "error", "-m", "compileall", "-q", "src", "tests", "benchmarks"]
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    done = called(*command, cwd=ROOT, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
