"""The notebook of the documentation shows what its cells show now, and the site shows that."""

import importlib.util
import json
import os
import re
import subprocess
import sys

import pytest

from tests.workflow.conftest import PARTS, ROOT

pytestmark = pytest.mark.workflow
FILE = ROOT / "docs/site/notebook.py"
PROGRAM = """
import json, sys
sys.path.insert(0, {folder!r})
import notebook
content = notebook.load()
notebook.run(content)
json.dump(content, sys.stdout)
"""


@pytest.fixture(scope="module")
def notebook():
    spec = importlib.util.spec_from_file_location("notebook", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _texts(content: dict) -> list[str]:
    """What cells show; of numbers the first digits, as the last ones depend on the machine."""
    outputs = [each["data"] for cell in content["cells"] for each in cell.get("outputs", [])]
    return [re.sub(r"(\.\d\d)\d+", r"\1", "".join(data["text/plain"])) for data in outputs]


def test_its_cells_show_what_it_holds(notebook, tmp_path):
    for part in (*PARTS, "recorded", "docs"):
        (tmp_path / part).symlink_to(ROOT / part)
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "agg"}
    program = PROGRAM.format(folder=str(FILE.parent))
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout[done.stdout.index('{"cells"') :])
    assert _texts(shown) == _texts(notebook.load())
    assert len(_texts(shown)) == 5


def test_its_page_has_the_pictures(notebook):
    page, pictures = notebook.as_page(notebook.load())
    assert re.findall(r"\]\((notebook-\d+\.png)\)", page) == list(pictures)
    assert len(pictures) == 2
    assert all(content.startswith(b"\x89PNG") for content in pictures.values())
    for call in ("tables()", "recorded(", "run(", "figure(", "claims"):
        assert call in page
