"""Who may import whom, by room (folder): read from the sources."""

import ast
from pathlib import Path

import pytest

import grokatlas
from grokatlas.declare.papers import load_papers

SOURCE = Path(grokatlas.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
# room: the rooms that it may import; of a longer name only that module
ROOMS = {
    "registry": "errors code.sources",
    "code": "registry",
    "results": "code registry engine.members",
    "declare": "results code registry engine.members engine.schedule",
    "plan": "declare results code registry engine.members engine.memory",
    "run_store": "plan declare results",
    "cluster": "run_store plan declare results components.image_files engine.memory registry",
    "engine": "registry",
    "components": "engine",
    "claims": "",
    "plots": "",
    "papers": "plots claims.statistics claims.relabelled",
    "audit": "claims plan declare results code registry engine.members",
    "runs": "audit cluster run_store plan declare results engine.members registry",
    "export": "plan results code registry",
    "atlas": "audit plots claims results engine.members registry",
    "rules": "atlas claims plots engine run_store plan declare results code registry",
    "publish": "rules export atlas audit claims plan declare results registry",
    "study": "audit rules export publish cluster engine plots run_store plan declare "
    "results code registry",
    "": "study registry code.sources",
    "cli": "cli_commands rules plan declare results registry",
    "cli_commands": "audit.command_line results registry",
    "__main__": "cli rules.jobs.fork_client",
}
EVERYWHERE = {"errors", "text", "cli_types"}  # they import nothing of this package
# libraries that a plan, a command or a job on a cluster's login node does without
HEAVY = {"torch", "matplotlib", "seaborn", "pandas", "numpy", "pyarrow", "scipy"}
LIGHT_ROOMS = ("code", "declare", "plan", "results", "run_store", "export", "cluster", "runs")
LIGHT_ROOMS += ("publish",)
LIGHT = ("cli", "cli_commands", "cli_types", "registry", "errors", "text", "engine/members")
LIGHT += ("engine/memory", "engine/contracts", "engine/keyword_types", "engine/schedule")
LIBRARIES = {"torch", "numpy", "pandas", "math", "itertools", "typing", "collections"}
LIBRARIES |= {"contextlib", "dataclasses"}
SPECIAL = {  # what components of a kind may use beside these
    "tasks": {"gzip", "io", "tarfile", "sklearn"},  # a task may read files
    "dynamics": {"numba", "concurrent", "functools", "sys"},  # a dynamics may compile its steps
    "measures": {"art", "scipy"},  # attacks, linear programs
}


def name_of(file: Path) -> str:
    """The module of a file, without the package's name: ``engine.run``."""
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(file) for file in FILES}


def imports(file: Path, nested: bool = True, types: bool = True) -> set[str]:
    """Dotted names a file imports; without `nested`, only at its top level.

    Args:
        file: Python source.
        nested: also what functions import.
        types: also what is imported under ``if TYPE_CHECKING``.
    """
    tree = ast.parse(file.read_text(encoding="utf-8"))
    if not types:
        tree.body = [n for n in tree.body if "TYPE_CHECKING" not in ast.unparse(n).split("\n")[0]]
    found = set()
    for node in ast.walk(tree) if nested else tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found


def ours(names: set[str]) -> set[str]:
    """The modules of this package among names, the most exact name of each."""
    used = {name.removeprefix("grokatlas.") for name in names if name.startswith("grokatlas.")}
    used &= MODULES  # without names that are imported from a module
    return {name for name in used if not any(other.startswith(f"{name}.") for other in used)}


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_room_imports_only_the_rooms_below_it(file):
    room = name_of(file).split(".")[0]
    allowed = EVERYWHERE | {room} | set(ROOMS.get(room, "").split())
    others = {name for name in ours(imports(file)) if name.split(".")[0] not in allowed}
    assert others <= allowed


def test_no_modules_import_each_other_in_a_circle():
    below = {name_of(f): ours(imports(f, types=False)) - {name_of(f)} for f in FILES}
    while leaves := {name for name, used in below.items() if not used & set(below)}:
        for name in leaves:
            del below[name]
    assert below == {}


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_what_plans_and_commands_import_is_no_heavy_library(file):
    name = file.relative_to(SOURCE).with_suffix("").as_posix()
    if name.startswith(LIGHT_ROOMS) or name in LIGHT:
        assert not {n.split(".")[0] for n in imports(file, nested=False, types=False)} & HEAVY


COMPONENTS = sorted((SOURCE / "components").glob("*/*.py"))


@pytest.mark.parametrize("file", COMPONENTS, ids=name_of)
def test_a_component_imports_only_its_own_folder_and_few_libraries(file):
    _, folder, _ = name_of(file).split(".")
    inner = {name for name in ours(imports(file)) if name.startswith("components.")}
    inner -= {HELPER} | EXCEPTIONS.get(name_of(file), set())
    assert all(name.startswith(f"components.{folder}.") for name in inner)
    outside = {n.split(".")[0] for n in imports(file)} - {"grokatlas"}
    assert outside <= LIBRARIES | SPECIAL.get(folder, set())


@pytest.mark.parametrize(
    "file", [f for f in COMPONENTS if "\nLIGHT = True" in f.read_text()], ids=name_of
)
def test_a_light_measure_is_computed_without_torch(file):
    names = imports(file)
    assert not {name for name in names if name.split(".")[0] == "torch"}
    assert ours(names) <= {"engine.contracts", "engine.keyword_types"}


@pytest.mark.parametrize("name", ["record", "dataset", "contracts", "members"])
def test_a_job_makes_its_record_and_data_before_torch_is_imported(name):
    """Variables of the environment, on which torch's kernels depend, are set in between."""
    names = imports(SOURCE / f"engine/{name}.py", types=False)
    assert not {each for each in names if each.split(".")[0] == "torch"}
    assert ours(names) <= {"registry", "engine.contracts"}


HELPER = "components.image_files"
# a change of these would train recorded runs anew
EXCEPTIONS = {"components.observables.adam_denominator": {"components.optimizers.adam"}}
VERSIONS = {  # papers that are versions of others
    name: paper.version_of
    for name, paper in load_papers(SOURCE.parents[1] / "config" / "papers", "all").items()
}


@pytest.mark.parametrize("file", sorted((SOURCE / "papers").glob("*/*.py")), ids=name_of)
def test_a_figure_knows_no_torch_and_no_other_paper(file):
    names = imports(file)
    assert not {name for name in names if name.split(".")[0] == "torch"}
    others = {name for name in ours(names) if name.startswith("papers.")}
    own = {name_of(file).split(".")[1], VERSIONS.get(name_of(file).split(".")[1])}
    assert {name.split(".")[1] for name in others} <= own


def test_statistics_are_plain_numbers():
    names = imports(SOURCE / "claims/statistics.py")
    outside = {n.split(".")[0] for n in names}
    assert outside <= {"numpy", "pandas", "collections", "typing"}


def test_the_root_holds_few_files_and_every_folder_says_what_it_is():
    files = [path.name for path in SOURCE.glob("*.py")]
    rooms = [path for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert len(files) <= 8
    assert len(rooms) <= 18
    for room in rooms:
        assert ast.get_docstring(ast.parse((room / "__init__.py").read_text())), room


def test_seaborn_is_imported_by_the_figures_that_use_it_alone():
    using = {name_of(file) for file in FILES if "seaborn" in imports(file)}
    assert using
    assert all(name.startswith("papers.") and "._" not in name for name in using)
