"""Negative controls: the tables of a figure, changed so that a claim on them has to fail."""

from collections.abc import Callable, Mapping

import pandas as pd

from grokatlas.papers.beyond_l2 import _quantities
from grokatlas.papers.beyond_l2._scaling_numbers import WEIGHTS as SCALED
from grokatlas.papers.beyond_l2._student_numbers import WEIGHTS as TAUGHT

Tables = Mapping[str, pd.DataFrame]
Change = Callable[[pd.Series], pd.Series]

WEIGHTS = {*SCALED.values(), *TAUGHT.values()}  # columns of the regulariser's weight
RATES = {_quantities.RATE, "optimizer.lr"}
INSTANCES = {1: 2, 2: 1}  # the published one, of sparse recovery, and another


def weights_reversed(tables: Tables) -> Tables:
    """Every run under the weight of another: the largest for the least."""
    return _changed(tables, WEIGHTS, _reversed)


def weights_doubled(tables: Tables) -> Tables:
    """Every run under twice its weight."""
    return _changed(tables, WEIGHTS, lambda values: 2 * values)


def rates_reversed(tables: Tables) -> Tables:
    """Every run under the step size of another: the largest for the least."""
    return _changed(tables, RATES, _reversed)


def shares_reversed(tables: Tables) -> Tables:
    """Every run of data selection under the tau of another: the largest for the least."""
    column = "task.leverage_share"
    return {
        name: table.assign(**{column: _reversed(table[column])}) for name, table in tables.items()
    }


def instances_swapped(tables: Tables) -> Tables:
    """Another instance of sparse recovery in place of the published one."""
    return _changed(tables, {"seed"}, lambda values: values.replace(INSTANCES))


def without_the_half(tables: Tables) -> Tables:
    """The test errors of students without the half of the loss."""
    return _changed(tables, {"test_squared_error"}, lambda values: 2 * values)


def _reversed(values: pd.Series) -> pd.Series:
    """The largest for the least, the second for the last but one."""
    known = sorted(values.dropna().unique())
    return values.map(dict(zip(known, known[::-1], strict=True)))


def _changed(tables: Tables, columns: set[str], change: Change) -> Tables:
    """Tables with a change of some columns, within each case."""
    return {
        name: table.assign(
            **{
                column: table.groupby("case", dropna=False)[column].transform(change)
                for column in columns & set(table)
            }
        )
        for name, table in tables.items()
    }
