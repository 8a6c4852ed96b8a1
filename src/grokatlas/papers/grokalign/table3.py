"""Table 3: compute resources."""

import pandas as pd

from grokatlas.papers.grokalign import _methods

ARTEFACTS = [
    ("figure 2", ["common_budget"], "TITAN X, 4 h"),
    ("figure 3", ["kernel"], "TITAN X, < 1 h"),
    ("figure 4", ["xor"], "TITAN X, < 1 h"),
    ("figures 5 and 6", ["delayed_robustness"], "GTX 1080 Ti, 6 h"),
    ("figure 7", ["inhibited"], "TITAN X, 4 h"),
    ("figures 8 and 9", ["transformer"], "GTX 1080 Ti, 5 h"),
    ("figure 10", ["scales"], "TITAN X, 1 day"),
    ("tables 1 and 2", ["acceleration", "common_budget"], "GTX 1080 Ti and RTX 8000, 5 days"),
]


def tabulate(tables: dict[str, pd.DataFrame]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Processor, hours and memory of the runs behind each figure and table."""
    return _methods.compute(tables, ARTEFACTS)
