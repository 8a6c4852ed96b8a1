"""Negative controls: the tables of a plate, changed so that a claim on them has to fail."""

from grokatlas.claims.relabelled import Tables, changed, reverse
from grokatlas.papers.plates._adam_memory import BETA2
from grokatlas.papers.plates._slow_time import PROBLEMS

WEIGHTS = {column for problem in PROBLEMS.values() for column in problem.weights}


def weights_reversed(tables: Tables) -> Tables:
    """Every run under the weight of another: the largest for the least."""
    return changed(tables, WEIGHTS, reverse)


def memories_reversed(tables: Tables) -> Tables:
    """Every run under the beta2 of another: the longest memory for the shortest."""
    return changed(tables, [BETA2], reverse)
