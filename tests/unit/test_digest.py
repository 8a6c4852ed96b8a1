import pytest

from grokatlas import components, digest
from grokatlas.errors import UserError

SOURCE = '''
"""A module."""

import numpy as np

LIMIT = 3


class Rule:
    """A rule."""

    def apply(self, value, power=2):
        """Apply it."""
        # a comment
        text = "a"
        return np.sum([value**power, LIMIT * value], axis=0), text


def build(*, rate: float):
    """Build it."""
    return Rule()
'''

NEUTRAL = {
    "comment": ("# a comment", "# another\n        # comment"),
    "no comment": ("        # a comment\n", ""),
    "docstring": ('"""Apply it."""', '"""Apply the rule\n\n        to a value."""'),
    "no docstring": ('        """Apply it."""\n', ""),
    "module docstring": ('"""A module."""', ""),
    "class docstring": ('    """A rule."""\n\n', ""),
    "quotes": ('text = "a"', "text = 'a'"),
    "parentheses": ("LIMIT * value", "(LIMIT * (value))"),
    "trailing comma": ("axis=0)", "axis=0,)"),
    "line breaks": ("value, power=2", "value,\n        power=2,\n    "),
    "blank lines": ("LIMIT = 3\n", "\n\n\nLIMIT = 3\n\n"),
    "number's spelling": ("LIMIT = 3", "LIMIT = 0x3"),
    "split text": ('text = "a"', 'text = "" "a"'),
}
CHANGES = {
    "constant": ("LIMIT = 3", "LIMIT = 4"),
    "type of a constant": ("LIMIT = 3", "LIMIT = 3.0"),
    "truth": ("LIMIT = 3", "LIMIT = True"),
    "operator": ("LIMIT * value", "LIMIT + value"),
    "default": ("power=2", "power=3"),
    "lost default": ("power=2", "power"),
    "import": ("import numpy as np", "import torch as np"),
    "keyword": ("axis=0", "axis=1"),
    "name": ("class Rule", "class Law"),
    "annotation": ("rate: float", "rate: int"),
    "keyword only": ("*, rate", "rate"),
    "order": ("value**power, LIMIT * value", "LIMIT * value, value**power"),
    "text": ('text = "a"', 'text = "b"'),
    "bytes": ('text = "a"', 'text = b"a"'),
    "text as a statement": ('text = "a"', 'text = "a"\n        "a note"'),
    "return": ("return Rule()", "return"),
    "decorator": ("    def apply(self,", "    @staticmethod\n    def apply("),
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of its own in the place of ours: writes modules by name."""
    root = tmp_path / "grokatlas"
    monkeypatch.setattr(digest, "PACKAGE", root)

    def write(**modules):
        for name, source in modules.items():
            path = root.joinpath(*name.split("__")).with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, encoding="utf-8")

    write(kinds="Count = int", errors="class UserError(Exception): pass")
    (root / "__init__.py").write_text('__version__ = "1"')
    write.root = root
    return write


def _edited(old, new):
    assert SOURCE.count(old) == 1
    return SOURCE.replace(old, new)


def _digest_of(package, source):
    package(rule=source)
    digest._module.cache_clear()  # two edits of one length within a clock tick look alike
    return digest.code(["grokatlas.rule"])


@pytest.mark.parametrize(("old", "new"), NEUTRAL.values(), ids=NEUTRAL)
def test_an_edit_without_meaning_changes_nothing(package, old, new):
    assert _digest_of(package, SOURCE) == _digest_of(package, _edited(old, new))


@pytest.mark.parametrize(("old", "new"), CHANGES.values(), ids=CHANGES)
def test_an_edit_with_meaning_changes_the_digest(package, old, new):
    assert _digest_of(package, SOURCE) != _digest_of(package, _edited(old, new))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("__init__.py", '__version__ = "2"'),
        ("kinds.py", "Count = float"),
        ("errors.py", "class UserError(ValueError): pass"),
    ],
)
def test_version_types_and_errors_are_inert(package, path, text):
    source = (
        "import grokatlas\nfrom grokatlas import kinds\nfrom grokatlas.kinds import Count\n"
        "from grokatlas.errors import UserError\n" + SOURCE
    )
    before = _digest_of(package, source)
    assert list(before) == ["grokatlas.rule"]
    (package.root / path).write_text(text)
    assert _digest_of(package, source) == before


def _reached(package, name):
    return {each.removeprefix("grokatlas.") for each in digest.code([f"grokatlas.{name}"])}


def test_closure_is_what_a_module_reaches_and_nothing_else(package):
    package(
        top="from grokatlas import middle\nimport numpy\nimport grokatlas.tools.saw",
        middle="def late():\n    from grokatlas.tools import hammer\n    return hammer",
        tools__hammer="from grokatlas.bottom import value",
        tools__saw="",
        tools__unused="import grokatlas.apart",
        bottom="value = 1",
        apart="",
    )
    assert _reached(package, "top") == {"top", "middle", "tools.hammer", "tools.saw", "bottom"}
    assert _reached(package, "tools.hammer") == {"tools.hammer", "bottom"}


def test_closure_follows_circles(package):
    package(one="import grokatlas.two", two="import grokatlas.one")
    assert _reached(package, "one") == {"one", "two"}


def test_closure_follows_relative_imports(package):
    package(
        tools__saw="from .file import sharpen\nfrom . import oil\nfrom ..bottom import value",
        tools__file="sharpen = 1",
        tools__oil="",
        bottom="value = 1",
    )
    assert _reached(package, "tools.saw") == {"tools.saw", "tools.file", "tools.oil", "bottom"}


def test_closure_holds_the_packages_that_an_import_runs(package):
    package(tools__saw="", tools__oil="")
    (package.root / "tools" / "__init__.py").write_text("from . import oil")
    assert _reached(package, "tools.saw") == {"tools.saw", "tools", "tools.oil"}


def test_an_edit_reaches_only_those_who_import_it(package):
    package(top="import grokatlas.bottom", bottom="value = 1", apart="")
    before = {name: digest.code([f"grokatlas.{name}"]) for name in ("top", "apart")}
    package(bottom="value = 22")
    after = {name: digest.code([f"grokatlas.{name}"]) for name in ("top", "apart")}
    assert before["apart"] == after["apart"]
    assert before["top"] != after["top"]
    assert before["top"]["grokatlas.top"] == after["top"]["grokatlas.top"]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (b"x = (\n", r": line 1: not valid Python"),
        (b"x = '\xe9'\n", r": not UTF-8 text \(byte 5\)"),
    ],
)
def test_a_module_that_cannot_be_parsed_is_one_line(package, source, problem):
    package(top="import grokatlas.bottom")
    (package.root / "bottom.py").write_bytes(source)
    with pytest.raises(UserError, match=r"^src/grokatlas/bottom\.py" + problem):
        digest.code(["grokatlas.top"])


def test_a_run_starts_from_the_loop_and_the_components_it_names():
    spec = {
        "task": {"name": "one_sample"},
        "model": {"name": "linear"},
        "penalties": [{"name": "l2"}],
        "observables": [{"name": "losses"}, {"name": "norms"}],
        "train": {"steps": 1},
    }
    assert set(digest.run_modules(spec)) == {
        "grokatlas.training",
        "grokatlas.models.linear",
        "grokatlas.penalties.l2",
        "grokatlas.observables.losses",
        "grokatlas.observables.norms",
    }


def test_the_loop_reaches_no_configuration_no_figure_and_no_component():
    reached = set(digest.code(["grokatlas.training"]))
    engine = ("batches", "components", "ensemble", "group", "history", "members", "network")
    engine += ("fused", "overwriting", "programs", "record", "run", "schedule", "span", "tracing")
    engine += ("training", "unmapped", "view")
    assert reached == {f"grokatlas.{name}" for name in engine}


@pytest.mark.parametrize(
    ("block", "name"), [(b, n) for b in components.FOLDERS for n in components.names(b)]
)
def test_every_component_has_a_digest(block, name):
    module = components.module_name(block, name)
    assert module in digest.code([module])


def test_a_measure_of_networks_stands_for_what_rebuilds_them():
    reached = digest.code(["grokatlas.measures.robust_accuracy"])
    assert {"grokatlas.restore", "grokatlas.network", "grokatlas.scoring"} <= set(reached)
    assert "grokatlas.programs" not in reached


def test_canonical_text_ignores_order_and_tells_numbers_apart():
    assert digest.of({"a": 1, "b": [2.0]}) == digest.of({"b": [2.0], "a": 1})
    different = [{"a": 1}, {"a": 1.0}, {"a": "1"}, {"a": True}, {"a": [1]}, {"a": None}, {}]
    assert len({digest.of(data) for data in different}) == len(different)
    assert digest.of([1, 2]) != digest.of([2, 1])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_have_no_digest(value):
    with pytest.raises(ValueError, match="Out of range"):
        digest.of({"a": value})
