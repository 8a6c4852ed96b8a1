"""Figure 3: two-layer ReLU regression."""

from grokatlas.claims.statistics import Points, Tables
from grokatlas.papers.two_timescales import _panels, _quantities
from grokatlas.plots.style import FigureAndData


def draw(tables: Tables, digitised_points: Points) -> FigureAndData:
    """Losses with the squared norm, and the student at three times; seed 0 and all seeds."""
    table = tables["two_layer_relu"]
    digitised_points = _quantities.on_our_clock(
        digitised_points, float(table["optimizer.lr"].max())
    )
    made, losses, panels, drawn = _panels.losses_above_predictors(
        table, others=True, digitised_points=digitised_points
    )
    losses.set_ylim(0, 2)
    panels[2].legend(loc="lower left")
    return made, drawn
