"""Figures and tables of `grokalign` on synthetic tables, as data."""

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.grokalign import (
    _jacobians,
    _jacobians_statistics,
    fig2,
    fig3,
    fig7,
    fig8,
    fig9,
    fig10,
)
from grokatlas.plots import style

STEPS = [0, 1, 10, 100]
DIGITS = {"task.name": "digits", "task.train_points": 200.0}
ADDITION = {"task.name": "modular_addition", "task.modulus": 29.0}


def history(cases, columns, seeds=range(5), **more):
    """A row for each case, seed and step; `columns` give values from these three."""
    rows = []
    for case in cases:
        for seed in seeds:
            for step in STEPS:
                key = {"record": "history", "case": case, "seed": seed, "step": step}
                rows.append(key | more | {k: f(case, seed, step) for k, f in columns.items()})
    return pd.DataFrame(rows)


def _lines(axes):
    return [line for line in axes.lines if len(line.get_xdata()) == len(STEPS) - 1]


def test_fig2_has_a_line_for_each_scale_loss_and_method():
    cases = ["ce_baseline", "ce_grokalign", "mse_baseline", "mse_grokalign"]
    place = {case: k / 10 for k, case in enumerate(cases)}
    spec = DIGITS | {"model.init_scale": 8.0}
    table = history(cases, {"jacobian_pc1": lambda c, s, k: place[c] + s / 100}, **spec)
    table.loc[table["case"] == "ce_baseline", "model.init_scale"] = 4.0
    unit = table.assign(jacobian_pc1=table["jacobian_pc1"] + 0.5, **{"model.init_scale": 1.0})
    figure, drawn = fig2.draw({"common_budget": table, "unit_scale": unit})
    pairs = [(base, pair) for base in (0, 0.5) for pair in (cases[:2], cases[2:])]
    for axes, (base, pair) in zip(figure.axes, pairs, strict=True):
        for line, case, key in zip(_lines(axes), pair, ("weight_decay", "grokalign"), strict=True):
            np.testing.assert_allclose(line.get_ydata(), base + place[case] + 0.02)
            assert line.get_color() == style.COLOURS[key]
        assert axes.get_xscale() == "log"
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[0] == "a  cross-entropy, initial scale 4 to 8"
    assert titles[3] == "d  squared error, initial scale 1"
    assert figure.get_suptitle() == "digits, 200 points"
    last = drawn[(drawn["case"] == cases[3]) & (drawn["step"] == 100)]
    assert last["init_scale"].tolist() == ["8", "1"]
    assert last.iloc[0][["low", "high", "seeds"]].tolist() == pytest.approx([0.3, 0.34, 5])


def test_fig3_shades_where_the_kernel_changes():
    kernel = {0: 2.0, 1: 2.2, 10: 6.0, 100: 12.0}
    columns = {
        "ntk_mean": lambda c, s, k: kernel[k],
        "probe_inner_product": lambda c, s, k: -k,
        "probe_alignment": lambda c, s, k: -k / 100,
        "probe_norm": lambda c, s, k: k + s,
        "ntk_residual_mean": lambda c, s, k: -5.0 if k < 10 else -15.0,
    }
    table = history(["none"], columns, **DIGITS, **{"optimizer.lr": 0.1})
    assert _jacobians_statistics.learning(table) == (10, 100)
    read = {"panel": "inner product", "curve": "first point", "x": 50.0, "y": -60.0}
    figure, drawn = fig3.draw({"kernel": table}, [read])
    assert drawn.loc[drawn["series"] == "band", "step"].tolist() == [10, 100]
    points = drawn[drawn["series"] == "probe"]
    assert points["step"].tolist() == [1, 10, 100]
    assert points["probe_norm"].tolist() == [1, 10, 100]  # the first seed's
    went, predicted = (line.get_ydata() for line in _lines(figure.axes[1]))
    np.testing.assert_allclose(went, [-1, -10, -100])
    np.testing.assert_allclose(predicted, [-0.5, -9.5, -144.5])  # by trapezia
    marks = [line for line in figure.axes[1].lines if line.get_marker() == "o"][:1]
    assert [mark.get_xydata().tolist() for mark in marks] == [[[50, -60]]]


def test_fig3_shades_nothing_where_the_kernel_never_changes():
    columns = {"ntk_mean": 2.0, "probe_inner_product": 1.0}
    columns |= {"probe_alignment": 0.1, "probe_norm": 1.0, "ntk_residual_mean": 0.0}
    table = history(["none"], {k: lambda c, s, k, v=v: v for k, v in columns.items()}, **DIGITS)
    table["optimizer.lr"] = 0.1
    _, drawn = fig3.draw({"kernel": table}, [])
    assert drawn.loc[drawn["series"] == "band", "step"].isna().all()
    change = _jacobians_statistics.change_while_learning({"kernel": table}, "probe_inner_product")
    assert np.isnan(change).tolist() == [True] * 5


