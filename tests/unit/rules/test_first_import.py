"""The first import of ART on a machine, by several processes at once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grokatlas import registry
from grokatlas.rules.jobs import first_import

# as ART: writes its file slowly, and fails where another process does so at the same time
CONFIG = """
import json, pathlib, time
folder = pathlib.Path("~/.art").expanduser()
folder.mkdir(exist_ok=True)
if not (folder / "config.json").exists():
    (folder / "busy").touch(exist_ok=False)
    time.sleep(0.5)
    (folder / "config.json").write_text(json.dumps({"ART_DATA_PATH": "here"}))
    (folder / "busy").unlink()
"""
CALL = "from grokatlas.rules.jobs import first_import; first_import.of_art(); import art.config"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "library/art").mkdir(parents=True)
    (tmp_path / "library/art/__init__.py").touch()
    (tmp_path / "library/art/config.py").write_text(CONFIG, encoding="utf-8")
    return tmp_path


def test_processes_that_import_it_first_do_so_one_by_one(home):
    paths = [str(home / "library"), *sys.path]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    call = [sys.executable, "-c", CALL]
    started = [subprocess.Popen(call, env=environment, stderr=subprocess.PIPE) for _ in range(3)]
    ends = [process.communicate()[1].decode() for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], ends


@pytest.mark.parametrize("content", [None, "", "{}"])
def test_a_file_that_is_not_whole_is_not_taken_for_one(home, content):
    if content is not None:
        (home / ".art").mkdir()
        (home / ".art/config.json").write_text(content, encoding="utf-8")
    assert not first_import._written()


def test_a_file_that_is_whole_is_left_alone(home, monkeypatch):
    (home / ".art").mkdir()
    (home / ".art/config.json").write_text('{"ART_DATA_PATH": "here"}', encoding="utf-8")
    imported = []
    monkeypatch.setattr(first_import.importlib, "import_module", imported.append)
    first_import.of_art()
    assert imported == []


@pytest.mark.parametrize(
    ("name", "needed"), [("l2_radius", True), ("robust_accuracy", True), ("cost", False)]
)
def test_only_measures_that_attack_prepare_it(monkeypatch, name, needed):
    called = []
    monkeypatch.setattr(first_import, "of_art", lambda: called.append(name))
    first_import.of_libraries(registry.path("measures", name))
    first_import.of_libraries(Path("nothing.py"))
    assert bool(called) is needed
