"""Table 3: compute resources."""

import pandas as pd

from grokatlas.papers.grokalign import _methods

ARTEFACTS = [
    ("figure 2", ["kernel"], "TITAN X, < 1 h"),
    ("figure 3", ["xor"], "TITAN X, < 1 h"),
    ("figure 4", ["delayed_robustness"], "GTX 1080 Ti, 6 h"),
    ("figure 5", ["inhibited"], "TITAN X, 4 h"),
    ("figure 6", ["scales"], "TITAN X, 1 day"),
    ("figures 7 and 8", ["transformer"], "not stated"),
    ("figure 9", ["common_budget"], "TITAN X, 4 h"),
    ("table 1", ["acceleration"], "GTX 1080 Ti and RTX 8000, 5 days"),
    ("table 2", ["common_budget"], "not stated"),
]


def tabulate(tables: dict[str, pd.DataFrame]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Processor, hours and memory of the runs behind each figure and table."""
    return _methods.compute(tables, ARTEFACTS)
