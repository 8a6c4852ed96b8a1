"""A run from its spec alone, where only Python, PyTorch, NumPy, pandas and few others are."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import grokatlas
from grokatlas.code import code_digest
from grokatlas.results import layout
from grokatlas.rules import dataset as dataset_rule
from tests.checkout import called
from tests.runs import job_file
from tests.tiers import exhaustive

from .test_killed_runs import SPEC, TIMES

LOCK = Path(__file__).parents[2] / "requirements.lock"
# what the machine has, with what these packages themselves import
BARE = {
    *("torch", "numpy", "pandas", "pyarrow", "safetensors", "filelock"),
    *("python-dateutil", "six", "pytz", "tzdata"),
    *("sympy", "mpmath", "networkx", "jinja2", "markupsafe", "fsspec", "typing-extensions"),
    *("setuptools", "packaging"),
}
BLOCKED = """
import sys
from importlib.machinery import PathFinder

class WithoutAbsent(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        absent = name.partition(".")[0] in ABSENT
        return None if absent else PathFinder.find_spec(name, path, target)

ABSENT = set(sys.argv[1].split())
del sys.argv[1]
sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutAbsent
from grokatlas.cli import main
sys.exit(main())
"""


def _absent() -> str:
    """Import names of every locked package that a bare node lacks."""
    import importlib.metadata

    names = re.findall(r"^([A-Za-z0-9_.-]+)==", LOCK.read_text(), re.MULTILINE)
    missing = {re.sub("[-_.]+", "-", name).lower() for name in names} - BARE
    modules = importlib.metadata.packages_distributions()
    absent = []
    for module, packages in modules.items():
        normal = {re.sub("[-_.]+", "-", package).lower() for package in packages}
        if normal <= missing:
            absent.append(module)
    return " ".join(absent)


DIGITS = SPEC | {
    "task": {
        "name": "digits",
        "classes": "all",
        "train_points": 20,
        "test_points": 10,
        "per_class": False,
        "pixels": "unit",
        "targets": "labels",
        "split_seed": 0,
    },
    "model": {"name": "linear", "init": "normal", "negative_slope": 1.0},
}
DATA = "results/data/0123456789ab"


class Node:
    """A folder with the package's sources and a run's spec, where its command can be run.

    Args:
        folder: of sources and spec.
        spec: of the run.
    """

    def __init__(self, folder: Path, spec: dict[str, Any]) -> None:
        self.folder = folder
        sources = folder / "node" / "grokatlas"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(grokatlas.__path__[0], sources, ignore=ignored)
        spec = spec | {"train": spec["train"] | {"steps": 40, "snapshots": [0, 40]}}
        model = f"grokatlas.components.models.{spec['model']['name']}"
        modules = ["grokatlas.engine.training", model]
        job_file(folder / "spec.json", "run", spec, modules, [DATA])

    def train(self, place: str) -> subprocess.CompletedProcess[str]:
        """Train into the folder `place`; all packages are there only if it is ``home``."""
        start = [sys.executable, "-m", "grokatlas"]
        if place != "home":
            start = [sys.executable, "-c", BLOCKED, _absent()]
        spec, out = self.folder / "spec.json", self.folder / place
        return called(
            *start,
            "train",
            str(spec),
            "--out",
            str(out),
            "--device",
            "cpu",
            cwd=self.folder,
            env={"PYTHONPATH": str(self.folder / "node"), "PATH": "/usr/bin:/bin"},
        )

    def trained(self, place: str) -> tuple[list[bytes], dict[str, Any]]:
        """The bytes of history and snapshots, and what the manifest says beside times."""
        done = self.train(place)
        assert done.returncode == 0, done.stderr
        manifest = json.loads((self.folder / place / "manifest.json").read_text())
        kept = {key: value for key, value in manifest.items() if key not in (*TIMES, "seal")}
        return [file.read_bytes() for file in layout.outputs("run", self.folder / place)], kept


def test_a_run_needs_its_spec_and_five_packages(tmp_path):
    absent = {"pydantic", "snakemake", "matplotlib", "scipy", "yaml", "sklearn"}
    assert absent <= set(_absent().split())
    node = Node(tmp_path, SPEC)
    assert node.trained("bare") == node.trained("home")


@exhaustive
def test_data_of_an_absent_library_are_asked_for_and_may_be_brought_along(tmp_path, monkeypatch):
    node = Node(tmp_path, DIGITS)
    refused = node.train("bare")
    assert refused.returncode == 1
    (line,) = [each for each in refused.stderr.splitlines() if "spec.json" in each]
    assert "its data cannot be made here: No module named 'sklearn'; install it, or" in line
    assert f"bring the folder {DATA} along" in line
    monkeypatch.chdir(tmp_path)
    spec, modules = {"tasks": [DIGITS["task"]]}, code_digest.dataset_modules(DIGITS)
    dataset_rule.execute(job_file(Path("data.json"), "dataset", spec, modules), Path(DATA))
    assert node.trained("bare") == node.trained("home")
