"""Table 2 of `grokalign` against the budget, where the tables are not the usual ones."""

import pytest

from grokatlas.papers.grokalign import _budget_statistics, budget
from tests.checkout import declared_papers
from tests.figures.pictures import tables

FIGURES = declared_papers("grokalign")["grokalign"].figures
PUBLISHED = FIGURES["budget"].published


@pytest.fixture
def table():
    return tables("grokalign", "budget")["common_budget"]


def test_the_published_rows_are_those_of_table_2():
    assert FIGURES["table2"].published == PUBLISHED


def test_a_table_that_has_the_published_rows_at_one_budget_is_at_no_distance(table):
    last = table["step"].max()
    for case in _budget_statistics.CASES:
        for column, value in _budget_statistics.row(PUBLISHED, case).items():
            at = (table["case"] == case) & (table["step"] == last) & table[column].notna()
            table.loc[at, column] = value
    (found,) = _budget_statistics.distance_at_one_budget({"common_budget": table}, PUBLISHED)
    assert found == pytest.approx(0, abs=0.05)


def test_one_snapshot_is_no_trajectory(table):
    last = table["step"].max()
    kept = table[(table["record"] == "history") | (table["step"] == last)]
    assert _budget_statistics.passages(kept, PUBLISHED).empty
    assert _budget_statistics.distance_at_one_budget({"common_budget": kept}, PUBLISHED) == []


def test_a_method_that_was_not_run_is_said(table):
    figure, _ = budget.draw({"common_budget": table[table["case"] != "mse_grokalign"]}, PUBLISHED)
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert "GrokAlign: not run" in texts
