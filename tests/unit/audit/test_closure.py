"""Any single edit changes exactly the digests whose closure contains it."""

import copy
import functools
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from grokatlas.code import module_shape
from grokatlas.plan.graph import make_plan
from grokatlas.plan.jobs import Job, Plan
from grokatlas.plan.project import Project
from grokatlas.registry import PACKAGE
from grokatlas.results import hashing
from tests import cases
from tests.checkout import CONFIG
from tests.tiers import exhaustive
from tests.unit import audit_tree


@functools.cache
def project() -> Project:
    return Project(CONFIG, {"papers": "all"}, warn=lambda text: None)


@functools.cache
def smoke() -> Plan:
    return make_plan(project().papers, "smoke")


def digests(plan: Plan) -> dict[Path, str]:
    return {job.target: job.digest for job in plan.jobs}


def closure(jobs: list[Job], hit: Callable[[Job], bool]) -> set[Path]:
    """The targets of the jobs that are hit or that hang on one; upstream jobs come first."""
    found: set[Path] = set()
    for job in jobs:
        if hit(job) or any(upstream.target in found for upstream in job.inputs):
            found.add(job.target)
    return found


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package's sources."""
    folder = tmp_path_factory.mktemp("sources") / PACKAGE.name
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


# from every layer of the package: reached by all, by some and by no job
MODULES = cases.data(__file__)["modules"]


def dotted(module: str) -> str:
    parts = Path(module).with_suffix("").parts
    return ".".join(("grokatlas", *(parts[:-1] if parts[-1] == "__init__" else parts)))


@exhaustive
def test_any_edit_of_a_module_changes_exactly_what_can_reach_it(package, monkeypatch):
    monkeypatch.setattr(module_shape, "PACKAGE", package)
    before = digests(make_plan(project().papers, "smoke"))
    assert before == digests(smoke())
    reached = 0
    for module in MODULES:
        file = package / module
        text = file.read_text(encoding="utf-8")
        file.write_text(text + "\nEDITED = 1\n", encoding="utf-8")
        after = digests(make_plan(project().papers, "smoke"))
        file.write_text(text, encoding="utf-8")
        changed = {target for target in before if before[target] != after[target]}
        expected = closure(smoke().jobs, partial(reaches, dotted(module)))
        assert changed == expected, module
        reached += bool(changed)
    assert 10 < reached < len(MODULES)


@exhaustive
def test_any_comment_or_docstring_changes_nothing(package, monkeypatch):
    monkeypatch.setattr(module_shape, "PACKAGE", package)
    before = digests(smoke())
    for module in MODULES:
        file = package / module
        text = file.read_text(encoding="utf-8")
        file.write_text(f"# a remark\n{text}\n# another\n", encoding="utf-8")
        assert digests(make_plan(project().papers, "smoke")) == before, module
        file.write_text(text, encoding="utf-8")


def reaches(module: str, job: Job) -> bool:
    return module in job.code


def leaves(value, path=()):
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        if isinstance(inner, dict | list) and inner:
            yield from leaves(inner, (*path, key))
        else:
            yield (*path, key)


def changed_leaf(spec, path):
    spec = copy.deepcopy(spec)
    place = spec
    for key in path[:-1]:
        place = place[key]
    old = place[path[-1]]
    place[path[-1]] = old + 1 if type(old) in (int, float) else [old, "edited"]
    return spec


def rebuilt(jobs: list[Job], target: Path, spec: dict) -> dict[Path, str]:
    """The digests when one job has another spec in the same place."""
    made: dict[Path, Job] = {}
    for job in jobs:
        inputs = tuple(made[upstream.target] for upstream in job.inputs)
        new = spec if job.target == target else job.spec
        made[job.target] = Job(job.kind, job.target, new, job.code, inputs)
    return {target: job.digest for target, job in made.items()}


TOY = list(audit_tree.declared().values())


@pytest.mark.parametrize("job", TOY, ids=lambda job: job.target.as_posix()[8:])
def test_any_edit_of_a_spec_changes_exactly_what_depends_on_it(job):
    before = {each.target: each.digest for each in TOY}
    expected = closure(TOY, lambda other: other.target == job.target)
    paths = list(leaves(job.spec))
    assert paths
    for path in paths:
        after = rebuilt(TOY, job.target, changed_leaf(job.spec, path))
        assert {t for t in before if before[t] != after[t]} == expected, path


def test_any_edit_of_a_runs_spec_makes_another_run():
    for run, job in smoke().runs.items():
        ids = {hashing.of(changed_leaf(job.spec, path))[:12] for path in leaves(job.spec)}
        assert len(ids) == len(list(leaves(job.spec)))
        assert run not in ids
