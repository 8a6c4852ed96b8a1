"""A mistake in a component or a function of a study is one line with its file and what to do."""

import types
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.errors import UserError
from grokatlas.plan import resources
from grokatlas.rules import measure, rendering
from grokatlas.rules.jobs import component_contracts, component_errors
from tests import cases

TEXTS = cases.texts(__file__)

PENALTY, DRAW = "components/penalties/elastic_net.py", "papers/my_study/shares.py"
EXPERIMENTS = "config/papers/my_study/experiments.yaml"
VALUE = "        return weight * (share * absolute + (1 - share) * squares / 2)\n"
DATA = "return Dataset(x, y, x, y, outputs=2)"
SIZE = '{"samples": points, "shape": (3,), "outputs": 2}'
SIZED = {"model": {"name": "layer"}, "ensemble": {"seed": [0]}}
SIZED |= {"train": {"steps": 3, "dtype": "float64", "snapshots": [], "log": {"every": 1}}}


@pytest.fixture
def study(plain_study):
    return plain_study


def edit(file: str, old: str, new: str) -> None:
    text = Path(file).read_text()
    assert text.count(old) == 1
    Path(file).write_text(text.replace(old, new))


def refused(capsys, *rules: str) -> str:
    """The last line of the first rule that fails, which is no traceback."""
    for rule, places in (("dataset", "data"), ("train", "runs")):
        assert cli.main(["plan", "--scale", "smoke"]) == 0, capsys.readouterr().err
        job_file = next(Path("results", places).glob("*/spec.json"))
        capsys.readouterr()
        if cli.main([rule, str(job_file)]):
            text = capsys.readouterr().err
            assert "Traceback" not in text
            assert text.splitlines()[-1].startswith(f"{job_file}: ")
            return text.splitlines()[-1].removeprefix(f"{job_file}: ")
    return "nothing"


@cases.listed("new", "line", "problem")
def test_a_failure_inside_a_penalty_has_its_line(study, capsys, new, line, problem):
    edit(PENALTY, VALUE, new.replace("$VALUE", VALUE))
    place = f"training failed: {PENALTY}, line {line}: "
    assert refused(capsys).startswith(place + problem)


@cases.listed("old", "new", "problem")
def test_a_penalty_that_returns_something_else_is_named(study, capsys, old, new, problem):
    edit(PENALTY, old.replace("$VALUE", VALUE), new)
    assert refused(capsys).startswith(f"training failed: {PENALTY}: {problem}")


def test_a_file_beside_the_study_is_no_module_of_it(study, capsys):
    Path("helper.py").write_text("")
    edit(PENALTY, "import torch\n", "import torch\nimport nowhere_helper\n")
    assert f"{PENALTY}, line 4: No module named 'nowhere_helper' (" in refused(capsys)
    edit(PENALTY, "nowhere_helper", "helper")
    assert "helper.py in this folder is no module of the study: move it" in refused(capsys)


def labelled(result=DATA, size=SIZE, outputs="outputs", count="6") -> None:
    for kind, name, text in (
        ("tasks", "labelled", TEXTS["task"].format(result=result, size=size)),
        ("models", "layer", TEXTS["model"].format(outputs=outputs, count=count)),
    ):
        Path("components", kind).mkdir(parents=True, exist_ok=True)
        Path("components", kind, f"{name}.py").write_text(text)
    Path(EXPERIMENTS).write_text(TEXTS["labelled"])


@cases.listed("result", "problem")
def test_a_task_that_makes_something_else_is_named_before_anything_trains(
    study, capsys, result, problem
):
    labelled(result)
    assert refused(capsys).startswith(f"components/tasks/labelled.py: {problem}")


def test_a_task_that_fails_has_its_line(study, capsys):
    labelled("return 1 / 0")
    place = "task: components/tasks/labelled.py, line 10: "
    assert refused(capsys) == f"{place}ZeroDivisionError: division by zero"


@cases.listed("outputs", "problem")
def test_a_model_that_cannot_be_trained_is_named_and_no_file_of_ours(
    study, capsys, outputs, problem
):
    labelled(outputs=outputs)
    said = refused(capsys).removeprefix("training failed: ").removeprefix("model layer (")
    assert said.startswith(f"components/models/layer.py{problem}")


@cases.listed("old", "new", "problem")
def test_a_model_that_is_none_is_named(study, capsys, old, new, problem):
    labelled()
    file = Path("components/models/layer.py")
    text = file.read_text().replace(
        "        self.norm = nn.BatchNorm1d(2, dtype=torch.float64)\n", ""
    )
    file.write_text(text.replace(old, new))
    assert refused(capsys).startswith(f"training failed: components/models/layer.py: {problem}")


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        ("[1]", "returns list; return a DataFrame"),
        ("pd.DataFrame([])", "returns no column member"),
        ('pd.DataFrame({"y": [1]})', "returns no column member"),
        ('pd.DataFrame({"member": [0], "seed": [0]})', "returns a column seed, which every table"),
        ('pd.DataFrame({"member": [0], "record": [0]})', "returns a column record, which every"),
        (
            'pd.DataFrame({"member": [0, 1]})',
            "returns a row of member 1, and the run has members 0 to",
        ),
        ('pd.DataFrame({"member": [[0]]})', r"returns a row of member \[0\], and the run has memb"),
        ('pd.DataFrame({"member": ["0"]})', 'returns a row of member "0", and the run has members'),
    ],
)
def test_a_measure_that_returns_something_else_is_named(study, returned, problem):
    file = Path("components/measures/listing.py")
    file.parent.mkdir()
    file.write_text(f"import pandas as pd\n\ndef build():\n    return lambda run: {returned}\n")
    run = types.SimpleNamespace(spec={"ensemble": {"seed": [0]}})
    with pytest.raises(UserError, match=f"^components/measures/listing.py: {problem}"):
        measure.measured({"name": "listing"}, run)


