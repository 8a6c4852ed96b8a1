"""The folder is the registry: a component is the file that carries its name.

Every kind of component has a folder of `components`; `build` in a file makes the component from
keyword arguments.

A study is a folder with a file ``study.yaml`` (docs/study.md). In its `ROOMS` it has components,
figures and marks of its own, which are modules of this package wherever Python runs in that folder:
``components/penalties/elastic_net.py`` is ``grokatlas.components.penalties.elastic_net``.
"""

import functools
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any

from grokatlas.code.sources import Loader
from grokatlas.errors import UserError, nearest

PACKAGE = Path(__file__).parent
COMPONENTS = PACKAGE / "components"
STUDY = "study.yaml"  # the file that makes a folder a study
ROOMS = ("components", "papers", "plots")  # the folders of a study that hold modules
STUDIES = "studies"  # of a checkout: its own studies, a folder each

# block of a spec -> folder of its components
FOLDERS = {
    "task": "tasks",
    "model": "models",
    "loss": "losses",
    "optimizer": "optimizers",
    "dynamics": "dynamics",
    "penalties": "penalties",
    "gradients": "gradients",
    "updates": "updates",
    "inputs": "inputs",
    "observables": "observables",
    "measures": "measures",
}
LISTS = ("penalties", "gradients", "updates", "inputs", "observables", "measures")
RENAMED = "RENAMED"  # the constant of a component: older name of a keyword, by its name today
DEFAULTED = "DEFAULTED"  # keywords that came later, with the value that runs had before
DEFAULT_DYNAMICS = "gradient_training"  # of a run that names none


def own_files(folder: Path, pattern: str) -> list[Path]:
    """The files and folders below a folder that match and are ours, sorted; see `hidden`."""
    return sorted(path for path in folder.glob(pattern) if not hidden(path.relative_to(folder)))


def hidden(path: str | PurePath) -> bool:
    """Tell if a name, or a part of a relative path, has a dot in front: it is not ours then.

    Systems and editors leave it: ``._name`` of macOS, ``.name.swp``, a disk's ``.snapshot``.
    """
    return any(part.startswith(".") for part in PurePath(path).parts)


def names(block: str) -> list[str]:
    """The components that a block may name: the files of its folder, here and in the study."""
    folder = FOLDERS[block]
    places = [COMPONENTS, *(root / COMPONENTS.name for root in filter(None, [study()]))]
    files = (file for place in places for file in own_files(place / folder, "*.py"))
    stems = {file.stem for file in files if file.stem.isidentifier()}
    return sorted(stem for stem in stems if not stem.startswith("_"))


def exists(block: str, name: str) -> bool:
    """Tell if a block may name this component."""
    return name.isidentifier() and not name.startswith("_") and path(block, name).is_file()


