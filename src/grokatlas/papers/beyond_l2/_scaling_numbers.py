"""Numbers of figures 6 and 7: times and errors for pairs of step size and weight."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables
from grokatlas.papers.beyond_l2 import _quantities
from grokatlas.papers.beyond_l2._quantities import RATE

RECOVERED = 1e-2  # the final error of an instance that is recovered, with the best weight
WEIGHTS = {  # the column of the regulariser's weight, by experiment
    "sparse_scaling": "dynamics.l1",
    "matrix_scaling": "dynamics.weight",
}
ERRORS = {"sparse_scaling": "test_deviation", "matrix_scaling": "nuclear_distance"}


def scaling_exponent(tables: Tables, experiment: str, column: str, of: str) -> list[float]:
    """The exponent of the step size, or of the weight, where the other one is held.

    The median over the values of the other, over runs that were not cut short and weights up to
    1e-2. For each instance that is recovered, the published grid's first; not for one on which
    fewer than two values reach what is measured.

    Args:
        tables: of figure 6, for vectors or matrices.
        experiment: its.
        column: ``t1`` where it is far below t2, ``t2``, or the ``error`` at t2.
        of: ``alpha``, the step size, or ``beta``, the weight.
    """
    weight = WEIGHTS[experiment]
    pairs = _quantities.scaling(tables[experiment], weight, ERRORS[experiment])
    used = pairs[(pairs[weight] <= _quantities.LARGEST_WEIGHT) & pairs["complete"]]
    keys = ["case", "seed", RATE, weight]
    used = used.merge(statistics.record(tables[experiment], "recovery_times")[[*keys, "t1"]])
    used = used.assign(t1=used["t1"].where(used["t1"] < used["t2"] / 10))  # else it is no fit alone
    own, held = (RATE, weight) if of == "alpha" else (weight, RATE)
    exponents = []
    for _, part in used.groupby(used["seed"].where(used["case"] != "published", -1)):
        if part["final_test_error"].min() <= RECOVERED:
            slopes = [statistics.slope(rows[own], rows[column]) for _, rows in part.groupby(held)]
            known = [slope for slope in slopes if np.isfinite(slope)]
            exponents += [float(np.median(known))] if known else []
    return exponents


def scaled_time(tables: Tables, experiment: str, weight: float) -> list[float]:
    """t2 alpha beta, for each complete pair of the published grid with a weight up to `weight`."""
    pairs = _complete(tables, experiment, weight)
    return [float(value) for value in pairs["t2"] * pairs["product"]]


def share_of_scaled_times(
    tables: Tables, experiment: str, weight: float, level: float
) -> list[float]:
    """The share of instances whose t2 alpha beta is below a level.

    Of each instance the median over its complete pairs with a weight up to `weight` counts.
    """
    pairs = _complete(tables, experiment, weight, case=None)
    scaled = (pairs["t2"] * pairs["product"]).groupby(pairs["seed"]).median()
    return [float((scaled < level).mean())] if len(scaled) else []


def scaled_time_over_distance(tables: Tables, experiment: str, weight: float) -> list[float]:
    """`scaled_time` over the distance of the least squares solution, for each pair."""
    pairs = _complete(tables, experiment, weight)
    constant = pairs["t2"] * pairs["product"] / pairs["least_squares_distance"]
    return [float(value) for value in constant]


def final_error_over_weight(tables: Tables, weight: float) -> list[float]:
    """The final relative error of figure 7 over its weight, for weights up to `weight`."""
    pairs = _complete(tables, "sparse_scaling", weight)
    return [float(value) for value in pairs["final_test_error"] / pairs[WEIGHTS["sparse_scaling"]]]


def memorisation_times(tables: Tables, weight: float) -> list[float]:
    """t1 of figure 7 with one weight, for each step size."""
    keywords = {"case": "published", "dynamics__l1": weight}
    rows = statistics.record(tables["sparse_scaling"], "recovery_times", **keywords)
    return statistics.times(rows, "t1")


def _complete(
    tables: Tables, experiment: str, weight: float, case: str | None = "published"
) -> pd.DataFrame:
    pairs = _quantities.scaling(tables[experiment], WEIGHTS[experiment], ERRORS[experiment])
    pairs = pairs if case is None else pairs[pairs["case"] == case]
    return pairs[pairs["complete"] & (pairs[WEIGHTS[experiment]] <= weight)]
