"""Plate 3: which measure moves first, and which tells more than the clock."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.plates import _progress
from grokatlas.plots import style


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Times of each measure (a) and its correlations over the plateau (b), a column a run."""
    seen = _progress.windows(tables)
    found, ordered = _progress.moves(seen), _progress.orders(seen)
    made, _ = style.figure(len(_progress.RUNS), 2)
    return made, pd.concat([found.assign(panel="a"), ordered.assign(panel="b")])
