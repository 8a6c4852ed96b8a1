"""Table 2: accuracy and alignment of Jacobian rows after a common budget."""

import pandas as pd

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _methods


def tabulate(tables: Tables, published: dict[str, str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Test accuracy, least and largest cosine of a Jacobian's row with its input."""
    return _methods.budget(tables["common_budget"], published)
