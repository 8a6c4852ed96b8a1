"""Numbers of the claims, one for each seed."""

from collections.abc import Mapping

import pandas as pd

from grokatlas.claims import statistics

Tables = Mapping[str, pd.DataFrame]


def last(tables: Tables, case: str, column: str) -> list[float]:
    """What a case logged of a column at its end."""
    return statistics.last(statistics.history(tables["phases"], case=case), column)


def fall(tables: Tables, order: str, column: str) -> list[float]:
    """The fall of an accuracy from the whole network to the pruned one of best test accuracy."""
    falls = []
    for _, rows in _pruned(tables, order).groupby("seed"):
        best = rows["test_accuracy"].idxmax()
        falls.append(rows[column].iloc[0] - rows[column][best])
    return falls


def rise(tables: Tables, order: str) -> list[float]:
    """The largest test accuracy of a pruned network, less that of the whole one."""
    by_seed = _pruned(tables, order).groupby("seed")["test_accuracy"]
    return list(by_seed.max() - by_seed.first())


def more_periodic(tables: Tables, case: str, ratio: str) -> list[float]:
    """The mean participation ratio of a case's units over that without regularisation."""
    means = [
        _pruned(tables, "low", each).groupby("seed")[ratio].mean() for each in (case, "coexistence")
    ]
    return list(means[0] / means[1])


def _pruned(tables: Tables, order: str, case: str = "coexistence") -> pd.DataFrame:
    rows = statistics.record(tables["phases"], "pruning", case=case, order=order)
    return rows.sort_values(["seed", "pruned"]).reset_index(drop=True)
