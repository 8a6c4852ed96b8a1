"""Figure 7: generalisation inhibited by holding the Jacobian's norm."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.grokalign import _jacobians

CASES = {"baseline": "weight_decay", "minimised": "grokalign", "constrained": "constrained"}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Accuracies, norms and alignments of centroids, with three treatments of the norm."""
    return _jacobians.inhibited(tables["inhibited"], CASES)
