"""The tables of `grokalign` on synthetic tables, beside what the paper prints."""

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.grokalign import _methods, table1, table2
from tests.checkout import declared_papers

DIGITS = {"task.name": "digits", "task.train_points": 200.0}
FIGURES = declared_papers("grokalign")["grokalign"].figures
PUBLISHED = {name: figure.published for name, figure in FIGURES.items()}


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


def test_a_printed_factor_of_more_is_below_one():
    assert _methods.printed_factor("x2.00 ± 0.40 more") == pytest.approx((0.5, 1 / 2.4, 1 / 1.6))


def test_factors_print_what_table1_prints():
    assert PUBLISHED["factors"].items() <= PUBLISHED["table1"].items()


def test_table1_says_more_where_a_method_is_slower():
    tables = {"acceleration": _acceleration(100, 200), "update_time": _alone({})}
    shown, _ = table1.tabulate(tables, PUBLISHED["table1"])
    assert set(shown["steps to 85 %, ours"]) == {"x2.00 ± 0.00 more"}


def test_table1_leaves_out_seeds_that_never_reach_the_level_and_says_so():
    lost = [("grokfast", 1), ("adversarial", 0), ("adversarial", 1), ("adversarial", 2)]
    tables = {"acceleration": _acceleration(400, 100, lost), "update_time": _alone({})}
    shown, data = table1.tabulate(tables, PUBLISHED["table1"])
    rows = shown[shown["loss"] == "cross-entropy"].set_index("method")
    assert rows["seeds"].tolist() == ["3 of 3", "2 of 3", "0 of 3"]
    assert rows.loc["adversarial", "steps to 85 %, ours"] == "not reached"
    assert data["ratio"].isna().sum() == 2 * 4 * 3


def test_table1_tells_methods_that_were_not_run_from_those_that_never_arrive():
    table = _acceleration(400, 100)
    table = table[~table["case"].isin(["ce_grokfast", "mse_baseline"])]
    shown, _ = table1.tabulate(
        {"acceleration": table, "update_time": _alone({})}, PUBLISHED["table1"]
    )
    cells = shown.set_index(["loss", "method"])["steps to 85 %, ours"]
    assert cells["cross-entropy", "GrokAlign"] == "x4.00 ± 0.00 fewer"
    assert cells["cross-entropy", "Grokfast"] == "not run"
    assert set(cells["squared error"]) == {"not run"}


def _cells_of_grokalign(tables):
    shown, _ = table1.tabulate(tables, PUBLISHED["table1"])
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
        table1.tabulate(tables, PUBLISHED["table1"])


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


def test_table2_takes_the_last_of_several_snapshots():
    table = _budget()
    early = table[table["record"] == "jacobian_rows"].assign(step=0, row_alignment_max=0.0)
    shown, numbers = table2.tabulate(
        {"common_budget": pd.concat([early, table])}, PUBLISHED["table2"]
    )
    assert shown.iloc[1]["test accuracy, ours"] == "85.0 ± 7.1 %"
    assert set(numbers["step"]) == {100}


def test_table2_takes_a_run_that_stopped_before_its_snapshot_at_its_last_log():
    table = _budget()
    stopped = (table["record"] == "jacobian_rows") & (table["case"] == "ce_grokalign")
    table.loc[stopped, "step"] = 500
    shown, _ = table2.tabulate({"common_budget": table}, PUBLISHED["table2"])
    cells = shown.iloc[1][["test accuracy, ours", "steps", "seeds"]]
    assert cells.tolist() == ["85.0 ± 7.1 %", "100", "2"]


def test_table2_refuses_two_members_of_one_case_and_seed():
    table = _budget().assign(**{"penalties.0.weight": 0.1})
    more = table.assign(**{"penalties.0.weight": 0.2})
    with pytest.raises(ValueError, match=r"differ in penalties.0.weight"):
        table2.tabulate({"common_budget": pd.concat([table, more])}, PUBLISHED["table2"])


def test_table2_tells_methods_that_were_not_run():
    table = _budget()
    shown, _ = table2.tabulate(
        {"common_budget": table[table["case"] != "mse_grokalign"]}, PUBLISHED["table2"]
    )
    rows = shown.set_index(["loss", "method"])
    ours = rows[["test accuracy, ours", "row alignment (min / max), ours", "steps", "seeds"]]
    assert ours.loc["squared error", "GrokAlign"].tolist() == ["not run", "not run", "-", "0"]
    assert ours.loc["squared error", "baseline"]["test accuracy, ours"] == "85.0 ± 7.1 %"