def test_fig7_draws_accuracy_norm_and_alignment_of_three_cases():
    place = {"baseline": 1.0, "minimised": 2.0, "constrained": 3.0}
    columns = {
        name: lambda c, s, k: place[c]
        for name in (
            "train_accuracy",
            "test_accuracy",
            "centroid_norm_mean",
            "centroid_alignment_mean",
        )
    }
    figure, _ = fig7.draw({"inhibited": history(place, columns, **DIGITS)})
    assert [len(_lines(axes)) for axes in figure.axes] == [6, 3, 3]
    assert figure.axes[1].get_yscale() == "log"
    assert [line.get_ydata()[0] for line in _lines(figure.axes[2])] == [1, 2, 3]
    dashes = [line.get_linestyle() for line in _lines(figure.axes[0])]
    assert dashes == ["-", "--"] * 3


def transformers(rows):
    """The table of the transformers' cases in `rows`, and these cases."""
    cases = [f"{kind}_{key}" for kind in rows.values() for key in _jacobians.SEEN]
    columns = {
        "train_accuracy": lambda c, s, k: 1.0,
        "test_accuracy": lambda c, s, k: k / 100,
        "centroid_alignment_mean": lambda c, s, k: -0.2,
        "centroid_alignment_min": lambda c, s, k: -0.5,
        "centroid_alignment_max": lambda c, s, k: 0.1,
        "fourier_gini_embedding": lambda c, s, k: 0.3 + cases.index(c) / 100,
        "fourier_gini_logits": lambda c, s, k: 0.6,
    }
    return {"transformer": history(cases, columns, **ADDITION)}, cases


@pytest.mark.parametrize(("figure", "rows"), [(fig8, 1), (fig9, 2)])
def test_transformers_have_accuracy_alignment_and_gini(figure, rows):
    tables, cases = transformers(figure.ROWS)
    drawn_figure, drawn = figure.draw(tables)
    assert len(drawn_figure.axes) == 3 * rows
    assert set(drawn["case"]) == set(cases)
    for line, axes in enumerate(drawn_figure.axes):
        assert len(_lines(axes)) == (4, 2, 4)[line % 3]
    gini = _lines(drawn_figure.axes[-1])
    np.testing.assert_allclose(gini[0].get_ydata(), 0.3 + (len(cases) - 2) / 100)
    titles = [axes.get_title(loc="left") for axes in drawn_figure.axes]
    assert [title[0] for title in titles] == list("abcdef")[: 3 * rows]
    assert "seed" in titles[0]
    assert "modulo 29" in titles[1]


def test_alignments_of_two_seeds_are_two_lines_with_a_band_each():
    tables, _ = transformers(fig8.ROWS)
    table = tables["transformer"].query("seed < 2").copy()
    table["centroid_alignment_mean"] = table["seed"] / 10
    made, drawn = fig8.draw({"transformer": table})
    axes = made.axes[1]
    assert [line.get_ydata()[0] for line in _lines(axes)] == [0, 0.1] * 2
    assert len(axes.collections) == 4
    rows = drawn[drawn["series"] == "alignment"]
    np.testing.assert_allclose(rows["centroid_alignment_mean"], 0.05)


def test_fig10_takes_the_extreme_alignment_and_the_first_rate():
    parts = []
    for case, path in fig10.CASES.items():
        for scale in (0.5, 2.0):
            columns = {
                "probe_alignment": lambda c, s, k, scale=scale: (-scale if k == 10 else 0.1) / 4,
                "ntk_residual_mean": lambda c, s, k, scale=scale: -scale * (1 + k),
                "centroid_reciprocal_norm_mean": lambda c, s, k: 3.0 + k,
            }
            part = history([case], columns, **DIGITS)
            parts.append(part.assign(**{path: scale, "optimizer.lr": 0.01}))
    table = pd.concat(parts, ignore_index=True)
    _, drawn = fig10.draw({"scales": table})
    members = drawn[drawn["rate"].notna()]
    np.testing.assert_allclose(members["rate"], -0.01 * members["scale"])
    np.testing.assert_allclose(members["alignment"], -members["scale"] / 4)
    assert set(members["reciprocal_norm"]) == {3.0}
    lines = drawn[drawn["series"] == "alignment"]
    assert len(lines) == 4
    assert set(lines["seeds"]) == {5}


def test_numbers_of_each_class_are_added_up():
    rows = {"task.name": ["mnist"], "task.train_points": [512.0], "task.per_class": [True]}
    classes = {"task.classes.0": [0.0], "task.classes.1": [1.0]}
    assert _jacobians.data_named(pd.DataFrame(rows | classes)) == "mnist, 1,024 points"
    whole = pd.DataFrame(rows | {"task.classes": ["all"]})
    assert _jacobians.data_named(whole) == "mnist, 512 points of each class"
    assert _jacobians.data_named(pd.DataFrame(rows | {"task.per_class": [False]})) == (
        "mnist, 512 points"
    )
