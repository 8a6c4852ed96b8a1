"""A claims.py offers the functions of other modules: no two of them may share a name."""

import ast
from collections import Counter
from pathlib import Path

import pytest

PAPERS = Path(__file__).parents[3] / "src" / "grokatlas" / "papers"
FILES = sorted(PAPERS.glob("*/claims.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_each_name_that_is_imported_by_a_star_is_that_of_one_function(file):
    tree = ast.parse(file.read_text())
    stars = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    modules = [node.module for node in stars if node.names[0].name == "*"]
    trees = [tree]
    trees += [ast.parse((file.parent / f"{m.split('.')[-1]}.py").read_text()) for m in modules]
    defined = (node.name for each in trees for node in each.body if hasattr(node, "name"))
    counts = Counter(name for name in defined if not name.startswith("_"))
    assert [name for name, count in counts.items() if count > 1] == []
