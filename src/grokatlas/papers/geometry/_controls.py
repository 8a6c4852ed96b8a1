"""Controls of claims: tables changed into what a statement excludes, so that it has to fail."""

from grokatlas.claims.relabelled import Tables, changed, double
from grokatlas.papers.geometry._drifts import DECAY


def before_training(tables: Tables) -> Tables:
    """The tables before the first update."""
    return {name: table[table["step"] == 0] for name, table in tables.items()}


def weight_decay_doubled(tables: Tables) -> Tables:
    """The runs as if they had been made with half the weight decay that they are taken to have."""
    return changed(tables, [DECAY], double)
