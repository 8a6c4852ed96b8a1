"""What is kept between two calls of Snakemake is never that of another source."""

import json
import os

import pytest

from grokatlas import registry
from grokatlas.code import code_digest, module_shape
from grokatlas.declare import checks
from grokatlas.declare.names import PAPERS
from grokatlas.declare.papers import load_papers
from grokatlas.errors import UserError
from grokatlas.plan import cache

MODULES = {
    "rule": "from grokatlas import parts\nfrom grokatlas.parts import made\nRATE = made(1)\n",
    "parts/__init__": "def made(value):\n    return value\n",
}


class Package:
    """A package in the place of ours."""

    def __init__(self, root) -> None:
        self.root = root
        for name, text in MODULES.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        """Write a module; its date is always the same."""
        path = self.root / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (10**9, 10**9))


@pytest.fixture
def package(tmp_path, monkeypatch):
    for module in (module_shape, registry):
        monkeypatch.setattr(module, "PACKAGE", tmp_path / "grokatlas")
    monkeypatch.chdir(tmp_path)
    cache.FILE.parent.mkdir()
    made = Package(tmp_path / "grokatlas")
    made.write("__init__", "")
    return made


@pytest.fixture(autouse=True)
def parsed(monkeypatch):
    """The modules that were parsed, in turn: by new processes, which remember nothing."""
    names = []
    original = module_shape.source.__wrapped__

    def source(name, path, content):
        names.append(name)
        return original(name, path, content)

    monkeypatch.setattr(module_shape, "source", source)
    return names


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    monkeypatch.setattr(code_digest, "KNOWN", {})


def planned() -> dict[str, str]:
    """The code of a job, as a Snakemake of its own finds it."""
    code_digest.KNOWN.clear()
    key = cache.read_sources()
    sources = code_digest.Sources()
    code = sources.code(["grokatlas.rule"])
    cache.keep_sources(sources, key)
    return code


def as_without() -> dict[str, str]:
    code_digest.KNOWN.clear()
    return code_digest.code(["grokatlas.rule"])


def test_what_did_not_change_is_parsed_once(package, parsed):
    first = planned()
    assert sorted(parsed) == ["grokatlas.parts", "grokatlas.rule"]
    del parsed[:]
    assert planned() == first
    assert parsed == []
    assert as_without() == first


def test_an_edit_of_equal_size_and_date_is_seen(package, parsed):
    first = planned()
    del parsed[:]
    package.write("rule", MODULES["rule"].replace("made(1)", "made(2)"))
    second = planned()
    assert parsed == ["grokatlas.rule"]
    assert second == as_without() != first
    package.write("rule", MODULES["rule"])
    assert planned() == first


def test_a_name_that_became_a_module_is_seen(package):
    first = planned()
    package.write("parts/made", "")
    assert planned() == as_without() != first


def _other_digit(text: str) -> str:
    """A kept file in which one digit of a hash of its sources changed."""
    own = json.loads(text.split("\n")[1])["sources"]["modules"]["grokatlas.rule"][1]
    return text.replace(own, own[:-1] + ("0" if own[-1] != "0" else "1"))


DAMAGED = ["", "{", "[]", "null", '{"sources": {}}', "[" * 10**5]


@pytest.mark.parametrize("damaged", [*(lambda _, t=text: t for text in DAMAGED), _other_digit])
def test_a_damaged_file_is_harmless(package, damaged):
    first = planned()
    written = cache.FILE.read_text()
    cache.FILE.write_text(damaged(written))
    assert cache.FILE.read_text() != written
    assert planned() == planned() == first


@pytest.mark.parametrize("sources", [[], {"key": None}, 3])
def test_a_file_of_another_version_is_harmless(package, sources):
    cache.write(cache.FILE, sources=sources)
    assert planned() == as_without()


def test_where_nothing_can_be_kept_nothing_is_and_no_folder_is_made(package):
    cache.FILE.parent.rmdir()
    assert planned() == as_without()
    assert not cache.FILE.parent.exists()


def test_a_file_that_cannot_be_replaced_is_harmless(package):
    cache.FILE.mkdir()
    assert planned() == as_without()
    assert [file.name for file in cache.FILE.parent.iterdir()] == [cache.FILE.name]


@pytest.fixture
def papers(tmp_path, monkeypatch):
    geometry = load_papers(PAPERS.resolve(), ["geometry"])
    monkeypatch.chdir(tmp_path)
    cache.FILE.parent.mkdir()
    return geometry


@pytest.fixture
def checked(monkeypatch):
    """How often papers were checked."""
    calls = []
    monkeypatch.setattr(checks, "check", calls.append)
    return calls


def test_papers_that_passed_are_not_checked_again_nor_is_another_selection(papers, checked):
    for given in (papers, papers, {}, papers, {}):
        cache.check_once(given)
    assert checked == [papers, {}]


def test_papers_that_changed_are_checked_again(papers, checked):
    optimizer = papers["geometry"].experiments["two_weights"].optimizer
    for value in (float("inf"), None, 1, 1.0, "1.0", [1.0]):
        optimizer["lr"] = value
        del checked[:]
        cache.check_once(papers)
        cache.check_once(papers)
        assert len(checked) == 1, value


def test_papers_are_checked_again_by_other_code(package, checked):
    cache.check_once({})
    package.write("rule", MODULES["rule"].replace("made(1)", "made(2)"))
    cache.check_once({})
    assert len(checked) == 2


def test_a_lock_of_an_editor_is_no_module(package, checked):
    (package.root / ".#rule.py").symlink_to("user@host.1234")
    cache.check_once({})
    cache.check_once({})
    assert len(checked) == 1
    assert planned() == as_without()


def test_a_mistake_is_found_each_time(papers):
    papers["geometry"].figures["fig1"].experiments.append("nowhere")
    for _ in range(2):
        with pytest.raises(UserError, match="no experiment 'nowhere'"):
            cache.check_once(papers)
