"""Files and functions stay small enough to be read at once."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
FILES = sorted(SOURCE.rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION = 350, 50  # lines; of a function without its docstring


def _lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function) is not None:
        docstring = function.body[0]
        lines -= docstring.end_lineno - docstring.lineno + 1
    return lines


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.relative_to(SOURCE).as_posix())
def test_a_file_and_its_functions_are_short(file):
    text = file.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST_FILE, "look for the seam"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert _lines(node) <= LONGEST_FUNCTION, f"{node.name} is too long; look for the seam"