@pytest.mark.parametrize("members", ["[0, 0]", "[]", "[0.0, 0.0]"])
def test_a_measure_has_as_many_rows_of_a_member_as_it_likes(study, members):
    file = Path("components/measures/listing.py")
    file.parent.mkdir()
    text = f'pd.DataFrame({{"member": {members}, "y": 0}})'
    file.write_text(f"import pandas as pd\n\ndef build():\n    return lambda run: {text}\n")
    run = types.SimpleNamespace(spec={"ensemble": {"seed": [0]}})
    assert len(measure.measured({"name": "listing"}, run)) == (2 if "0" in members else 0)


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        (
            "{key: after[key] for key in [*after][:-1]}",
            "leaves norm.bias out; return the parameters",
        ),
        ("{key: after[key] for key in [*after][::-1]}", "changes their order, or adds one; return"),
        ("after | {'own': after['weight']}", "changes their order, or adds one; return"),
        ("None", "`update` returns None in place of the parameters; return a dictionary"),
        ("(after.pop('weight'), after)[1]", "leaves weight out; return the parameters"),
    ],
)
def test_a_link_that_changes_which_parameters_there_are_is_named(study, capsys, returned, problem):
    labelled()
    file = Path("components/updates/own.py")
    file.parent.mkdir()
    file.write_text(TEXTS["link"].format(returned=returned))
    text = Path(EXPERIMENTS).read_text()
    Path(EXPERIMENTS).write_text(text.replace("  train:", "  updates: [{name: own}]\n  train:", 1))
    assert refused(capsys).startswith(f"training failed: components/updates/own.py: {problem}")


def test_where_there_is_no_job_file_the_error_itself_is_told(monkeypatch):
    monkeypatch.delenv("GROKATLAS_TRACEBACK", raising=False)
    assert component_errors.line(ValueError("no column a"), Path("spec")) == "no column a"


def test_what_is_right_is_made(study, capsys):
    labelled()
    assert refused(capsys) == "nothing"


@cases.listed("size", "problem")
def test_a_task_that_cannot_be_sized_is_named(study, size, problem):
    labelled(size=size)
    with pytest.raises(UserError) as caught:
        resources.size({**SIZED, "task": {"name": "labelled", "points": 20}})
    assert str(caught.value).startswith(f"components/tasks/labelled.py: size: {problem}")


def test_a_model_that_cannot_be_counted_is_named(study):
    labelled(count='"six"')
    with pytest.raises(UserError, match=r'layer.py: parameters: returns "six"; return their numb'):
        resources.size({**SIZED, "task": {"name": "labelled", "points": 20}})


def drawn(returned: str) -> str:
    """What is said of a figure whose function ends so."""
    Path(DRAW).write_text(TEXTS["drawing"].format(returned=returned))
    spec = {"paper": "my_study", "figure": "shares", "scale": "smoke", "published": {}}
    spec |= {"module": "grokatlas.papers.my_study.shares", "digitised_points": []}
    try:
        rendering.render(spec, {}, [], "d")
    except Exception as error:
        return str(component_errors.as_user_error(error))
    return "nothing"


@cases.listed("returned", "problem")
def test_a_figure_that_returns_something_else_is_one_line(study, returned, problem):
    place = "" if problem == "nothing" else f"figure my_study/shares: {DRAW}: "
    assert drawn(returned).startswith(place + problem)


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        ("return made, pds", f"{DRAW}, line 10: NameError: name 'pds' is not defined"),
        ("return tables['x']", f"figure my_study/shares: {DRAW}, line 10: cannot be drawn from"),
        ("open('nowhere.csv')", f"{DRAW}, line 10: [Errno 2] No such file or directory: 'nowh"),
    ],
)
def test_a_figure_that_fails_has_its_line(study, returned, problem):
    assert drawn(returned).startswith(problem)


def test_a_traceback_is_shown_to_who_asks_for_it(study, monkeypatch):
    edit(PENALTY, VALUE, "        return wieght * squares\n")
    assert cli.main(["plan", "--scale", "smoke"]) == 0
    monkeypatch.setenv("GROKATLAS_TRACEBACK", "1")
    with pytest.raises(NameError, match="wieght"):
        cli.main(["train", str(next(Path("results/runs").glob("*/spec.json")))])


def test_a_mistake_of_our_own_is_no_line(study, monkeypatch):
    def broken(tasks):
        raise NameError("ours")

    monkeypatch.setattr(component_contracts, "data", broken)
    assert cli.main(["plan", "--scale", "smoke"]) == 0
    with pytest.raises(NameError, match="ours"):
        cli.main(["dataset", str(next(Path("results/data").glob("*/spec.json")))])
