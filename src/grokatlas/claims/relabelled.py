"""Tables under other labels, for negative controls: such as every run under another's weight."""

from collections.abc import Callable, Iterable, Mapping

import pandas as pd

Tables = Mapping[str, pd.DataFrame]
Change = Callable[[pd.Series], pd.Series]


def changed(tables: Tables, columns: Iterable[str], change: Change) -> Tables:
    """Tables with a change of some columns, within each case; one without a column stays.

    Args:
        tables: by experiment.
        columns: that are changed.
        change: of a column's values.
    """
    return {
        name: table.assign(
            **{
                column: table.groupby("case", dropna=False)[column].transform(change)
                for column in columns
                if column in table
            }
        )
        for name, table in tables.items()
    }


def reverse(values: pd.Series) -> pd.Series:
    """The largest for the least, the second for the last but one; what is 0 or missing stays."""
    known = sorted(value for value in values.dropna().unique() if value)
    return values.replace(dict(zip(known, known[::-1], strict=True)))


def lower(values: pd.Series) -> pd.Series:
    """The next smaller for each, not a number for the least; what is 0 stays."""
    known = sorted(value for value in values.dropna().unique() if value)
    return values.replace(dict(zip(known, [float("nan"), *known], strict=False)))


def double(values: pd.Series) -> pd.Series:
    """Twice as large."""
    return 2 * values
