"""Figures of `beyond_l2` where their tables are not the usual ones; see `test_pictures.py`."""

import pytest

from grokatlas.declare import cells
from grokatlas.papers.beyond_l2 import _panels, fig1, fig2, fig3, fig6
from grokatlas.results.layout import SCALES
from tests.checkout import declared_papers
from tests.figures.pictures import tables


def test_all_is_drawn_where_a_seed_does_not_generalise():
    (table,) = tables("beyond_l2", "fig1").values()
    last = table["step"].max()
    assert fig1.draw({"modular_addition": table}, [])[0].axes[0].get_xlim()[1] < last
    never = table.assign(t2=table["t2"].where(table["seed"] != 2))
    figure, _ = fig1.draw({"modular_addition": never}, [])
    assert figure.axes[0].get_xlim()[1] == last


def test_nothing_is_shaded_where_no_norm_both_memorises_and_generalises():
    (table,) = tables("beyond_l2", "fig2").values()
    figure, drawn = fig2.draw(
        {"fixed_norm": table.assign(test_loss=table["dynamics.relative_norm"] ** 3)}
    )
    assert "zone" not in set(drawn["series"])
    assert not any(axes.patches for axes in figure.axes)


def test_the_cases_that_are_drawn_exist_at_every_scale():
    paper = declared_papers("beyond_l2")["beyond_l2"]
    others = {"nuclear_batches", "full_batches", "minibatches"}
    for name, cases in (
        ("regularised_addition", {*fig3.CASES} | others),
        ("addition_at_one_rate", {*fig3.CASES, "blog"}),
    ):
        for scale in SCALES:
            found = {cell.case for cell in cells.resolve("beyond_l2", paper, name, scale)}
            assert found == cases, scale


def test_a_run_cut_by_its_last_step_is_an_open_circle():
    (table,) = tables("beyond_l2", "fig6").values()
    table["train.stop.slow_time"] = 1e30
    figure, drawn = fig6.draw({"sparse_scaling": table})
    assert not drawn["complete"].any()
    circles = [x for x in figure.axes[0].lines if x.get_marker() == "o" and len(x.get_xdata())]
    assert {line.get_markerfacecolor() for line in circles} == {"none"}


@pytest.mark.parametrize(
    ("number", "text"), [(1e-4, "10^{-4}"), (0.1, "10^{-1}"), (5e-6, "5 \\times 10^{-6}")]
)
def test_numbers_are_set_as_powers_of_ten(number, text):
    assert _panels.at(number) == text
