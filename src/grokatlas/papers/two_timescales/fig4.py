"""Figure 4: a diagonal linear network."""

import numpy as np
import pandas as pd

from grokatlas.claims.statistics import Tables
from grokatlas.papers.two_timescales import _panels
from grokatlas.plots import style
from grokatlas.plots.style import FigureAndData

LEAST = style.Look(color=style.COLOURS["l1"], ls="--", lw=1.0, zorder=6, label="least l1 norm")


def draw(tables: Tables) -> FigureAndData:
    """Losses with the squared norm, and the predictor of seed 0 at three times."""
    table = tables["diagonal_network"]
    made, losses, panels, drawn = _panels.losses_above_predictors(
        table, others=False, digitised_points=[]
    )
    losses.set(yscale="log")
    for axes in panels:
        axes.set_xticks([-np.pi, 0, np.pi], ["$-\\pi$", "0", "$\\pi$"])
    least = _minimiser(table)
    panels[-1].plot(least["input"], least["output"], **LEAST)
    panels[-1].legend(loc="lower center", fontsize=6, handles=panels[-1].lines[-1:])
    panels[0].legend(loc="lower center", ncols=3, fontsize=6, columnspacing=0.8)
    return made, pd.concat([drawn, least], ignore_index=True)


def _minimiser(table: pd.DataFrame) -> pd.DataFrame:
    """The interpolator of least l1 norm of the seed shown, as a curve on the circle."""
    rows = table[(table["record"] == "convex_minimiser") & (table["seed"] == _panels.SHOWN)]
    named = [name for name in table if name.startswith("minimiser.")]
    named = sorted(named, key=lambda name: int(name.split(".")[1]))
    x = np.linspace(-np.pi, np.pi, 300)
    if rows.empty:
        return pd.DataFrame(columns=["series", "input", "output"])
    coefficients = rows[named].iloc[0].to_numpy(dtype=float)
    angles = x[:, None] * np.arange(1, len(named) // 2 + 1)
    waves = 2**0.5 * np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    output = coefficients[0] + waves @ coefficients[1:]
    return pd.DataFrame({"series": "minimiser", "input": x, "output": output, "panel": "d"})
