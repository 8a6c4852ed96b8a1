import sys
from types import ModuleType

import pytest

from grokatlas import registry
from grokatlas.code import code_digest, module_shape, sources
from grokatlas.errors import UserError
from grokatlas.results import hashing
from tests import cases

TEXTS = cases.texts(__file__)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of its own in the place of ours: writes modules by name."""
    root = tmp_path / "grokatlas"
    monkeypatch.setattr(module_shape, "PACKAGE", root)

    def write(**modules):
        for name, source in modules.items():
            path = root.joinpath(*name.split("__")).with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, encoding="utf-8")

    write(errors="class UserError(Exception): pass")
    (root / "__init__.py").write_text('__version__ = "1"')
    write.root = root
    return write


def _edited(old, new):
    assert TEXTS["source"].count(old) == 1
    return TEXTS["source"].replace(old, new)


def _digest_of(package, source):
    package(rule=source)
    return code_digest.code(["grokatlas.rule"])


@cases.listed("old", "new", key="neutral")
def test_an_edit_without_meaning_changes_nothing(package, old, new):
    assert _digest_of(package, TEXTS["source"]) == _digest_of(package, _edited(old, new))


@cases.listed("old", "new", key="changes")
def test_an_edit_with_meaning_changes_the_digest(package, old, new):
    assert _digest_of(package, TEXTS["source"]) != _digest_of(package, _edited(old, new))


@cases.listed("path", "text")
def test_version_types_and_errors_are_inert(package, path, text):
    package(engine__keyword_types="Count = int", engine__contracts="Params = dict")
    source = (
        "import grokatlas\nfrom grokatlas.engine import keyword_types\n"
        "from grokatlas.engine.keyword_types import Count\n"
        "from grokatlas.engine.contracts import Params\n"
        "from grokatlas.errors import UserError\n" + TEXTS["source"]
    )
    before = _digest_of(package, source)
    assert list(before) == ["grokatlas.rule"]
    (package.root / path).write_text(text)
    assert _digest_of(package, source) == before


def _reached(package, name):
    return {each.removeprefix("grokatlas.") for each in code_digest.code([f"grokatlas.{name}"])}


def test_closure_is_what_a_module_reaches_and_nothing_else(package):
    package(
        top="from grokatlas import middle\nimport numpy\nimport grokatlas.tools.saw",
        middle="def late():\n    from grokatlas.tools import hammer\n    return hammer",
        tools__hammer="from ..bottom import value",
        tools__saw="from .file import sharpen\nfrom . import oil",
        tools__file="import grokatlas.tools.saw",  # a circle
        tools__oil="can = 1",
        tools__unused="import grokatlas.apart",
        bottom="value = 1",
        apart="",
    )
    tools = {"tools.saw", "tools.file", "tools.oil"}
    assert _reached(package, "top") == {"top", "middle", "tools.hammer", "bottom", *tools}
    assert _reached(package, "tools.hammer") == {"tools.hammer", "bottom"}
    (package.root / "tools" / "__init__.py").write_text("from . import oil")  # an import runs it
    assert _reached(package, "tools.hammer") == {"tools.hammer", "bottom", "tools", "tools.oil"}


def test_an_edit_reaches_only_those_who_import_it(package):
    package(top="import grokatlas.bottom", bottom="value = 1", apart="")
    before = {name: code_digest.code([f"grokatlas.{name}"]) for name in ("top", "apart")}
    package(bottom="value = 22")
    after = {name: code_digest.code([f"grokatlas.{name}"]) for name in ("top", "apart")}
    assert before["apart"] == after["apart"]
    assert code_digest.values(before["top"]) != code_digest.values(after["top"])
    assert code_digest.changed(before["top"], after["top"]) == ["grokatlas.bottom"]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (b"x = (\n", r": line 1: not valid Python"),
        (b"x = '\xe9'\n", r": not UTF-8 text \(byte 5\)"),
        (b"x = 1\0\n", r": not valid Python: source code string cannot contain null bytes"),
    ],
)
def test_a_module_that_cannot_be_parsed_is_one_line(package, source, problem):
    package(top="import grokatlas.bottom")
    (package.root / "bottom.py").write_bytes(source)
    with pytest.raises(UserError, match=r"^src/grokatlas/bottom\.py" + problem):
        code_digest.code(["grokatlas.top"])


def test_a_run_starts_from_the_loop_and_the_components_it_names():
    spec = {
        "task": {"name": "one_sample"},
        "model": {"name": "linear"},
        "penalties": [{"name": "l2"}],
        "observables": [{"name": "losses"}, {"name": "norms"}],
        "train": {"steps": 1},
    }
    assert set(code_digest.run_modules(spec)) == {
        "grokatlas.engine.training",
        "grokatlas.components.models.linear",
        "grokatlas.components.penalties.l2",
        "grokatlas.components.observables.losses",
        "grokatlas.components.observables.norms",
    }


def test_the_loop_reaches_no_configuration_no_figure_and_no_component():
    reached = set(code_digest.code(["grokatlas.engine.training"]))
    engine = {"batches", "ensemble", "group", "history", "members", "network", "noise", "observed"}
    engine |= {"programs", "record", "run", "schedule", "span", "training", "unmapped"}
    engine |= {"capture", "memory", "network_loss", "model_trial", "moving", "start"}
    engine |= {"noise_contracts", "noise_kernel", "philox", "update_link"}
    engine |= {"trace.tracing", "trace.in_place", "trace.fused_adam"}
    assert reached == {f"grokatlas.engine.{name}" for name in engine}


@pytest.mark.parametrize(
    ("block", "name"), [(b, n) for b in registry.FOLDERS for n in registry.names(b)]
)
def test_every_component_has_a_digest(block, name):
    module = registry.module_name(block, name)
    assert module in code_digest.code([module])


def test_a_measure_of_networks_stands_for_what_rebuilds_them():
    reached = code_digest.code(["grokatlas.components.measures.robust_accuracy"])
    assert {
        "grokatlas.engine.rebuilt",
        "grokatlas.engine.network",
        "grokatlas.engine.accuracy",
    } <= set(reached)
    assert "grokatlas.engine.programs" not in reached


BEFORE = {
    "top": (
        "from grokatlas import bottom, ensemble as members\n"
        "from grokatlas.tools.saw import cut\n"
        "def build(size):\n    return cut(bottom.value, members.stack(size))\n"
    ),
    "bottom": "value = 1\n",
    "ensemble": "def stack(size):\n    return [size]\n",
    "tools__saw": "from grokatlas.bottom import value\ndef cut(*x):\n    return x, value\n",
}
MOVED = {
    "rooms__top": (
        "from grokatlas.results import files\n"
        "from grokatlas.rooms import stacked as members\n"
        "from grokatlas.rooms.hand.fret_saw import cut\n"
        "def build(size):\n    return cut(files.value, members.stack(size))\n"
    ),
    "results__files": BEFORE["bottom"],
    "rooms__stacked": BEFORE["ensemble"],
    "rooms__hand__fret_saw": BEFORE["tools__saw"].replace("bottom", "results.files"),
}


def _values(package, modules, root):
    package(**modules)
    for folder in package.root.rglob("*"):
        if folder.is_dir():
            (folder / "__init__.py").write_text('"""A room."""')
    module_shape.source.cache_clear()
    return code_digest.values(code_digest.code([f"grokatlas.{root}"]))


def test_moving_and_renaming_modules_changes_nothing(package):
    assert _values(package, BEFORE, "top") == _values(package, MOVED, "rooms.top")


@cases.listed("module", "old", "new")
def test_an_edit_during_a_move_changes_the_digest(package, module, old, new):
    before = _values(package, BEFORE, "top")
    assert MOVED[module].count(old) == 1
    edited = {**MOVED, module: MOVED[module].replace(old, new)}
    assert _values(package, edited, "rooms.top") != before


def test_an_import_from_another_module_of_equal_text_changes_the_digest(package):
    twins = {
        "one": "from grokatlas.three import value\ndef f():\n    return value\n",
        "two": "from grokatlas.four import value\ndef f():\n    return value\n",
        "three": "value = 3\n",
        "four": "value = 4\n",
    }
    uses = "from grokatlas import one, two\nresult = [one.f(), {}.f()]\n"
    first = _values(package, {**twins, "top": uses.format("two")}, "top")
    assert first != _values(package, {**twins, "top": uses.format("one")}, "top")


def test_a_name_that_is_only_passed_on_counts(package):
    shared = {"bottom": "a = 1\nb = 2\n"}
    first = _values(package, {**shared, "top": "from grokatlas.bottom import a as draw\n"}, "top")
    second = _values(package, {**shared, "top": "from grokatlas.bottom import b as draw\n"}, "top")
    assert first != second


def test_a_moved_module_is_no_changed_one_and_an_edited_one_is_named(package):
    package(**BEFORE)
    module_shape.source.cache_clear()
    old = code_digest.code(["grokatlas.top"])
    package(**{**MOVED, "results__files": "value = 2\n"})
    module_shape.source.cache_clear()
    new = code_digest.code(["grokatlas.rooms.top"])
    assert code_digest.changed(old, new) == ["grokatlas.bottom", "grokatlas.results.files"]


PENALTY = "from grokatlas.bottom import value\n\n\ndef build(*, {0}):\n    return {0} * value\n"


def _penalty(package, text, **files):
    for name, content in files.items():
        (package.root / "components/penalties").mkdir(parents=True, exist_ok=True)
        (package.root / "components/penalties" / name.replace("__", ".")).write_text(content)
    package(bottom="value = 1\n", components__penalties__mine=text)
    return code_digest.code(["grokatlas.components.penalties.mine"])


def test_a_renamed_keyword_counts_by_its_oldest_name(package):
    old = _penalty(package, PENALTY.format("rate"))
    renamed = 'RENAMED = {"weight": "rate"}\n' + PENALTY.format("weight")
    assert _penalty(package, renamed) == old
    assert _penalty(package, PENALTY.format("weight")) != old
    assert _penalty(package, renamed.replace("* value", "+ value")) != old


@cases.listed("text", "problem")
def test_what_would_confuse_two_names_is_refused(package, text, problem):
    with pytest.raises(UserError, match=problem) as caught:
        _penalty(package, text + PENALTY.format("weight"))
    assert caught.value.place == "src/grokatlas/components/penalties/mine.py: RENAMED"


def test_a_file_that_a_component_names_is_part_of_it(package):
    reads = 'FILES = ("points.csv",)\n' + PENALTY.format("weight")
    first = _penalty(package, reads, points__csv="1,2\n")
    assert _penalty(package, reads, points__csv="1,2\n") == first
    second = _penalty(package, reads, points__csv="1,3\n")
    assert code_digest.changed(first, second) == ["grokatlas.components.penalties.mine"]
    (files,) = (f for n, f in code_digest.files(list(first)).items() if n.endswith("mine"))
    assert [file.name for file in files] == ["mine.py", "points.csv"]


@pytest.mark.parametrize("module", ["papers__toy__fig1", "plots__house", "components__tasks__own"])
def test_figures_and_marks_name_their_files_as_components_do(package, module):
    text = 'FILES = ("points.csv",)\n'
    package(**{module: text})
    name = f"grokatlas.{module.replace('__', '.')}"
    file = package.root.joinpath(*module.split("__")).with_name("points.csv")
    file.write_text("1\n")
    first = code_digest.code([name])
    file.write_text("2\n")
    assert code_digest.changed(first, code_digest.code([name])) == [name]


@cases.listed("names", "problem")
def test_files_that_cannot_be_hashed_are_refused(package, names, problem):
    with pytest.raises(UserError, match=problem) as caught:
        _penalty(package, f"FILES = {names}\n" + PENALTY.format("weight"))
    assert caught.value.place == "src/grokatlas/components/penalties/mine.py: FILES"


SPECS = {
    "run": {"penalties": [{"name": "rough"}, {"name": "smooth"}], "loss": {"name": "cross"}},
    "dataset": {"tasks": [{"name": "rough"}, {"name": "smooth"}]},
    "table": {"cells": [{"light": [{"name": "rough"}, {"name": "smooth"}]}]},
    "claims": {"papers": {"a": [{"module": "grokatlas.papers.a.rough"}]}},
}


@pytest.mark.parametrize("kind", SPECS)
def test_components_that_exchange_their_names_change_the_digest_of_today_alone(kind):
    modules = code_digest.named_modules(kind, SPECS[kind])
    first, *others = modules
    code = {name: f"{index}" * 64 for index, name in enumerate([*modules, "grokatlas.other"])}
    other = others[0] if others else "grokatlas.other"
    exchanged = code | {first: code[other], other: code[first]}
    before, after = (hashing.of_job(kind, SPECS[kind], c, []) for c in (code, exchanged))
    assert before.today != after.today
    assert before.former == after.former
    assert code_digest.changed(code, exchanged) == sorted([first, other])


def test_a_component_is_known_by_its_folder_and_name_wherever_the_folder_is():
    modules = code_digest.named_modules("run", SPECS["run"])
    code = {name: f"{index}" * 64 for index, name in enumerate(modules)}
    moved = {name.replace("grokatlas.components", "grokatlas.parts"): v for name, v in code.items()}
    assert code_digest.named_values(moved, modules) == code_digest.named_values(code, modules)


@pytest.mark.parametrize("spec", [{}, {"penalties": [1]}, {"loss": {}}, {"penalties": None}])
def test_a_spec_that_no_plan_has_names_no_module(spec):
    assert code_digest.named_modules("run", spec) == []


def test_a_job_imports_what_it_hashed_or_stops(package, monkeypatch):
    package(rule=TEXTS["source"])
    monkeypatch.setattr(sources, "executed", {"grokatlas.rule": TEXTS["source"].encode()})
    monkeypatch.setitem(sys.modules, "grokatlas.rule", ModuleType("grokatlas.rule"))
    assert code_digest.pinned(["grokatlas.rule"]) == code_digest.code(["grokatlas.rule"])
    package(rule=_edited("# a comment", "# another"))
    code_digest.pinned(["grokatlas.rule"])
    package(rule=_edited("LIMIT = 3", "LIMIT = 4"))
    with pytest.raises(UserError, match="was edited after this process had imported it; run it"):
        code_digest.pinned(["grokatlas.rule"])
