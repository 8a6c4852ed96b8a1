"""`grokatlas check-components` finds what is wrong with a component, in words."""

import re
import shutil
from pathlib import Path

import pytest

from grokatlas.errors import UserError
from grokatlas.study import check
from tests import cases
from tests.tiers import every, exhaustive

TEXTS = cases.texts(__file__)

SUM = "torch.stack([value.abs().sum() for value in params.values()]).sum()"


def penalty(value: str, before: str = "", keyword: str = "weight: float") -> str:
    return f'''"""A penalty."""
import torch

{before}


def build(*, {keyword}, share: float):
    """Build it."""
    return lambda params, model, inputs: weight * {value}
'''


@pytest.fixture
def study(plain_study):
    return plain_study


def checked(*names: str) -> tuple[list[str], str]:
    """The lines of the checks that failed, without their beginning, and the error."""
    lines, error = [], ""
    try:
        for line in check.main([*names]):
            lines.append(line)
    except UserError as found:
        error = str(found)
    return [line for line in lines if not line.endswith(": ok")], error


PENALTIES = cases.data(__file__)["penalties"]


@pytest.mark.parametrize("kind", every(3, PENALTIES, first=1))
def test_a_penalty_that_breaks_a_promise_is_told_which(study, kind):
    value, changes, problems = PENALTIES[kind]
    text = penalty(value.replace("SUM", SUM), **changes)
    (study / "components/penalties/elastic_net.py").write_text(text)
    found, error = checked()
    assert len(found) == len(problems), found
    for line, problem in zip(found, problems, strict=True):
        assert re.match(f"penalties elastic_net: {problem}", line), line
    assert bool(error) == bool(problems)


def experiment(study: Path, task: str, model: str, observable: str = "") -> None:
    folder = study / "config/papers/my_study"
    text = TEXTS["experiment"].format(task=task, model=model, observable=observable)
    (folder / "experiments.yaml").write_text(text)
    paper = (folder / "paper.yaml").read_text()
    (folder / "paper.yaml").write_text(paper.replace("[elastic_net]", "[one]"))
    shutil.rmtree(study / "components/penalties")


def write(study: Path, name: str, text: str) -> None:
    (study / "components" / name).parent.mkdir(parents=True, exist_ok=True)
    (study / "components" / name).write_text(text)


OURS = "{name: linear, init: normal, negative_slope: 1.0}"


@pytest.mark.parametrize(
    ("label", "samples", "problem"),
    [
        pytest.param(1, 2, "", marks=exhaustive),
        (1, 3, "task two: data are sized: `size` says samples 3, and the data have 2"),
        pytest.param(
            *(
                2,
                2,
                "task two: data are sized: components/tasks/two.py: train_targets are 0 to 2, "
                "and labels of 2 outputs are 0 to 1",
            ),
            marks=exhaustive,
        ),
    ],
)
def test_a_task_that_breaks_a_promise_is_told_which(study, label, samples, problem):
    experiment(study, "two", OURS)
    write(study, "tasks/two.py", TEXTS["task"].format(label=label, samples=samples))
    found, _ = checked("two")
    assert found[:1] == ([problem] if problem else [])


@pytest.mark.parametrize(
    ("outputs", "dtype", "count", "problem"),
    [
        pytest.param("inputs @ self.weight", "float64", 4, "", marks=exhaustive),
        ("inputs @ self.weight", "float64", 5, "`parameters` says 5, and the model has 4"),
        ("(inputs @ self.weight).cumsum(0)", "float64", 4, "samples of a batch mix"),
        pytest.param(
            *("inputs.sum(1) * self.weight[0, 0]", "float64", 4, "outputs are of the shape [2]"),
            marks=exhaustive,
        ),
    ],
)
def test_a_model_that_breaks_a_promise_is_told_which(study, outputs, dtype, count, problem):
    experiment(study, "two", "{name: layer}")
    write(study, "tasks/two.py", TEXTS["task"].format(label=1, samples=2))
    write(
        study, "models/layer.py", TEXTS["model"].format(outputs=outputs, dtype=dtype, count=count)
    )
    found, _ = checked("layer")
    assert [problem in line for line in found[:1]] == ([True] if problem else []), found


@pytest.mark.parametrize(
    ("column", "cast", "problem"),
    [
        pytest.param("largest", "", "", marks=exhaustive),
        ("most", "", "it logs largest, which is not in COLUMNS; add it there"),
    ],
)
def test_an_observable_that_breaks_a_promise_is_told_which(study, column, cast, problem):
    experiment(study, "two", OURS, ", {name: largest}")
    write(study, "tasks/two.py", TEXTS["task"].format(label=1, samples=2))
    write(study, "observables/largest.py", TEXTS["observable"].format(column=column, cast=cast))
    found, _ = checked("largest")
    assert [problem in line for line in found[:1]] == ([True] if problem else []), found


@pytest.mark.parametrize("order", ["mean, square", "square, mean"])
def test_an_optimizer_that_returns_its_state_in_another_order_is_told_so(study, order):
    experiment(study, "two", OURS)
    file = study / "config/papers/my_study/experiments.yaml"
    file.write_text(file.read_text().replace("{name: gd, lr: 0.1}", "{name: mine, lr: 0.1}"))
    write(study, "tasks/two.py", TEXTS["task"].format(label=1, samples=2))
    write(study, "optimizers/mine.py", TEXTS["optimizer"].format(order=order))
    place = "a step returns optimizer.square.weight in the place of optimizer.mean.weight"
    found = f"optimizer mine: state keeps its order: {place}; return the state's tensors in the"
    assert checked("mine")[0] == ([] if order[0] == "m" else [f"{found} order of `init`"])


def test_a_component_of_a_run_that_starts_from_another_is_checked(study):
    experiment(study, "two", OURS)
    folder = study / "config/papers/my_study"
    first = (folder / "experiments.yaml").read_text()
    child = first.replace("one:", "child:").replace("{name: losses}", "{name: largest}")
    (folder / "experiments.yaml").write_text(f"{first}{child}  start: {{experiment: one}}\n")
    paper = (folder / "paper.yaml").read_text()
    (folder / "paper.yaml").write_text(paper.replace("[one]", "[one, child]"))
    write(study, "tasks/two.py", TEXTS["task"].format(label=1, samples=2))
    write(study, "observables/largest.py", TEXTS["observable"].format(column="largest", cast=""))
    assert checked("largest") == ([], "")


def test_a_component_that_no_experiment_uses_is_told_so(study):
    write(study, "penalties/other.py", penalty(SUM))
    found, error = checked("other")
    expected = "no experiment of config/papers uses it at scale smoke; declare one"
    assert found == [f"penalties other: used: {expected}"]
    assert error == "check-components: 1 of 2 checks failed; see above"


def test_there_must_be_a_component_of_that_name(study):
    assert (
        "no component 'elastic' in this study; did you mean 'elastic_net'?" in checked("elastic")[1]
    )
    shutil.rmtree(study / "components")
    assert "no component in components/ of this folder; run it in a study" in checked()[1]
