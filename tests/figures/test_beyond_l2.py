"""The figures of `beyond_l2` on networks on synthetic tables, compared as data."""

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.beyond_l2 import fig1, fig2

NORMS = (0.25, 0.5, 1.0, 2.0, 4.0)


@pytest.fixture
def table() -> pd.DataFrame:
    rows = []
    for case in ("published", "notebook"):
        for seed in range(5):
            for step in range(0, 101, 10):
                row = {"record": "history", "case": case, "seed": seed, "step": step}
                row |= {"task.modulus": 97, "train_accuracy": 1.0, "test_accuracy": seed / 4}
                rows.append(row | {"train_loss": 0.1, "test_loss": step + seed, "l2_norm": 13.0})
            reached = {"t1": 10.0, "t2": 40.0 + 10 * seed if case == "published" else None}
            rows.append({"record": "grokking_times", "case": case, "seed": seed} | reached)
    return pd.DataFrame(rows)


def test_the_spread_is_the_median_and_the_range_over_seeds(table):
    _, drawn = fig1.draw({"modular_addition": table}, [])
    rows = drawn[drawn["series"] == "test_loss"]
    assert rows["median"].tolist() == [step + 2 for step in rows["step"]]
    assert (rows["low"] == rows["step"]).all()
    assert (rows["high"] == rows["step"] + 4).all()
    assert (rows["seeds"] == 5).all()


def test_times_are_marked_where_they_exist_and_listed_for_each_seed(table):
    figure, drawn = fig1.draw({"modular_addition": table}, [])
    texts = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert texts == {"$t_1$ = 10", "$t_2$ = 60"}
    times = drawn[drawn["series"].isin(["t1", "t2"])]
    assert len(times) == 10
    assert times.query("series == 't2'")["step"].tolist() == [40, 50, 60, 70, 80]


def test_panels_are_linear_with_the_norm_on_twin_axes(table):
    figure, _ = fig1.draw({"modular_addition": table}, [])
    assert len(figure.axes) == 4
    assert {axes.get_xscale() for axes in figure.axes} == {"linear"}
    assert sum(axes.get_ylabel() == "l2 norm" for axes in figure.axes) == 2
    ends = [axes.get_xlim()[1] for axes in figure.axes if axes.get_ylabel() == "accuracy"]
    assert ends == [pytest.approx(88)]


def test_all_is_drawn_where_a_seed_does_not_generalise(table):
    never = table["t2"].where(table["seed"] != 2)
    figure, _ = fig1.draw({"modular_addition": table.assign(t2=never)}, [])
    assert figure.axes[0].get_xlim()[1] == 100


def test_points_of_the_published_curves_are_drawn_on_their_panels(table):
    point = {"panel": "loss", "curve": "test", "x": 50.0, "y": 41.0}
    norm = {"panel": "accuracy", "curve": "l2 norm", "x": 20.0, "y": 93.0}
    figure, drawn = fig1.draw({"modular_addition": table}, [point, norm])
    open_marks = {
        axes.get_ylabel(): (line.get_xdata()[0], line.get_ydata()[0])
        for axes in figure.axes
        for line in axes.lines
        if line.get_marker() == "o" and len(line.get_xdata())
    }
    assert open_marks == {"loss": (50.0, 41.0), "l2 norm": (20.0, 93.0)}
    assert "published" in [text.get_text() for text in figure.legends[0].get_texts()]
    rows = drawn[drawn["series"].str.startswith("published")]
    assert rows[["step", "median"]].to_numpy().tolist() == [[20.0, 93.0], [50.0, 41.0]]


def _fixed_norms(train: list[float], test: list[float]) -> pd.DataFrame:
    """Five seeds around these losses where the training loss is least; others before and after."""
    rows = []
    for norm, fitted, held_out in zip(NORMS, train, test, strict=True):
        for seed in range(5):
            row = {"record": "history", "seed": seed, "dynamics.relative_norm": norm}
            row |= {"task.name": "digits", "task.train_points": 1200, "l2_norm": 7.5 * norm}
            first = {"step": 0, "train_loss": 0.5, "test_loss": 0.01}
            best = {"step": 100, "train_loss": fitted, "test_loss": held_out * (0.9 + 0.05 * seed)}
            last = {"step": 200, "train_loss": 2 * fitted, "test_loss": 0.01}
            same = {"train_accuracy": 0.8, "test_accuracy": 0.6}
            rows += [row | step | same for step in (first, best, last)]
    return pd.DataFrame(rows)


FITTED, HELD_OUT = [0.09, 0.05, 1e-3, 1e-5, 1e-5], [0.09, 0.06, 0.02, 0.03, 0.2]


def test_fig2_draws_the_best_fit_at_every_norm_and_shades_the_zone():
    figure, drawn = fig2.draw({"fixed_norm": _fixed_norms(FITTED, HELD_OUT)})
    rows = drawn[drawn["series"] == "test_loss"]
    assert rows["dynamics.relative_norm"].tolist() == list(NORMS)
    np.testing.assert_allclose(rows["median"], HELD_OUT)
    np.testing.assert_allclose(rows["low"], 0.9 * np.array(HELD_OUT))
    np.testing.assert_allclose(rows["high"], 1.1 * np.array(HELD_OUT))
    assert drawn.loc[drawn["series"] == "train_loss", "median"].tolist() == FITTED
    (zone,) = drawn[drawn["series"] == "zone"][["low", "high"]].to_numpy()
    np.testing.assert_allclose(zone, [0.5**0.5, 8**0.5])  # 1 and 2, and half-way to 0.5 and 4
    linear, _, accuracy = figure.axes
    assert [axes.get_yscale() for axes in figure.axes] == ["linear", "log", "linear"]
    assert {axes.get_xscale() for axes in figure.axes} == {"log"}
    assert linear.get_ylim() == (0, pytest.approx(1.3 * FITTED[0]))
    for axes in figure.axes:
        (shade,) = axes.patches
        assert (shade.get_x(), shade.get_x() + shade.get_width()) == pytest.approx(tuple(zone))
    assert [line.get_ydata()[0] for line in accuracy.lines] == [0.8, 0.6]


def test_fig2_says_which_images_it_shows_and_what_the_norms_are():
    figure, _ = fig2.draw({"fixed_norm": _fixed_norms(FITTED, HELD_OUT)})
    assert figure.get_suptitle() == "scikit-learn's digits, 1,200 training images, 5 seeds"
    assert {axes.get_xlabel() for axes in figure.axes} == {"$w / w_0$, where $w_0 = 7.5$"}


def test_fig2_shades_nothing_where_no_norm_both_memorises_and_generalises():
    figure, drawn = fig2.draw({"fixed_norm": _fixed_norms(FITTED, [0.02, 0.02, 0.05, 0.09, 0.2])})
    assert "zone" not in set(drawn["series"])
    assert not any(axes.patches for axes in figure.axes)
