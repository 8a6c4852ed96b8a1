"""A folder that is a study, with a penalty, a figure and marks, in which this process runs."""

import sys
from pathlib import Path

import pytest

PENALTY = '''"""Twice a weight."""
from grokatlas.components.penalties import _doubled


def build(*, weight: float):
    """Build it."""
    return _doubled.of(weight)
'''
FILES = {
    "study.yaml": 'grokatlas: ">=0"\n',
    "components/penalties/doubled.py": PENALTY,
    "components/penalties/_doubled.py": "def of(weight):\n    return 2 * weight\n",
    "papers/mine/fig1.py": "from grokatlas.plots import spots\n\n\ndef draw(tables):\n    pass\n",
    "papers/mine/claims.py": "def number(tables, case):\n    return []\n",
    "plots/spots.py": "SIZE = 3\n",
}


@pytest.fixture
def study(tmp_path: Path, monkeypatch) -> Path:
    """The study's folder; modules that are imported from it are forgotten afterwards."""
    folder = tmp_path / "my-study"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.chdir(folder)
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if name.startswith("grokatlas."):
            del sys.modules[name]
