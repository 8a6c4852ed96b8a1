"""Controls of claims: tables changed into what a statement excludes, so that it has to fail."""

from collections.abc import Mapping

import pandas as pd

Tables = Mapping[str, pd.DataFrame]


def before_training(tables: Tables) -> Tables:
    """What is known before the first update."""
    return {name: table[table["step"] == 0] for name, table in tables.items()}
