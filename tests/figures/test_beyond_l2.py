"""The figures of `beyond_l2` on synthetic tables, compared as data."""

import pandas as pd
import pytest

from grokatlas.papers.beyond_l2 import fig1


@pytest.fixture
def table() -> pd.DataFrame:
    rows = []
    for case in ("blog", "notebook"):
        for seed in range(5):
            for step in range(0, 101, 10):
                row = {"record": "history", "case": case, "seed": seed, "step": step}
                row |= {"task.modulus": 97, "train_accuracy": 1.0, "test_accuracy": seed / 4}
                rows.append(row | {"train_loss": 0.1, "test_loss": step + seed, "l2_norm": 13.0})
            reached = {"t1": 10.0, "t2": 40.0 + 10 * seed if case == "blog" else None}
            rows.append({"record": "grokking_times", "case": case, "seed": seed} | reached)
    return pd.DataFrame(rows)


def test_the_spread_is_the_median_and_the_range_over_seeds(table):
    _, drawn = fig1.draw({"modular_addition": table})
    rows = drawn[(drawn["case"] == "blog") & (drawn["series"] == "test_loss")]
    assert rows["median"].tolist() == [step + 2 for step in rows["step"]]
    assert (rows["low"] == rows["step"]).all()
    assert (rows["high"] == rows["step"] + 4).all()
    assert (rows["seeds"] == 5).all()


def test_times_are_marked_where_they_exist_and_listed_for_each_seed(table):
    figure, drawn = fig1.draw({"modular_addition": table})
    texts = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert texts == {"$t_1$ = 10", "$t_2$ = 60"}
    times = drawn[drawn["series"].isin(["t1", "t2"])]
    assert len(times) == 20
    assert times.query("case == 'notebook' and series == 't2'")["step"].isna().all()


def test_panels_are_linear_with_the_norm_on_twin_axes(table):
    figure, _ = fig1.draw({"modular_addition": table})
    assert len(figure.axes) == 8
    assert {axes.get_xscale() for axes in figure.axes} == {"linear"}
    assert sum(axes.get_ylabel() == "l2 norm" for axes in figure.axes) == 4
    ends = [axes.get_xlim()[1] for axes in figure.axes if axes.get_ylabel() == "accuracy"]
    assert ends == [pytest.approx(88), 100]  # the notebook's case has no t2: all of it is drawn
