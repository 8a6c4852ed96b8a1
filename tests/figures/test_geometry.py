"""Figures of `geometry` where their tables are not the usual ones; see `test_pictures.py`."""

from grokatlas.papers.geometry import isolation
from tests.figures.pictures import tables


def test_without_a_common_slow_time_there_is_no_curve_against_weight_decay():
    (table,) = tables("geometry", "isolation").values()
    apart = table.assign(slow_time=table["slow_time"] + table["penalties.0.weight"])
    figure, _ = isolation.draw({"isolation": apart})
    assert not [line for line in figure.axes[1].lines if len(line.get_xdata())]
