"""Keywords of observables that follow another block: `from task.modulus` is its number."""

import pytest

from grokatlas.errors import UserError
from tests.unit.declare.test_cells import TASK, resolve


def gini(tokens):
    keywords = {"label": "embedding", "parameters": ["layers.0.weight"], "tokens": tokens}
    return {"observables": [{"name": "losses"}, {"name": "fourier_gini", **keywords}]}


def test_a_keyword_follows_the_task_and_the_spec_is_that_of_the_number():
    (followed,) = resolve(gini("from task.modulus"))
    (written,) = resolve(gini(TASK["modulus"]))
    assert followed.spec == written.spec
    assert followed.spec["observables"][1]["tokens"] == 5


def test_a_scale_and_a_sweep_that_change_the_task_are_followed():
    declared = gini("from task.modulus") | {"smoke": {"task": {"modulus": 3}}}
    (cell,) = resolve(declared, "smoke")
    assert cell.spec["observables"][1]["tokens"] == 3
    swept = resolve(gini("from task.modulus") | {"sweep": {"task.modulus": [5, 7]}})
    assert [cell.spec["observables"][1]["tokens"] for cell in swept] == [5, 7]


@pytest.mark.parametrize(
    ("tokens", "more", "problem"),
    [
        ("from task.modulo", {}, r"there is no task.modulo; did you mean 'modulus'\?"),
        ("from tsk.modulus", {}, r"there is no tsk.modulus; did you mean 'task'\?"),
        ("from task", {}, r'"from task" names no place; write it as from task.modulus'),
        ("from observables.0", {}, "observables.0 is no value; name a number"),
        ("from observables.1.tokens", {}, "observables.1.tokens is no value"),
        ("from task.encoding", {}, '"one_hot" is not allowed: must be a whole number'),
        (
            "from optimizer.lr",
            {"ensemble": {"optimizer.lr": [0.1, 0.2]}},
            r"members differ in optimizer.lr \(ensemble\) and share what they log; give a value",
        ),
    ],
)
def test_a_reference_that_leads_to_no_value_is_one_line(tokens, more, problem):
    with pytest.raises(UserError, match=rf"experiments.yaml: one.observables.1.tokens: {problem}"):
        resolve(gini(tokens) | more)


def test_other_blocks_and_other_words_are_left_alone():
    task = {"task": {"modulus": "from model.width"}}
    with pytest.raises(UserError, match=r'"from model\.width" is not allowed: must be a whole'):
        resolve(task)
