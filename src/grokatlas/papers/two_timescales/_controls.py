"""Controls of claims: the tables changed into what a statement excludes, so that it has to fail."""

import numpy as np

from grokatlas.claims.relabelled import Tables, changed, double
from grokatlas.papers.two_timescales import _quantities

FAST = 0.1  # slow time up to which the slow phase has not begun


def lambda_doubled(tables: Tables) -> Tables:
    """The runs as if they had been made with half the lambda that they are taken to have."""
    return changed(tables, [_quantities.DECAY, "dynamics.l2"], double)


def step_size_doubled(tables: Tables) -> Tables:
    """The runs as if each update took twice the time."""
    return changed(tables, ["optimizer.lr"], double)


def without_weight_decay(tables: Tables) -> Tables:
    """The runs without weight decay in the place of those with the largest, and the reverse.

    Case by case; a case without both stays as it is.
    """
    changed_tables = {}
    for name, table in tables.items():
        if _quantities.DECAY in table:
            parts = table.groupby("case")[_quantities.DECAY]
            most = parts.transform("max").where(parts.transform("min") == 0)
            decay = table[_quantities.DECAY]
            swapped = decay.mask(decay == most, 0.0).mask((decay == 0) & most.notna(), most)
            table = table.assign(**{_quantities.DECAY: swapped})
        changed_tables[name] = table
    return changed_tables


def fast_phase_alone(tables: Tables) -> Tables:
    """The tables up to the slow time `FAST`, of each run with weight decay."""
    changed_tables = {}
    for name, table in tables.items():
        if _quantities.DECAY in table:
            slow = 2 * table[_quantities.DECAY] * table["step"] * table["optimizer.lr"]
            table = table[~(slow > FAST)]
        changed_tables[name] = table
    return changed_tables


def flow_at_rest(tables: Tables) -> Tables:
    """The Riemannian flow as if it stayed where it begins."""
    changed_tables = {}
    for name, table in tables.items():
        names = [each for each in table if each.startswith("parameters.")]
        flow = (table["case"] == "riemannian_flow") & (table["record"] == "history")
        flow &= table["step"] >= table["dynamics.fast_steps"]
        firsts = table[flow].sort_values("step").groupby("seed")[names].first()
        rest = table.copy()
        rest.loc[flow, names] = firsts.loc[table.loc[flow, "seed"]].to_numpy(np.float64)
        changed_tables[name] = rest
    return changed_tables