def entries(
    spec: dict[str, Any], blocks: Iterable[str] = FOLDERS
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The components that a spec names: path (``penalties.0``), block and entry of each."""
    for block in blocks:
        content = spec.get(block) or []
        if isinstance(content, list):
            yield from ((f"{block}.{index}", block, entry) for index, entry in enumerate(content))
        else:
            yield block, block, content


def keywords(entry: dict[str, Any]) -> dict[str, Any]:
    """The keywords of a block, beside the name of its component."""
    return {key: value for key, value in entry.items() if key != "name"}


def module_name(block: str, name: str) -> str:
    """The module of a component, such as ``grokatlas.components.optimizers.adam``."""
    return f"grokatlas.{COMPONENTS.name}.{FOLDERS[block]}.{name}"


def path(block: str, name: str) -> Path:
    """The file of a component, whether there is one or not."""
    ours = COMPONENTS / FOLDERS[block] / f"{name}.py"
    return ours if ours.is_file() else file_in_study(module_name(block, name)) or ours


def load(block: str, name: str) -> ModuleType:
    """Import a component's module, whose `build` then also takes the keywords of a spec.

    A spec has the oldest names of keywords (`RENAMED` of the module), and may lack those that came
    later (`DEFAULTED`).
    """
    module = importlib.import_module(module_name(block, name))
    older = getattr(module, RENAMED, {})
    later = getattr(module, DEFAULTED, {})
    if (older or later) and not hasattr(module.build, "__wrapped__"):
        names = {old: new for new, old in older.items()}
        vars(module)["build"] = _takes_specs(module.build, names, later)
    return module


def _takes_specs(
    build: Callable[..., Any], names: dict[str, str], later: dict[str, Any]
) -> Callable[..., Any]:
    """A component's `build`, called with any name of its keywords."""

    @functools.wraps(build)
    def takes_specs(*blocks: Any, **keywords: Any) -> Any:
        given = {names.get(keyword, keyword): value for keyword, value in keywords.items()}
        return build(*blocks, **(later | given))

    return takes_specs


def study() -> Path | None:
    """The study that this process runs in: the working directory, if it is one."""
    here = Path.cwd()
    return here if (here / STUDY).is_file() else None


def file_in_study(module: str) -> Path | None:
    """The file that a module of the package has in the study; None where there is none."""
    place = _place_in_study(module)
    for file in [place.with_suffix(".py"), place / "__init__.py"] if place else []:
        if file.is_file():
            return file
    return None


def source_file(module: str) -> Path:
    """The file of a module of the package, whether there is one or not.

    Where there is none, it is the place in the study, if there is a study and it may have such a
    module.
    """
    ours = PACKAGE.parent.joinpath(*module.split(".")).with_suffix(".py")
    place = None if ours.is_file() else _place_in_study(module)
    return place.with_suffix(".py") if place else ours


def shown(file: Path, package: Path = PACKAGE) -> str:
    """A source file as errors name it: from the folder of the checkout, or of the study."""
    if file.is_relative_to(package):
        return f"src/{file.relative_to(package.parent).as_posix()}"
    root = study()
    return file.relative_to(root).as_posix() if root and file.is_relative_to(root) else str(file)


def shown_component(block: str, name: str) -> str:
    """The file of a component as errors name it."""
    return shown(path(block, name), COMPONENTS.parent)


def modules_of_study() -> list[Path]:
    """Every module of the study, from its folder; none where there is no study."""
    root = study()
    if root is None:
        return []
    files = (file for room in ROOMS for file in own_files(root / room, "**/*.py"))
    return sorted(file.relative_to(root) for file in files)


def modules() -> dict[str, Path]:
    """The file of every module of the package and of the study, by the module's name."""
    package = PACKAGE.name
    files = {file.relative_to(PACKAGE): file for file in own_files(PACKAGE, "**/*.py")}
    files |= {file: file for file in modules_of_study()}
    names = {".".join((package, *file.with_suffix("").parts)): files[file] for file in files}
    return {name.removesuffix(".__init__"): file for name, file in sorted(names.items())}


def check_study() -> None:
    """Check the folders of the study, if this is one.

    Raises:
        UserError: it is inside the package's folder or checkout, a module is named as one of the
            package, or a folder of `components` is that of no kind.
    """
    root = study()
    if root is None:
        return
    refuse_inside_package(root)
    kinds = sorted(FOLDERS.values())
    for file in modules_of_study():
        if file.parts[0] == COMPONENTS.name and not file.stem.isidentifier():
            problem = "Python takes no module of this name; begin with a letter"
            raise UserError(file.as_posix(), f"{problem}, and use letters, digits and _ alone")
        if (PACKAGE / file).exists():
            problem = f"{STUDY} makes this a study, and grokatlas has a module of that name"
            raise UserError(file.as_posix(), f"{problem}; give it another name")
        if file.parts[0] == COMPONENTS.name and file.parts[1] not in kinds:
            hint = nearest(file.parts[1], kinds)
            raise UserError(file.as_posix(), f"no kind of component has this folder; {hint}")


def refuse_inside_package(folder: Path) -> None:
    """Refuse a folder for a study that belongs to the package; `STUDIES` of a checkout may be."""
    ours, place = PACKAGE.resolve(), folder.resolve()
    checkout = ours.parents[1]
    is_checkout = ours.parent.name == "src" and (checkout / "Snakefile").is_file()
    if is_checkout and place.is_relative_to(checkout / STUDIES):
        match place.relative_to(checkout / STUDIES).parts:
            case [_] | [_, "trials", _]:  # a study, and a trial in one
                return
    for root in [ours, checkout] if is_checkout else [ours]:
        if place.is_relative_to(root):
            problem = f"a study cannot be inside {root}, which is grokatlas itself"
            raise UserError(str(folder), f"{problem}; take a folder elsewhere")


def let_python_find_studies() -> None:
    """Let `import` find the modules of a study, after those of the package."""
    if _StudyFinder not in sys.meta_path:
        sys.meta_path.append(_StudyFinder)


def _place_in_study(module: str) -> Path | None:
    """The path of a module of the package in the study, without suffix; None where none can be."""
    package, *parts = module.split(".")
    root = study() if package == PACKAGE.name and len(parts) > 1 and parts[0] in ROOMS else None
    return root.joinpath(*parts) if root else None


class _StudyFinder:
    """Finds the modules of a study for Python, after it did not find them in the package."""

    @staticmethod
    def find_spec(module: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The module's place, as `importlib.abc.MetaPathFinder.find_spec` tells it."""
        del path, target
        place, file = _place_in_study(module), file_in_study(module)
        if file is not None:
            return spec_from_file_location(module, file, loader=Loader(module, str(file)))
        if place is None or not place.is_dir():
            return None
        spec = ModuleSpec(module, None, is_package=True)  # a folder without __init__.py
        spec.submodule_search_locations = [str(place)]
        return spec
