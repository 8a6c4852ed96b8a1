"""What a study has is found beside the package's own, and hides nothing."""

import importlib
import re
import sys

import pytest

import grokatlas
from grokatlas import registry
from grokatlas.cli import main
from grokatlas.code import code_digest
from grokatlas.declare import checks, signatures
from grokatlas.declare import study as studies
from grokatlas.declare.models import Paper
from grokatlas.errors import UserError
from grokatlas.plan import cache
from tests import cases
from tests.checkout import python

MODULE = "grokatlas.components.penalties.doubled"


def test_components_are_found_beside_those_of_the_package(study):
    assert {"doubled", "l1", "l2"} <= set(registry.names("penalties"))
    assert "_doubled" not in registry.names("penalties")
    assert registry.exists("penalties", "doubled")
    assert registry.load("penalties", "doubled").build(weight=2.0) == 4.0
    assert list(signatures.signature("penalties", "doubled").keywords) == ["weight"]


@pytest.mark.parametrize("name", ["._doubled.py", ".doubled.py.swp", ".#doubled.py"])
def test_what_systems_and_editors_leave_is_no_component(study, name):
    for room in ("components/penalties", "papers/mine"):
        (study / room / name).write_bytes(b"\0\5\26\7")
    assert not [each for each in registry.names("penalties") if each.startswith(".")]
    assert not any(registry.hidden(file) for file in registry.modules_of_study())


def test_a_folder_without_study_yaml_is_no_study(study):
    (study / "study.yaml").unlink()
    assert registry.study() is None
    assert "doubled" not in registry.names("penalties")
    assert code_digest.code([MODULE]) == {}
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(MODULE)


def test_papers_and_plots_are_found_and_read_where_python_starts(study):
    program = "from grokatlas.papers.mine import fig1; print(fig1.spots.SIZE, fig1.__file__)"
    done = python("-c", program, check=True)
    assert done.stdout.split() == ["3", str(study / "papers/mine/fig1.py")]


def test_the_code_digest_has_what_a_study_imports(study):
    found = code_digest.code([MODULE])
    assert set(found) == {MODULE, "grokatlas.components.penalties._doubled"}
    before = found[MODULE]
    helper = study / "components/penalties/_doubled.py"
    helper.write_text("def of(weight):\n    return 3 * weight\n")
    assert code_digest.code([MODULE])[MODULE] != before
    helper.write_text("# a comment\ndef of(weight):\n    return 2 * weight\n")
    assert code_digest.code([MODULE])[MODULE] == before


def test_what_the_package_computes_has_the_digest_that_it_has_elsewhere(study, monkeypatch):
    modules = ["grokatlas.engine.training", "grokatlas.components.penalties.l1"]
    here = code_digest.code(modules)
    monkeypatch.chdir(study.parent)
    assert code_digest.code(modules) == here


def test_a_new_module_of_a_study_renews_what_a_plan_keeps(study):
    before = cache._modules_key()
    (study / "components/penalties/another.py").write_text("def build():\n    pass\n")
    assert cache._modules_key() != before


@cases.listed("name")
def test_a_name_that_the_package_has_is_refused(study, name, monkeypatch, capsys):
    (study / name).parent.mkdir(parents=True, exist_ok=True)
    (study / name).write_text("")
    problem = f"{name}: study.yaml makes this a study, and grokatlas has a module of that name"
    with pytest.raises(UserError, match=f"{re.escape(problem)}; give it another name$"):
        studies.check()
    monkeypatch.setattr(sys, "argv", ["grokatlas", "status"])
    assert main() == 1
    assert capsys.readouterr().err == f"{problem}; give it another name\n"


def test_a_folder_of_no_kind_is_refused_with_the_nearest_one(study):
    (study / "components/penalty").mkdir()
    (study / "components/penalty/odd.py").write_text("")
    with pytest.raises(UserError, match=r"^components/penalty/odd.py: no kind.*'penalties'"):
        studies.check()


@pytest.mark.parametrize("name", ["my-pen", "2nd"])
def test_a_component_has_a_name_that_python_takes(study, name):
    (study / "papers/mine/plot-all.py").write_text("")  # nobody imports it
    registry.check_study()
    (study / f"components/penalties/{name}.py").write_text("")
    problem = f"components/penalties/{name}.py: Python takes no module of this name; begin with a"
    with pytest.raises(UserError, match=problem):
        registry.check_study()
    assert name not in registry.names("penalties")


def test_copies_that_a_notebook_keeps_are_no_modules(study):
    (study / "components/.ipynb_checkpoints").mkdir()
    (study / "components/.ipynb_checkpoints/l1-checkpoint.py").write_text("")
    studies.check()
    assert not any("checkpoint" in str(file) for file in registry.modules_of_study())


@cases.listed("text", "problem")
def test_a_study_says_which_versions_it_works_with(study, text, problem):
    (study / "study.yaml").write_text(text)
    with pytest.raises(UserError, match=f"^{problem}") as caught:
        studies.check()
    assert "\n" not in str(caught.value)


def test_this_version_is_one_that_a_study_may_ask_for(study):
    (study / "study.yaml").write_text(f'grokatlas: "=={grokatlas.__version__}"')
    studies.check()


def test_a_study_inside_the_package_is_refused(study, monkeypatch):
    monkeypatch.setattr(registry, "PACKAGE", study.parent)
    with pytest.raises(UserError, match=r"a study cannot be inside .* which is grokatlas itself"):
        registry.check_study()


def test_the_studies_of_a_checkout_may_be_inside_it(study, tmp_path, monkeypatch):
    package = tmp_path / "checkout/src/grokatlas"
    package.mkdir(parents=True)
    (tmp_path / "checkout/Snakefile").write_text("")
    monkeypatch.setattr(registry, "PACKAGE", package)
    registry.refuse_inside_package(tmp_path / "checkout/studies/mine")
    for inner in ("studies", "studies/mine/inner", "mine", "src/grokatlas/studies/mine"):
        with pytest.raises(UserError, match="a study cannot be inside"):
            registry.refuse_inside_package(tmp_path / "checkout" / inner)


def paper(**figures):
    about = {"source": {"title": "t"}, "experiments": {}}
    return Paper.model_validate({**about, "figures": figures})


def test_a_missing_figure_is_missed_in_the_study(study):
    drawn = {"fig1": {"experiments": ["one"], "caption": "c"}}
    papers = {"mine": paper(fig2=drawn["fig1"])}
    papers["mine"].experiments["one"] = None
    with pytest.raises(UserError, match=r"\(papers/mine/fig2.py is missing\); .*'fig1'"):
        checks._check_figure(papers, "mine", "fig2")


def test_a_mistake_in_a_component_names_its_file_in_the_study(study):
    (study / "components/penalties/odd.py").write_text("def build(*, weight):\n    pass\n")
    with pytest.raises(UserError, match=r"^components/penalties/odd.py: keyword weight of build"):
        signatures.signature("penalties", "odd")
    (study / "components/penalties/bad.py").write_text("def build(:\n")
    with pytest.raises(UserError, match=r"^components/penalties/bad.py: line 1: not valid Python"):
        signatures.signature("penalties", "bad")
