"""Table 2 of `grokalign` against the budget, on synthetic tables, as data."""

import pandas as pd
import pytest

from grokatlas.papers.grokalign import _budget_statistics, budget
from tests.checkout import declared_papers

FIGURES = declared_papers("grokalign")["grokalign"].figures
PUBLISHED = FIGURES["budget"].published
STEPS = [0, 100, 1000, 10000]
PASSED = dict.fromkeys(_budget_statistics.CASES, 1000) | {"mse_baseline": 100}


@pytest.fixture
def table() -> pd.DataFrame:
    """Each case has its published row at one of three snapshots, far from it at the others."""
    rows = []
    for case, passed in PASSED.items():
        for step in STEPS:
            found = dict(_budget_statistics.row(PUBLISHED, case))
            if step != passed:
                found = {name: value / 3 for name, value in found.items()}
            key = {"case": case, "seed": 0, "step": step}
            log = {"test_accuracy": found.pop("test_accuracy"), "jacobian_pc1": step / 1e4}
            rows.append(key | log | {"record": "history"})
            if step:
                rows.append(key | found | {"record": "jacobian_rows"})
    spec = {"task.name": "digits", "task.train_points": 200.0}
    return pd.DataFrame(rows).assign(**spec)


def test_the_published_rows_are_those_of_table_2():
    assert FIGURES["table2"].published == PUBLISHED


def test_a_row_is_passed_where_the_trajectory_meets_it(table):
    found = _budget_statistics.passages(table, PUBLISHED).set_index("case")
    for case, step in PASSED.items():
        assert found.at[case, "step"] == pytest.approx(step, rel=0.02)
        assert found.at[case, "distance"] < 0.3
    budgets = _budget_statistics.distances(table, "ce_baseline", PUBLISHED)
    assert budgets["step"].iloc[[0, -1]].tolist() == pytest.approx([100, 10000])
    accuracy = 0.889 * 2 / 3 / _budget_statistics.POINTS  # at a third of it
    assert budgets["distance"].iloc[0] == pytest.approx(accuracy)


def test_the_farthest_cell_decides(table):
    row = (table["case"] == "ce_grokalign") & (table["record"] == "jacobian_rows")
    table.loc[row, "row_alignment_max"] = 0.478 * 1.4
    (found,) = _budget_statistics.distance_from_row(
        {"common_budget": table}, "ce_grokalign", PUBLISHED
    )
    assert found == pytest.approx(2, abs=0.05)


def test_one_budget_for_all_is_as_good_as_its_farthest_row(table):
    (found,) = _budget_statistics.distance_at_one_budget({"common_budget": table}, PUBLISHED)
    assert found > 5  # one row is passed at another budget
    late = table[table["case"] != "mse_baseline"]
    same = late[late["case"] == "ce_baseline"].assign(case="mse_baseline")
    for column, cell in _budget_statistics.CELLS.items():
        mine, other = (
            _budget_statistics.row(PUBLISHED, case)[column]
            for case in ("mse_baseline", "ce_baseline")
        )
        same[column] *= mine / other
        assert cell
    (found,) = _budget_statistics.distance_at_one_budget(
        {"common_budget": pd.concat([late, same], ignore_index=True)}, PUBLISHED
    )
    assert found < 0.3


def test_one_snapshot_is_no_trajectory(table):
    kept = table[(table["record"] == "history") | (table["step"] == 1000)]
    assert _budget_statistics.passages(kept, PUBLISHED).empty
    assert _budget_statistics.distance_at_one_budget({"common_budget": kept}, PUBLISHED) == []


def test_a_method_that_was_not_run_is_said(table):
    figure, _ = budget.draw({"common_budget": table[table["case"] != "mse_grokalign"]}, PUBLISHED)
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert "GrokAlign: not run" in texts
