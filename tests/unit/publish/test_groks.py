"""What groks, and in how many seconds, is read off tables and the manifests of their runs."""

import numpy as np
import pandas as pd
import pytest

from grokatlas.publish import groks

STEPS = np.arange(0, 110, 10)
CPU = {"device": {"type": "cpu"}, "cpu_seconds": 40.0, "segments": [{}], "host": {"cpu": "EPYC"}}


def table(*, learnt: int = 20, right: int = 80, weight: float = 0.1, lost: bool = False):
    """Two seeds in one run of 100 steps, with one setting."""
    parts = []
    for seed in (0, 1):
        test = np.where(right <= STEPS, 1.0, 0.2)
        test[STEPS == 40] = 0.95 if lost else test[STEPS == 40]
        part = pd.DataFrame({"step": STEPS, "test_accuracy": test, "seed": seed, "member": seed})
        parts.append(part.assign(train_accuracy=np.where(learnt <= STEPS, 1.0, 0.5)))
    made = pd.concat(parts, ignore_index=True).assign(record="history", case="plain", run="r")
    named = {"paper": "toy", "experiment": "e", "scale": "quick"}
    return made.assign(**named, **{"task.name": "xor", "model.name": "mlp", "l2.weight": weight})


def test_times_and_the_share_of_a_seed_in_its_run():
    (row,) = groks.rows(table(), {"r": CPU})
    assert (row["t1"], row["t2"], row["seeds"]) == (20, 80, 2)
    assert row["seconds"] == 40.0 / 200 * 80
    assert (row["task"], row["network"], row["setting"]) == ("xor", "mlp", "plain")


def test_what_is_reached_and_lost_again_does_not_count():
    (row,) = groks.rows(table(lost=True), {"r": CPU})
    assert row["t2"] == 80


@pytest.mark.parametrize("changed", [{"right": 30}, {"right": 200}, {"learnt": 200}])
def test_what_does_not_grok_has_no_row(changed):
    assert list(groks.rows(table(**changed), {"r": CPU})) == []


@pytest.mark.parametrize("changed", [{"device": {"type": "cuda"}}, {"segments": [{}, {}]}])
def test_a_run_whose_seconds_say_nothing_is_left_out(changed):
    assert list(groks.rows(table(), {"r": CPU | changed})) == []


def page(*changed):
    row = {"paper": "toy", "experiment": "e", "scale": "quick", "task": "xor", "network": "mlp"}
    row |= {"setting": "plain", "seeds": "2", "t1": "20", "t2": "60", "seconds": "12"}
    return groks.page([row | each for each in changed])


def test_each_value_of_an_axis_is_a_setting():
    parts = [table(right=80), table(weight=0.5, right=60).assign(run="s")]
    made = list(groks.rows(pd.concat(parts), {"r": CPU, "s": CPU}))
    assert [row["setting"] for row in made] == ["plain, l2.weight 0.1", "plain, l2.weight 0.5"]


def test_the_page_has_the_quickest_setting_of_each_experiment_the_quickest_first():
    slow = {"experiment": "f", "seconds": "4190", "t2": "1234"}
    made = page(slow, {"seconds": "14", "setting": "more"}, {})
    assert "## Xor, mlp" in made
    assert made.index("| 12 | 20 | 60 | 3 | 2 | `toy/e` | plain | quick |") < (
        made.index("| 4,200 | 20 | 1,234 | 62 | 2 | `toy/f` | plain | quick |")
    )
    assert "more" not in made.partition("## Xor")[2]


def test_experiments_that_share_a_run_have_one_row():
    assert page({}, {"paper": "twin"}).count("| 12 |") == 1


def test_a_table_without_accuracies_has_no_row():
    assert list(groks.rows(table().drop(columns="test_accuracy"), {"r": CPU})) == []
