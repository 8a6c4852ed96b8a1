"""A mistake in a component or a function of a study is one line with its file and what to do."""

import sys
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.declare import signatures as S  # noqa: N812
from grokatlas.errors import UserError
from grokatlas.plan import resources
from grokatlas.rules import rendering
from grokatlas.rules.jobs import component_contracts, component_errors
from grokatlas.study import new

PENALTY, DRAW = "components/penalties/elastic_net.py", "papers/my_study/shares.py"
EXPERIMENTS = "config/papers/my_study/experiments.yaml"
VALUE = "        return weight * (share * absolute + (1 - share) * squares / 2)\n"
TASK = '''"""Points."""
import numpy as np
from grokatlas.engine.dataset import Dataset


def build(*, points: int):
    """Build it."""
    x = np.random.default_rng(0).normal(size=(points, 3))
    y = (x[:, 0] > 0).astype(int)
    {result}


def size(*, points):
    """Its size."""
    return {size}
'''
DATA = "return Dataset(x, y, x, y, outputs=2)"
SIZE = '{"samples": points, "shape": (3,), "outputs": 2}'
MODEL = '''"""A network."""
import torch
from torch import nn


class Layer(nn.Module):
    """A layer."""

    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.norm = nn.BatchNorm1d(2, dtype=torch.float64)
        self.register_buffer("mean", torch.zeros(2, dtype=torch.float64))

    def forward(self, inputs):
        """Outputs."""
        outputs = inputs @ self.weight
        return {outputs}


def build(*, data, generator):
    """Build it."""
    return Layer(torch.randn(3, 2, generator=generator, dtype=torch.float64))


def parameters(data, **_):
    """Their number."""
    return {count}
'''
DRAWING = '''"""A figure."""
import pandas as pd
from matplotlib.figure import Figure


def draw(tables):
    """Draw it."""
    made, data = Figure(), pd.DataFrame()
    made.subplots()
    {returned}
'''
LABELLED = """
elastic_net:
  task: {name: labelled, points: 20}
  model: {name: layer}
  loss: {name: cross_entropy}
  optimizer: {name: gd, lr: 0.1}
  observables: [{name: losses}, {name: accuracies}]
  train: {steps: 3, dtype: float64}
  ensemble: {seed: 2}
"""
SIZED = {"model": {"name": "layer"}, "ensemble": {"seed": [0]}}
SIZED |= {"train": {"steps": 3, "dtype": "float64", "snapshots": [], "log": {"every": 1}}}


@pytest.fixture
def study(tmp_path, monkeypatch) -> Path:
    """A new study; its modules and what was read of them are forgotten."""
    folder = tmp_path / "my-study"
    list(new.make(folder))
    monkeypatch.chdir(folder)
    monkeypatch.delenv("GROKATLAS_TRACEBACK", raising=False)
    monkeypatch.setattr("grokatlas.rules.jobs.devices.use_repeatable_kernels", lambda: None)
    yield folder
    for name in [name for name, module in sys.modules.items() if str(folder) in repr(module)]:
        del sys.modules[name]
    for cached in (S.signature, S.defines, S.columns, S._compiled):
        cached.cache_clear()


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


@pytest.mark.parametrize(
    ("new", "line", "problem"),
    [
        (f"        if squares > 1:\n            return 0\n{VALUE}", 24, "branches on a value, or"),
        ("        return squares * torch.rand(())\n", 24, "draws random numbers; a model, an opt"),
        ("        return wieght * squares\n", 24, "NameError: name 'wieght' is not defined"),
        ("        return params['nope'].sum()\n", 24, "KeyError: 'nope'"),
        ("        return squares @ torch.ones(3)\n", 24, "both arguments to matmul need to be"),
        ("        return torch.tensor(squares.numpy())\n", 24, "Can't call numpy() on Tensor that"),
    ],
)
def test_a_failure_inside_a_penalty_has_its_line(study, capsys, new, line, problem):
    edit(PENALTY, VALUE, new)
    place = f"training failed: {PENALTY}, line {line}: "
    assert refused(capsys).startswith(place + problem)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            VALUE,
            "        return squares[None]\n",
            "its value is of the shape [1]; return one number",
        ),
        (VALUE, "        squares\n", "its value is of type None; return one number"),
        ("    return penalty\n", "", "`build` returns None; return the function"),
    ],
)
def test_a_penalty_that_returns_something_else_is_named(study, capsys, old, new, problem):
    edit(PENALTY, old, new)
    assert refused(capsys).startswith(f"training failed: {PENALTY}: {problem}")


