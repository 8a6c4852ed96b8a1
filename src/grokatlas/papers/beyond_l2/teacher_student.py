"""A ReLU student of a ReLU teacher under l1 regularisation."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.beyond_l2 import _students


def draw(
    tables: dict[str, pd.DataFrame], digitised_points: list[dict[str, Any]]
) -> tuple[Figure, pd.DataFrame]:
    """Train and test loss for all step sizes and weights of the l1 norm."""
    return _students.draw(tables["teacher_student"], "penalties.0.weight", digitised_points)
