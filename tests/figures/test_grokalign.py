"""Figures and tables of `grokalign` on synthetic tables, as data."""

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.grokalign import (
    _jacobians,
    _jacobians_readings,
    _methods,
    fig2,
    fig3,
    fig7,
    fig8,
    fig9,
    fig10,
    table1,
    table2,
    table3,
)
from grokatlas.plots import style

STEPS = [0, 1, 10, 100]
DIGITS = {"task.name": "digits", "task.train_points": 200.0}
ADDITION = {"task.name": "modular_addition", "task.modulus": 29.0}


def history(cases, columns, seeds=(0, 1, 2), **more):
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


def test_fig2_has_a_line_for_each_loss_and_method():
    cases = ["ce_baseline", "ce_grokalign", "mse_baseline", "mse_grokalign"]
    place = {case: k / 10 for k, case in enumerate(cases)}
    table = history(cases, {"jacobian_pc1": lambda c, s, k: place[c] + s / 100}, **DIGITS)
    figure, drawn = fig2.draw({"common_budget": table})
    for axes, pair in zip(figure.axes, (cases[:2], cases[2:]), strict=True):
        for line, case, key in zip(_lines(axes), pair, ("weight_decay", "grokalign"), strict=True):
            np.testing.assert_allclose(line.get_ydata(), place[case] + 0.01)
            assert line.get_color() == style.COLOURS[key]
        assert axes.get_xscale() == "log"
        assert "digits, 200 points" in axes.get_title(loc="left")
    last = drawn[(drawn["case"] == cases[3]) & (drawn["step"] == 100)].iloc[0]
    assert last[["low", "high", "seeds"]].tolist() == pytest.approx([0.3, 0.32, 3])


def test_fig3_shades_where_the_kernel_changes():
    kernel = {0: 2.0, 1: 2.2, 10: 6.0, 100: 12.0}
    columns = {
        "ntk_mean": lambda c, s, k: kernel[k],
        "probe_inner_product": lambda c, s, k: -k,
        "probe_alignment": lambda c, s, k: -k / 100,
        "probe_norm": lambda c, s, k: k + s,
    }
    table = history(["none"], columns, **DIGITS)
    assert _jacobians_readings.learning(table) == (10, 100)
    figure, drawn = fig3.draw({"kernel": table})
    assert drawn.loc[drawn["series"] == "band", "step"].tolist() == [10, 100]
    points = drawn[drawn["series"] == "probe"]
    assert points["step"].tolist() == [1, 10, 100]
    assert points["probe_norm"].tolist() == [1, 10, 100]  # the first seed's
    np.testing.assert_allclose(_lines(figure.axes[1])[0].get_ydata(), [-1, -10, -100])


def test_fig3_shades_nothing_where_the_kernel_never_changes():
    columns = {"ntk_mean": 2.0, "probe_inner_product": 1.0}
    columns |= {"probe_alignment": 0.1, "probe_norm": 1.0}
    table = history(["none"], {k: lambda c, s, k, v=v: v for k, v in columns.items()}, **DIGITS)
    _, drawn = fig3.draw({"kernel": table})
    assert drawn.loc[drawn["series"] == "band", "step"].isna().all()
    change = _jacobians_readings.change_while_learning({"kernel": table}, "probe_inner_product")
    assert np.isnan(change).tolist() == [True] * 3


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
    assert "modulo 29" in drawn_figure.axes[0].get_title(loc="left")


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
    assert set(lines["seeds"]) == {3}


def _acceleration(baseline, own, lost=()):
    """Steps to 0.2 and 0.85: `own` of the method, ten times the seed more for the baseline."""
    rows = []
    for loss in _methods.LOSSES:
        for name in ("baseline", *_methods.METHODS):
            for seed in range(3):
                steps = {0.2: 40.0, 0.85: (baseline if name == "baseline" else own) * (1 + seed)}
                if (name, seed) in lost:
                    steps[0.85] = np.nan
                for level, step in steps.items():
                    key = {"record": "reached_steps", "case": f"{loss}_{name}", "seed": seed}
                    rows.append(key | {"level": level, "step": step})
    return pd.DataFrame(rows).assign(**DIGITS)


def _alone(seconds):
    rows = [
        {"record": "cost", "case": f"{loss}_{name}", "update_seconds": seconds.get(name, 0.01)}
        | {"processor": "a CPU", "threads": 1}
        for loss in _methods.LOSSES
        for name in ("baseline", *_methods.METHODS)
    ]
    return pd.DataFrame(rows)