def test_a_file_beside_the_study_is_no_module_of_it(study, capsys):
    Path("helper.py").write_text("")
    edit(PENALTY, "import torch\n", "import torch\nimport nowhere_helper\n")
    assert f"{PENALTY}, line 4: No module named 'nowhere_helper' (" in refused(capsys)
    edit(PENALTY, "nowhere_helper", "helper")
    assert "helper.py in this folder is no module of the study: move it" in refused(capsys)


def labelled(result=DATA, size=SIZE, outputs="outputs", count="6") -> None:
    for kind, name, text in (
        ("tasks", "labelled", TASK.format(result=result, size=size)),
        ("models", "layer", MODEL.format(outputs=outputs, count=count)),
    ):
        Path("components", kind).mkdir(parents=True)
        Path("components", kind, f"{name}.py").write_text(text)
    Path(EXPERIMENTS).write_text(LABELLED)


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        ("y = y[:, None]; " + DATA, "train_targets have the shape [20, 1], and labels are [N]"),
        ("y = y * 1.0; " + DATA, "train_targets have the shape [20], and real targets are [N, C]"),
        ("y = y + 5; " + DATA, "train_targets are 5 to 6, and labels of 2 outputs are 0 to 1"),
        ("y = y[:3]; " + DATA, "train_inputs have the shape [20, 3], and train_targets [3]"),
        ("return x, y", "`build` returns tuple; return a Dataset"),
        ("pass", "`build` returns None; return a Dataset"),
        ("x = x.tolist(); " + DATA, "train_inputs is of type list; make it a NumPy array"),
        ("x = x.astype(object); " + DATA, "train_inputs is of type object; make it a NumPy"),
    ],
)
def test_a_task_that_makes_something_else_is_named_before_anything_trains(
    study, capsys, result, problem
):
    labelled(result)
    assert refused(capsys).startswith(f"components/tasks/labelled.py: {problem}")


def test_a_task_that_fails_has_its_line(study, capsys):
    labelled("return 1 / 0")
    place = "task: components/tasks/labelled.py, line 10: "
    assert refused(capsys) == f"{place}ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("outputs", "problem"),
    [
        ("nn.functional.dropout(outputs)", ", line 18: draws random numbers; a model, an"),
        (
            "self.norm(outputs)",
            "): its forward pass changes norm.running_mean, and a model has no state beside its ",
        ),
        (
            "nn.functional.batch_norm(outputs, self.mean, self.mean, training=True)",
            "): its forward pass changes mean, and a model has no state beside its parameters",
        ),
        ("outputs @ self.weight", ", line 18: mat1 and mat2 shapes cannot be multiplied"),
        (
            "outputs[:, None]",
            "): its outputs are of the shape [8, 1, 2], and one row for each",
        ),
        (
            "outputs[:, 0]",
            "): its outputs are of the shape [8], and one row for each",
        ),
        (
            "(outputs, outputs)",
            "): its outputs are of type tuple, and one row",
        ),
    ],
)
def test_a_model_that_cannot_be_trained_is_named_and_no_file_of_ours(
    study, capsys, outputs, problem
):
    labelled(outputs=outputs)
    said = refused(capsys).removeprefix("training failed: ").removeprefix("model layer (")
    assert said.startswith(f"components/models/layer.py{problem}")


def test_what_is_right_is_made(study, capsys):
    labelled()
    assert refused(capsys) == "nothing"


@pytest.mark.parametrize(
    ("size", "problem"),
    [
        ("{**sizes}", "failed: NameError: name 'sizes' is not defined"),
        ('{"samples": points}', 'returns {"samples": 20}; return a dictionary such as {"samples"'),
        ("points", "returns 20; return a dictionary such as"),
    ],
)
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
    Path(DRAW).write_text(DRAWING.format(returned=returned))
    spec = {"paper": "my_study", "figure": "shares", "scale": "smoke", "published": {}}
    spec |= {"module": "grokatlas.papers.my_study.shares", "digitised_points": []}
    try:
        rendering.render(spec, {}, [], "d")
    except Exception as error:
        return str(component_errors.as_user_error(error))
    return "nothing"


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        ("return made", "draw returns Figure; return (Figure, DataFrame)"),
        ("pass", "draw returns NoneType; return (Figure, DataFrame)"),
        ("return data, made", "draw returns DataFrame, Figure; return (Figure, DataFrame)"),
        ("return made, {}", "draw returns Figure, dict; return (Figure, DataFrame)"),
        ("return made, data, data", "draw returns Figure, DataFrame, DataFrame; return (Figure"),
        ("return made, data", "nothing"),
    ],
)
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
