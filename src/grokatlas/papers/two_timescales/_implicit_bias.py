"""Numbers of claims on what the fast phase chooses: the interpolator of least hypentropy."""

import numpy as np

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables
from grokatlas.papers.two_timescales import _quantities


def distance_from_hypentropy(tables: Tables, decay: float, time: float, end: str) -> list[float]:
    """The distance of the diagonal network from an interpolator in its fast phase, for each seed.

    At the last fitted step until a time, the step size times the number of updates, with the weight
    of the l2 term (half of lambda) that is nearest to `decay`; `end` is ``distance`` (of least
    hypentropy), ``distance_l2`` or ``distance_l1``.
    """
    rows = statistics.record(tables["theory_diagonal_network"], "hypentropy_path", case="fast")
    if rows.empty:
        return []
    weights = rows[_quantities.DECAY].unique()
    nearest = weights[np.abs(weights - decay).argmin()]
    rows = rows[rows[_quantities.DECAY] == nearest]
    early = rows["step"] * rows["optimizer.lr"] <= time * (1 + 1e-9)
    return statistics.last(rows[early], end)
