"""A declared figure: any table, one colour for each setting, what was logged of both sides."""

import pandas as pd
import pytest

from grokatlas.errors import UserError
from grokatlas.plots import curves


def table(rates=(0.1, 0.2), seeds=(0, 1), cases=("",), **columns) -> pd.DataFrame:
    columns = columns or {"train_loss": 1.0, "test_loss": 2.0}
    made = [
        {"record": "history", "case": case or f"optimizer.lr={rate}", "optimizer.lr": rate}
        | {"model.name": "linear", "seed": seed, "step": step, "parameters.weight.0": seed}
        | {name: value * rate / (step + 1) + seed for name, value in columns.items()}
        for case in cases
        for rate in rates
        for seed in seeds
        for step in (0, 1, 10, 100)
    ]
    return pd.DataFrame([*made, {"record": "reached_steps", "case": "x", "step": None}])


def test_each_setting_is_a_line_with_the_range_of_its_seeds():
    figure, drawn = curves.draw({"rates": table()})
    assert set(drawn["setting"]) == {"optimizer.lr 0.1", "optimizer.lr 0.2"}
    assert set(drawn["series"]) == {"train_loss", "test_loss"}
    assert drawn["seeds"].eq(2).all()
    assert (drawn["high"] - drawn["low"]).round(9).eq(1).all()
    (axes,) = figure.axes
    assert axes.get_ylabel() == "loss"
    assert axes.get_xscale() == axes.get_yscale() == "log"
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [*drawn["setting"].unique()]


def test_an_accuracy_has_a_panel_of_its_own_that_is_not_logarithmic():
    names = ("train_accuracy", "test_accuracy", "train_loss", "l1_norm")
    figure, drawn = curves.draw({"rates": table(**dict.fromkeys(names, 0.5))})
    shown = {axes.get_ylabel(): axes.get_yscale() for axes in figure.axes}
    assert shown == {"loss": "log", "accuracy": "linear"}
    assert "l1_norm" not in set(drawn["series"])


def test_without_training_and_test_data_what_is_logged_is_drawn():
    figure, drawn = curves.draw({"rates": table(l1_norm=1.0)})
    assert [axes.get_ylabel() for axes in figure.axes] == ["l1 norm"]
    assert set(drawn["series"]) == {"l1_norm"}


def test_of_an_array_the_first_entries_are_drawn_and_may_be_negative():
    names = [f"factors.{row}.{column}" for row in range(5) for column in range(6)]
    entries = table(**dict.fromkeys(names, -1.0)).drop(columns="parameters.weight.0")
    figure, drawn = curves.draw({"rates": entries})
    assert {(axes.get_ylabel(), axes.get_yscale()) for axes in figure.axes} == {
        ("factors", "linear")
    }
    assert [*drawn["series"].unique()] == names[: curves.ENTRIES]


def test_a_trial_that_logs_nothing_is_one_line():
    nothing = table().drop(columns=["train_loss", "test_loss", "parameters.weight.0"])
    with pytest.raises(UserError, match="log no number"):
        curves.draw({"rates": nothing})


def test_cases_are_told_apart_by_name():
    _, drawn = curves.draw({"rates": table(rates=(0.1,), cases=("deep", "shallow"))})
    assert [*drawn["setting"].unique()] == ["deep", "shallow"]


def asked(**block):
    return {"draw": block}


def test_named_columns_are_drawn_in_their_order_with_the_pair_in_one_panel():
    frame = table(train_loss=1.0, test_loss=1.0, l2_norm=1.0, margin=-1.0)
    figure, drawn = curves.draw(
        {"rates": frame}, asked(columns=["margin", "test_loss", "train_loss"])
    )
    shown = {axes.get_ylabel(): axes.get_yscale() for axes in figure.axes}
    assert shown == {"margin": "linear", "loss": "log"}
    assert [*drawn["series"].unique()] == ["margin", "test_loss", "train_loss"]


def test_axes_are_as_they_are_asked_for_and_a_linear_one_has_step_0():
    figure, drawn = curves.draw({"rates": table()}, asked(x="linear", y="linear"))
    assert {(axes.get_xscale(), axes.get_yscale()) for axes in figure.axes} == {
        ("linear", "linear")
    }
    assert drawn["step"].min() == 0
    assert curves.draw({"rates": table()})[1]["step"].min() == 1


