"""A ReLU student that is trained on its teacher's Jacobian as well."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.beyond_l2 import _students


def draw(
    tables: dict[str, pd.DataFrame], digitised_points: list[dict[str, Any]]
) -> tuple[Figure, pd.DataFrame]:
    """Train and test loss for all step sizes and weights of the mismatch of Jacobians."""
    return _students.draw(tables["sobolev"], "loss.weight", digitised_points)
