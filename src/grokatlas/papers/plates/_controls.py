"""Negative controls: the tables of a plate, changed so that a claim on them has to fail."""

from grokatlas.claims.relabelled import Tables, changed, reverse
from grokatlas.papers.plates._slow_time import PROBLEMS

WEIGHTS = {column for problem in PROBLEMS.values() for column in problem.weights}


def weights_reversed(tables: Tables) -> Tables:
    """Every run under the weight of another: the largest for the least."""
    return changed(tables, WEIGHTS, reverse)
