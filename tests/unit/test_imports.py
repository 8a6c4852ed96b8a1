"""Who may import whom (the architecture), read from the sources."""

import ast
from pathlib import Path

import pytest

import grokatlas

SOURCE = Path(grokatlas.__file__).parent
COMPONENTS = (
    "tasks",
    "models",
    "losses",
    "penalties",
    "gradients",
    "inputs",
    "optimizers",
    "dynamics",
    "observables",
    "measures",
)
PLANNING = (
    "config",
    "declarations",
    "cells",
    "coordinates",
    "layers",
    "validation",
    "plan",
    "job_graph",
    *("summaries", "recorded", "verdicts"),
    "strict_yaml",
    "reference",
)
TORCH_FREE = (
    *PLANNING,
    "digest",
    *("manifest", "environment", "revision", "account"),
    "store",
    "cli",
    "components",
    "signatures",
    "members",
    *("archive", "containers", "lineage", "crate", "provenance", "pages", "show"),
    *("run_store", "entries", "store_commands", "locks", "results_folder", "placing"),
    *("resources", "orphans", "leases", "slurm", "wanted", "status"),
    *("freshness", "job_files", "written_jobs", "invocation", "which_code"),
    *("display", "arguments", "endings"),
    *("doctor/report", "doctor/cluster", "doctor/machine", "doctor/data", "doctor/forecast"),
    *("doctor/files", "doctor/software"),
)
ENGINE = (
    *("training", "run", "group", "programs", "ensemble", "batches", "network", "view"),
    *("history", "record", "schedule", "members", "components"),
    *("tracing", "overwriting", "fused", "span", "unmapped"),
)
HEAVY = {"torch", "matplotlib", "seaborn", "pandas", "numpy", "pyarrow", "scipy"}

LIBRARIES = {"torch", "numpy", "pandas", "math", "itertools", "typing", "collections"}
LIBRARIES |= {"contextlib", "dataclasses"}
# what components of a folder may use beside that: of this package, and of others
HELPERS = {
    "tasks": {"datasets", "images"},
    "optimizers": {"fused"},
    "dynamics": {"finite"},
    "observables": {"finite", "scoring"},
    "inputs": {"scoring"},
    "penalties": {"finite"},
    "measures": {"members", "restore", "scoring"},
}
SPECIAL = {
    "tasks": {"gzip", "io", "tarfile", "sklearn"},  # a task may read files
    "dynamics": {"numba", "concurrent", "functools", "sys"},  # a dynamics may compile its steps
    "measures": {"art"},  # attacks
}


def imports(file: Path, nested: bool = True) -> set[str]:
    """Dotted names a file imports; without `nested`, only at its top level."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree) if nested else tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found


def inside(names: set[str]) -> set[str]:
    """The first level of the package that names lead to: `config`, `models`, ..."""
    return {n.split(".")[1] for n in names if n.startswith("grokatlas.")}


def files(folder: str) -> list[Path]:
    return sorted((SOURCE / folder).rglob("*.py"))


@pytest.mark.parametrize("name", TORCH_FREE)
def test_the_plan_imports_no_heavy_library(name):
    file = SOURCE / f"{name}.py"
    assert not {n.split(".")[0] for n in imports(file, nested=False)} & HEAVY


@pytest.mark.parametrize("name", ENGINE)
def test_the_engine_knows_no_plan_no_paper_and_no_file(name):
    assert inside(imports(SOURCE / f"{name}.py")) <= set(ENGINE)


def test_a_restored_network_needs_the_engine_alone():
    assert inside(imports(SOURCE / "restore.py")) <= set(ENGINE)
    assert inside(imports(SOURCE / "scoring.py")) == set()


@pytest.mark.parametrize("file", [f for c in COMPONENTS for f in files(c)], ids=lambda f: f.stem)
def test_a_component_imports_only_its_own_folder_and_plain_helpers(file):
    own = file.relative_to(SOURCE).parts[0]
    allowed = {own, "kinds", "ensemble"} | HELPERS.get(own, set())
    assert inside(imports(file)) <= allowed
    outside = {n.split(".")[0] for n in imports(file)} - {"grokatlas"}
    assert outside <= LIBRARIES | SPECIAL.get(own, set())


@pytest.mark.parametrize("file", files("papers"), ids=lambda f: f"{f.parent.name}-{f.stem}")
def test_a_figure_knows_no_torch_and_no_other_paper(file):
    names = imports(file)
    own = ".".join(["grokatlas", *file.relative_to(SOURCE).parts[:2]])
    for name in names:
        assert not name.startswith("torch")
        if name.startswith("grokatlas."):
            assert name.startswith(("grokatlas.plots", "grokatlas.readings", own))


@pytest.mark.parametrize("file", sorted(SOURCE.glob("readings*.py")), ids=lambda f: f.stem)
def test_readings_are_plain_numbers(file):
    assert inside(imports(file)) <= {"readings"}
    outside = {n.split(".")[0] for n in imports(file)} - {"grokatlas"}
    assert outside <= {"numpy", "pandas", "collections", "json", "re", "typing"}


def test_every_component_folder_is_tested():
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir() and list(path.glob("*.py"))}
    assert folders - {"papers", "plots", "audit", "doctor", "site"} <= set(COMPONENTS)