def test_table1_compares_methods_seed_by_seed():
    tables = {"acceleration": _acceleration(400, 100), "update_time": _alone({"grokalign": 0.02})}
    shown, data = table1.tabulate(tables)
    row = shown[(shown["loss"] == "cross-entropy") & (shown["method"] == "GrokAlign")].iloc[0]
    assert row["steps to 85 %, ours"] == "x4.00 ± 0.00 fewer"
    assert row["steps to 85 %, published"] == "x7.56 ± 0.82 fewer"
    assert row["time to 85 %, ours"] == "x2.00 ± 0.00 less"
    assert row[["data", "seeds"]].tolist() == ["digits, 200 points", "3 of 3"]
    own = data[(data["loss"] == "mse") & (data["method"] == "grokalign")]
    first = own[own["seed"] == 0].set_index("series")["ratio"]
    assert first.to_dict() == {"steps": 4, "time": 2, "phase": 360 / 60 / 2}


def test_table1_says_more_where_a_method_is_slower():
    tables = {"acceleration": _acceleration(100, 200), "update_time": _alone({})}
    shown, _ = table1.tabulate(tables)
    assert set(shown["steps to 85 %, ours"]) == {"x2.00 ± 0.00 more"}


def test_table1_leaves_out_seeds_that_never_reach_the_level_and_says_so():
    lost = [("grokfast", 1), ("adversarial", 0), ("adversarial", 1), ("adversarial", 2)]
    tables = {"acceleration": _acceleration(400, 100, lost), "update_time": _alone({})}
    shown, data = table1.tabulate(tables)
    rows = shown[shown["loss"] == "cross-entropy"].set_index("method")
    assert rows["seeds"].tolist() == ["3 of 3", "2 of 3", "0 of 3"]
    assert rows.loc["adversarial", "steps to 85 %, ours"] == "not reached"
    assert data["ratio"].isna().sum() == 2 * 4 * 3


def test_table1_tells_methods_that_were_not_run_from_those_that_never_arrive():
    table = _acceleration(400, 100)
    table = table[~table["case"].isin(["ce_grokfast", "mse_baseline"])]
    shown, _ = table1.tabulate({"acceleration": table, "update_time": _alone({})})
    cells = shown.set_index(["loss", "method"])["steps to 85 %, ours"]
    assert cells["cross-entropy", "GrokAlign"] == "x4.00 ± 0.00 fewer"
    assert cells["cross-entropy", "Grokfast"] == "not run"
    assert set(cells["squared error"]) == {"not run"}


def _cells_of_grokalign(tables):
    shown, _ = table1.tabulate(tables)
    row = shown[(shown["loss"] == "cross-entropy") & (shown["method"] == "GrokAlign")].iloc[0]
    names = ("steps to 85 %", "time to 85 %", "time from 20 to 85 %")
    return [row[f"{name}, ours"] for name in names]


def test_table1_compares_no_times_of_different_machines():
    alone = _alone({})
    tables = {"acceleration": _acceleration(400, 100), "update_time": alone}
    alone.loc[alone["case"] == "ce_grokalign", "processor"] = "another CPU"
    apart = "timed on different machines"
    assert _cells_of_grokalign(tables) == ["x4.00 ± 0.00 fewer", apart, apart]
    tables["update_time"] = alone[alone["case"] != "ce_grokalign"]
    assert _cells_of_grokalign(tables)[1:] == ["not timed", "not timed"]


def test_table1_takes_the_mean_time_of_several_runs_of_a_case():
    more = _alone({"grokalign": 0.03})
    more = more[more["case"] == "ce_grokalign"]
    alone = pd.concat([_alone({}), more.assign(run="another")], ignore_index=True)
    tables = {"acceleration": _acceleration(400, 100), "update_time": alone}
    assert _cells_of_grokalign(tables)[1] == "x2.00 ± 0.00 less"


def test_table1_has_no_phase_where_both_levels_are_reached_at_one_logged_step():
    table = _acceleration(400, 100)
    sudden = (table["case"] == "ce_grokalign") & (table["level"] == 0.2)
    late = table.loc[table["case"] == "ce_grokalign", "level"] == 0.85
    table.loc[sudden, "step"] = table.loc[late.index[late], "step"].to_numpy()
    cells = _cells_of_grokalign({"acceleration": table, "update_time": _alone({})})
    assert cells == ["x4.00 ± 0.00 fewer", "x4.00 ± 0.00 less", "within one logged step"]


def test_table1_refuses_two_members_of_one_case_and_seed():
    table = _acceleration(400, 100).assign(**{"penalties.0.weight": 0.1})
    more = table[table["case"] == "ce_grokalign"].assign(**{"penalties.0.weight": 0.2})
    tables = {"acceleration": pd.concat([table, more]), "update_time": _alone({})}
    with pytest.raises(ValueError, match=r"ce_grokalign.*seed 0.*differ in penalties.0.weight"):
        table1.tabulate(tables)


