"""Cases and texts of tests that are data: in the YAML file beside their module."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml


@functools.cache
def data(module: str) -> dict[str, Any]:
    """The YAML file of a module, by its ``__file__``. Do not change it."""
    file = Path(module)
    return yaml.safe_load(file.with_suffix(".yaml").read_text(encoding="utf-8"))


def texts(module: str) -> dict[str, str]:
    """The texts of a module's YAML file by name; `module` is its ``__file__``."""
    return data(module)["texts"]


def listed(*names: str, key: str = "") -> Callable[[Any], Any]:
    """A decorator: a case of the test for each row under its name, without ``test_``.

    Args:
        names: of the values of a row; of one name, rows are values.
        key: another name of the rows; if these are named, a case has the name of its row.
    """

    def decorated(test: Any) -> Any:
        rows = data(test.__code__.co_filename)[key or test.__name__.removeprefix("test_")]
        ids = [*rows] if isinstance(rows, dict) else None
        values = [*rows.values()] if isinstance(rows, dict) else rows
        return pytest.mark.parametrize(
            names, values if names[1:] else [[v] for v in values], ids=ids
        )(test)

    return decorated