def test_a_column_of_a_measure_is_drawn_at_its_steps():
    frame = table()
    measured = frame[frame["step"] == 10].assign(record="fourier", excluded_loss=3.0)
    _, drawn = curves.draw(
        {"rates": pd.concat([frame, measured])}, asked(columns=["excluded_loss"])
    )
    assert set(drawn["step"]) == {10}
    assert drawn["median"].eq(3).all()


def test_a_column_that_is_in_no_table_is_one_line():
    with pytest.raises(UserError, match=r"no column 'tset_loss'; did you mean 'test_loss'\?"):
        curves.draw({"rates": table()}, asked(columns=["tset_loss"]))


def test_cases_that_are_named_are_drawn_alone_and_first_named_first():
    frame = table(rates=(0.1,), cases=("deep", "shallow", "wide"))
    _, drawn = curves.draw({"rates": frame}, asked(cases=["wide", "deep"]))
    assert [*drawn["setting"].unique()] == [*drawn["case"].unique()] == ["wide", "deep"]


def test_cases_of_several_experiments_have_both_names_and_values_that_differ_within_them():
    tables = {
        "adam": table(rates=(0.1, 0.3)),
        "sgd": table(rates=(0.2,), cases=("plain", "heavy")),
    }
    _, drawn = curves.draw(tables)
    assert [*drawn["setting"].unique()] == [
        *("adam, optimizer.lr 0.1", "adam, optimizer.lr 0.3"),
        *("sgd/plain, optimizer.lr 0.2", "sgd/heavy, optimizer.lr 0.2"),
    ]
    _, drawn = curves.draw(tables, asked(cases=["sgd/heavy"]))
    assert [*drawn["case"].unique()] == ["sgd/heavy"]


def test_one_run_is_drawn_and_many_are_named_in_part():
    _, drawn = curves.draw({"rates": table(rates=(0.1,))})
    assert [*drawn["setting"].unique()] == ["all"]
    figure, drawn = curves.draw({"rates": table(rates=tuple(range(1, 15)), seeds=(0,))})
    assert drawn["setting"].nunique() == 14
    (legend,) = figure.legends
    assert len(legend.get_texts()) == curves.NAMED
    assert legend.get_title().get_text() == "10 of 14"


@pytest.mark.parametrize(
    ("columns", "panels"),
    [
        (["test_error", "train_error", "train_loss"], ["loss", "error"]),
        (["test_b", "test_a", "train_accuracy"], ["accuracy", "b", "a"]),
        ([f"test_{name}" for name in "abcdef"], ["a", "b", "c", "d"]),
        (["record", "step", "norm", "model.name"], ["norm"]),
        (["model.name", "step", "parameters.w.0", "parameters.w.1"], ["parameters.w"]),
    ],
)
def test_what_is_drawn_first(columns, panels):
    assert [name for name, _ in curves.quantities(columns)] == panels


def test_where_a_seed_has_ended_the_others_are_lines_of_their_own():
    frame = table(rates=(0.1,), seeds=range(5), test_loss=1.0).drop(columns="parameters.weight.0")
    figure, drawn = curves.draw({"rates": frame[(frame["seed"] > 0) | (frame["step"] < 10)]})
    (axes,) = figure.axes
    middle, *others = axes.lines
    assert [*middle.get_xdata()] == [1]
    assert [[*line.get_xdata()] for line in others] == [[1, 10, 100]] * 4
    assert all(line.get_linewidth() < middle.get_linewidth() for line in others)
    assert (len(axes.collections), {*drawn["seeds"]}) == (1, {5, 1})


def test_a_run_that_diverged_leaves_its_panel_and_the_others_are_seen():
    frame = table(seeds=(0,), test_loss=1.0)
    diverged = frame["optimizer.lr"] == 0.2
    frame.loc[diverged, "test_loss"] = [1e9, 1e60, 1e100, 1e304]
    (axes,) = curves.draw({"rates": frame})[0].axes
    others = frame["test_loss"][~diverged & (frame["step"] > 0)]
    assert axes.get_ylim() == pytest.approx((others.min() / 2, curves.DIVERGED * others.max()))
    made = curves.draw({"rates": table(seeds=(0,), test_loss=1.0)})[0]
    assert made.axes[0].get_ylim()[1] < 1
