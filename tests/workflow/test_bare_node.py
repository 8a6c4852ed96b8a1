"""A run from its spec alone, where only Python, PyTorch, NumPy, pandas and few others are."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import grokatlas
from grokatlas import digest, jobs, store

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


def test_a_run_needs_its_spec_and_five_packages(tmp_path):
    absent = _absent()
    assert {"pydantic", "snakemake", "matplotlib", "scipy", "yaml", "sklearn"} <= set(
        absent.split()
    )
    sources = tmp_path / "node" / "grokatlas"
    shutil.copytree(grokatlas.__path__[0], sources, ignore=shutil.ignore_patterns("__pycache__"))
    code = digest.code(["grokatlas.training", "grokatlas.models.bilinear_encoder"])
    spec = SPEC | {"train": SPEC["train"] | {"steps": 40, "snapshots": [0, 40]}}
    job = {"kind": "run", "spec": spec, "inputs": ["results/data/0123456789ab"]}
    job |= {"code": code, "digest": jobs.run_digest(spec, code)}
    store.write_json(tmp_path / "spec.json", store.sealed(job))
    results = []
    for place, command in {
        "bare": [sys.executable, "-c", BLOCKED, absent],
        "home": [sys.executable, "-m", "grokatlas"],
    }.items():
        out = tmp_path / place
        arguments = ["train", str(tmp_path / "spec.json"), "--out", str(out), "--device", "cpu"]
        environment = {"PYTHONPATH": str(sources.parent), "PATH": "/usr/bin:/bin"}
        done = subprocess.run(
            [*command, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        manifest = json.loads((out / "manifest.json").read_text())
        kept = {key: value for key, value in manifest.items() if key not in (*TIMES, "seal")}
        files = [file.read_bytes() for file in store.outputs("run", out)]
        results.append((files, kept))
    assert results[0] == results[1]
