"""Table 3: compute resources."""

from typing import Any

import pandas as pd

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _methods


def tabulate(tables: Tables, published: dict[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Processor, hours and memory of the runs behind each figure and table."""
    return _methods.compute(tables, published)
