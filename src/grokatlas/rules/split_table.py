"""The rows of a cell that several runs share, as if one run had all its members."""

import itertools
from typing import Any

import numpy as np
import pandas as pd


def joined(
    cells: list[dict[str, Any]], records: list[list[str]], parts: list[pd.DataFrame]
) -> list[pd.DataFrame]:
    """The rows of each cell, from those of each run.

    Args:
        cells: of the table's spec, one for each run. That of a run that has a part of a cell says
            of which cell (``of``), and the numbers of its members there (``members``).
        records: the names of each run's records, in order.
        parts: the rows of each run, as `tidy_table.cell_rows` makes them.

    Returns:
        the rows of runs that have a whole cell as they are; those of the others together. There,
        ``member`` is the number in the cell, and the order is that of one run: by record, member
        and row.
    """
    found = []
    runs = zip(cells, records, parts, strict=True)
    for shared, group in itertools.groupby(runs, lambda run: run[0].get("part", {}).get("of")):
        own = list(group)
        found += [part for _, _, part in own] if shared is None else [_together(own)]
    return found


def _together(runs: list[tuple[dict[str, Any], list[str], pd.DataFrame]]) -> pd.DataFrame:
    """The rows of the runs of one cell."""
    numbered = [
        part.assign(member=np.array(cell["part"]["members"])[part["member"]])
        for cell, _, part in runs
    ]
    columns = list(dict.fromkeys(column for part in numbered for column in part))
    # a column that is empty in one run has the type that it has in the others
    filled = [part.dropna(axis="columns", how="all") for part in numbered]
    rows = pd.concat(filled, ignore_index=True).reindex(columns=columns)
    places = {name: place for place, name in enumerate(runs[0][1])}
    order = np.lexsort((rows["member"], rows["record"].map(places)))  # stable, the last key first
    return rows.iloc[order].reset_index(drop=True)
