"""Plate 8 from tables whose curves and times are known."""

import numpy as np
import pytest

from grokatlas.papers.plates import clock
from tests.tables import rows, table

BETA2 = "optimizer.beta2"
CURVES = {
    "test_accuracy": lambda row: float(row["step"] >= 900),
    "l2_norm": lambda row: 90.0,
    "effective_step": lambda row: 1 / row["step"],
}


def _table(**axes):
    axes = {"seed": [0, 1]} | axes
    curves = rows(**axes, step=[1, 100, 1000], optimizer__switch=100, **CURVES)
    never = lambda row: np.nan if row.get(BETA2) == 0.999 else 900.0  # noqa: E731
    return table(curves, rows("grokking_times", **axes, step=1000, t1=80.0, t2=never))


@pytest.fixture
def tables():
    memories = {"optimizer__beta2": [0.9, 0.999]}
    return {
        "adam_memory": _table(case=["large_step", "l2"], **memories),
        "adam_switched": _table(case=["shortened", "lengthened", "emptied"]),
        "adam_decoupled": _table(optimizer__beta2=0.9),
        "adam_batches": _table(case=["large", "small"], **memories),
        "adam_remembered": table(
            rows(
                **memories,
                seed=[0, 1],
                step=[50, 100],
                optimizer__eps=1e-8,
                adam_denominator=lambda row: 1e-8 * np.exp(row["step"] / 10),
            )
        ),
    }


def test_the_law_is_a_line_from_the_shortest_memory_on(tables):
    made, data = clock.draw(tables)
    (line,) = [line for line in made.axes[3].get_lines() if line.get_linestyle() == "--"]
    law = data[data["series"] == "predicted"]
    assert list(line.get_ydata()) == pytest.approx(list(law["t2"]))
    assert list(law["t2"]) == pytest.approx([900.0, 900.0 + 20 * 10 * 99])


def test_each_kind_of_run_is_a_curve_with_a_line_at_the_switch(tables):
    made, data = clock.draw(tables)
    assert {*data["kind"].dropna()} == {*clock.KINDS}
    for axes in made.axes[:3]:
        assert any(list(line.get_xdata()) == [100.0, 100.0] for line in axes.get_lines())


def test_a_memory_at_which_nothing_generalises_is_a_cross_at_the_end(tables):
    made, data = clock.draw(tables)
    crosses = [line for line in made.axes[3].get_lines() if line.get_marker() == "x"]
    assert [list(line.get_ydata()) for line in crosses] == [[1000.0], [1000.0], [1000.0], []]
    assert crosses[0].get_xdata()[0] == pytest.approx(1000)
    times = data[data["series"] == "adam_memory"]
    assert sorted(times["t2"]) == [900.0, 900.0, np.inf, np.inf]


def test_a_seed_that_does_not_generalise_is_not_left_out(tables):
    times = tables["adam_decoupled"]
    times.loc[(times["record"] == "grokking_times") & (times["seed"] == 1), "t2"] = np.nan
    made, _ = clock.draw(tables)
    crosses = [line for line in made.axes[3].get_lines() if line.get_marker() == "x"]
    assert list(crosses[-1].get_ydata()) == [1000.0]
