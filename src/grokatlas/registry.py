"""The folder is the registry: a component is the file that carries its name.

Every kind of component has a folder of `components`; `build` in a file makes the component from
keyword arguments.
"""

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = Path(__file__).parent
COMPONENTS = PACKAGE / "components"

# block of a spec -> folder of its components
FOLDERS = {
    "task": "tasks",
    "model": "models",
    "loss": "losses",
    "optimizer": "optimizers",
    "dynamics": "dynamics",
    "penalties": "penalties",
    "gradients": "gradients",
    "inputs": "inputs",
    "observables": "observables",
    "measures": "measures",
}
LISTS = ("penalties", "gradients", "inputs", "observables", "measures")
DEFAULT_DYNAMICS = "gradient_training"  # of a run that names none


def names(block: str) -> list[str]:
    """The components that a block may name: the files of its folder."""
    files = (COMPONENTS / FOLDERS[block]).glob("*.py")
    return sorted(file.stem for file in files if not file.stem.startswith("_"))


def exists(block: str, name: str) -> bool:
    """Whether a block may name this component."""
    return name.isidentifier() and not name.startswith("_") and path(block, name).is_file()


def keywords(entry: dict[str, Any]) -> dict[str, Any]:
    """What a block says beside the name of its component."""
    return {key: value for key, value in entry.items() if key != "name"}


def module_name(block: str, name: str) -> str:
    """The module of a component, such as ``grokatlas.components.optimizers.adam``."""
    return f"grokatlas.{COMPONENTS.name}.{FOLDERS[block]}.{name}"


def path(block: str, name: str) -> Path:
    """The file of a component."""
    return COMPONENTS / FOLDERS[block] / f"{name}.py"


def load(block: str, name: str) -> ModuleType:
    """Import a component's module."""
    return importlib.import_module(module_name(block, name))
