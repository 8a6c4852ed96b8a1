"""Negative controls: the tables of a figure, changed so that a claim on them has to fail."""

from grokatlas.claims.relabelled import Tables, changed, double, lower, reverse
from grokatlas.papers.beyond_l2 import _quantities
from grokatlas.papers.beyond_l2._scaling_numbers import WEIGHTS as SCALED
from grokatlas.papers.beyond_l2._student_numbers import WEIGHTS as TAUGHT

COLUMNS = {*SCALED.values(), *TAUGHT.values()}  # columns of the regulariser's weight
INSTANCES = {1: 2, 2: 1}  # the published one, of sparse recovery, and another
SHARE = "task.leverage_share"


def weights_lowered(tables: Tables) -> Tables:
    """Every run under the next smaller weight, without those of the least."""
    lowered = {}
    for name, table in changed(tables, COLUMNS, lower).items():
        own = [column for column in COLUMNS if column in table]
        lost = table[own].isna() & tables[name][own].notna()
        lowered[name] = table[~lost.any(axis=1)]
    return lowered


def weights_doubled(tables: Tables) -> Tables:
    """Every run under twice its weight."""
    return changed(tables, COLUMNS, double)


def rates_reversed(tables: Tables) -> Tables:
    """Every run under the step size of another: the largest for the least."""
    return changed(tables, [_quantities.RATE, "optimizer.lr"], reverse)


def shares_reversed(tables: Tables) -> Tables:
    """Every run of data selection under 1 - tau."""
    return {name: table.assign(**{SHARE: 1 - table[SHARE]}) for name, table in tables.items()}


def instances_swapped(tables: Tables) -> Tables:
    """Another instance of sparse recovery in place of the published one."""
    return changed(tables, ["seed"], lambda values: values.replace(INSTANCES))


def without_the_half(tables: Tables) -> Tables:
    """The test errors of students without the half of the loss."""
    return changed(tables, ["test_squared_error"], double)
