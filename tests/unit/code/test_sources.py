"""The text that was hashed is the text that runs, whatever dates and sizes say."""

import os
import sys
from pathlib import Path

import pytest

import grokatlas
from grokatlas.code import sources
from tests.checkout import called


@pytest.fixture
def study(tmp_path):
    """A study with a penalty `mine`, whose file has always the same date."""
    (tmp_path / "study.yaml").write_text('grokatlas: ">=0"\n')
    (tmp_path / "components/penalties").mkdir(parents=True)
    write(tmp_path, "RATE = 1\n")
    return tmp_path


def write(study: Path, text: str) -> None:
    file = study / "components/penalties/mine.py"
    file.write_text(text)
    os.utime(file, (10**9, 10**9))


def run(study: Path, code: str) -> str:
    """What a new Python prints in a folder; it may write compiled modules."""
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    variables["PYTHONPATH"] = str(Path(grokatlas.__file__).parents[1])
    command = [sys.executable, "-c", code]
    done = called(*command, cwd=study, env=variables)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


IMPORTS = "from grokatlas.components.penalties import mine; print(mine.RATE)"


def test_an_edit_of_the_same_size_and_date_is_run(study):
    assert run(study, IMPORTS) == "1"
    write(study, "RATE = 2\n")
    assert run(study, IMPORTS) == "2"


def test_what_was_compiled_is_taken_where_the_source_is_as_it_was(study):
    run(study, IMPORTS)
    (compiled,) = (study / "components/penalties/__pycache__").glob("mine.*.pyc")
    before = compiled.stat().st_mtime_ns
    os.utime(study / "components/penalties/mine.py")
    assert run(study, IMPORTS) == "1"
    assert compiled.stat().st_mtime_ns == before


@pytest.mark.parametrize("harm", [b"", b"\0" * 40, None])
def test_a_damaged_compiled_module_is_compiled_again(study, harm):
    run(study, IMPORTS)
    (compiled,) = (study / "components/penalties/__pycache__").glob("mine.*.pyc")
    compiled.write_bytes(compiled.read_bytes()[:20] if harm is None else harm)
    assert run(study, IMPORTS) == "1"


def test_the_date_of_a_compiled_module_of_the_package_says_nothing(study):
    """Python itself would take it, by date and size."""
    file = Path(sources.__file__).parents[1] / "components/penalties/l1.py"
    stale = "import importlib.util, pathlib, py_compile, sys; "
    stale += f"source = pathlib.Path({str(file)!r}); text = source.read_text(); "
    stale += "other = pathlib.Path('other.py'); other.write_text('RATE = 3'.ljust(len(text))); "
    stale += "import os; os.utime(other, (source.stat().st_mtime,) * 2); "
    stale += "made = py_compile.compile('other.py', 'other.pyc'); "
    stale += "sys.pycache_prefix = str(pathlib.Path('cache').resolve()); "
    stale += "there = pathlib.Path(importlib.util.cache_from_source(str(source))); "
    stale += (
        "there.parent.mkdir(parents=True); there.write_bytes(pathlib.Path(made).read_bytes()); "
    )
    stale += "from grokatlas.components.penalties import l1; print(hasattr(l1, 'build'))"
    assert run(study, stale) == "True"


def test_a_pinned_text_is_imported_after_an_edit(study):
    code = "import pathlib; from grokatlas.code import sources; "
    code += "file = pathlib.Path('components/penalties/mine.py').resolve(); "
    code += f"sources.pin([file]); file.write_text('RATE = 2'); {IMPORTS}; "
    code += "print(sources.executed['grokatlas.components.penalties.mine'])"
    assert run(study, code).split("\n") == ["1", r"b'RATE = 1\n'"]