def _budget() -> pd.DataFrame:
    rows = []
    for loss in _methods.LOSSES:
        for name in ("baseline", "grokalign", "adversarial"):
            for seed in range(2):
                key = {"case": f"{loss}_{name}", "seed": seed}
                for step in (0, 100):
                    accuracy = 0.1 if step == 0 else 0.8 + seed / 10
                    rows.append(
                        key | {"record": "history", "step": step, "test_accuracy": accuracy}
                    )
                ends = {"row_alignment_min": -0.25, "row_alignment_max": 0.5 + seed / 10}
                rows.append(key | {"record": "jacobian_rows", "step": 100} | ends)
    return pd.DataFrame(rows).assign(**DIGITS)


def test_table2_joins_accuracy_and_alignment_at_the_end():
    shown, numbers = table2.tabulate({"common_budget": _budget()})
    row = shown.iloc[1]
    assert row["test accuracy, ours"] == "85.0 ± 7.1 %"
    assert row["row alignment (min / max), ours"] == "-0.250 ± 0.000 / 0.550 ± 0.071"
    assert row[["test accuracy, published", "steps", "seeds"]].tolist() == ["91.8 %", "100", "2"]
    assert row["data"] == "digits, 200 points"
    assert len(numbers) == 12


def test_table2_takes_the_last_of_several_snapshots():
    table = _budget()
    early = table[table["record"] == "jacobian_rows"].assign(step=0, row_alignment_max=0.0)
    shown, numbers = table2.tabulate({"common_budget": pd.concat([early, table])})
    assert shown.iloc[1]["test accuracy, ours"] == "85.0 ± 7.1 %"
    assert set(numbers["step"]) == {100}


def test_table2_takes_a_run_that_stopped_before_its_snapshot_at_its_last_log():
    table = _budget()
    stopped = (table["record"] == "jacobian_rows") & (table["case"] == "ce_grokalign")
    table.loc[stopped, "step"] = 500
    shown, _ = table2.tabulate({"common_budget": table})
    cells = shown.iloc[1][["test accuracy, ours", "steps", "seeds"]]
    assert cells.tolist() == ["85.0 ± 7.1 %", "100", "2"]


def test_table2_refuses_two_members_of_one_case_and_seed():
    table = _budget().assign(**{"penalties.0.weight": 0.1})
    more = table.assign(**{"penalties.0.weight": 0.2})
    with pytest.raises(ValueError, match=r"differ in penalties.0.weight"):
        table2.tabulate({"common_budget": pd.concat([table, more])})


def test_table2_tells_methods_that_were_not_run():
    table = _budget()
    shown, _ = table2.tabulate({"common_budget": table[table["case"] != "mse_grokalign"]})
    rows = shown.set_index(["loss", "method"])
    ours = rows[["test accuracy, ours", "row alignment (min / max), ours", "steps", "seeds"]]
    assert ours.loc["squared error", "GrokAlign"].tolist() == ["not run", "not run", "-", "0"]
    assert ours.loc["squared error", "baseline"]["test accuracy, ours"] == "85.0 ± 7.1 %"


def test_table3_counts_a_run_once_for_each_row():
    names = {name for _, experiments, _ in table3.ARTEFACTS for name in experiments}
    tables = {
        name: pd.DataFrame(
            {
                "record": "cost",
                "case": ["a", "a", "b"],
                "run": [f"{name}1", f"{name}1", f"{name}2"],
                "processor": "some processor",
                "threads": 1,
                "members": 2,
                "hours": 1.5,
                "memory_mb": [300.0, 300.0, 1400.0],
            }
        )
        for name in names
    }
    shown, costs = table3.tabulate(tables)
    rows = shown.set_index("figure or table")
    assert rows.loc["figure 3", ["runs", "hours", "memory / MiB"]].tolist() == ["2", "3", "1,400"]
    assert rows.loc["tables 1 and 2", "runs"] == "4"
    assert set(rows["ours, on"]) == {"some processor"}
    assert len(costs) == 2 * len(names)


def test_numbers_of_each_class_are_added_up():
    rows = {"task.name": ["mnist"], "task.train_points": [512.0], "task.per_class": [True]}
    classes = {"task.classes.0": [0.0], "task.classes.1": [1.0]}
    assert _jacobians.data_named(pd.DataFrame(rows | classes)) == "mnist, 1,024 points"
    whole = pd.DataFrame(rows | {"task.classes": ["all"]})
    assert _jacobians.data_named(whole) == "mnist, 512 points of each class"
    assert _jacobians.data_named(pd.DataFrame(rows | {"task.per_class": [False]})) == (
        "mnist, 512 points"
    )
