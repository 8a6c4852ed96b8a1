"""Figure 3: the tangent kernel and the alignment of centroids."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.grokalign import _jacobians


def draw(
    tables: dict[str, pd.DataFrame], digitised_points: list[dict[str, Any]]
) -> tuple[Figure, pd.DataFrame]:
    """Mean of the tangent kernel, inner product and alignment of the first training point."""
    return _jacobians.kernel(tables["kernel"], digitised_points)
