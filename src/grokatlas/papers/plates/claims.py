"""Numbers of the plates' predictions, each from the tables of one figure, one for each seed."""

import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates import _recovery
from grokatlas.papers.plates._accelerators import largest_share_led, lead, time_over_baseline
from grokatlas.papers.plates._adam_memory import (
    difference_of_exponents,
    exponent_of_weight,
    order_of_peaks,
    ratio_of_steps,
    ratio_of_times,
    updates_per_decay,
)
from grokatlas.papers.plates._clock import (
    denominator_left,
    ratio_in_batches,
    ratio_of_periods,
    ratio_on_transformer,
    ratio_to_control,
    ratio_under_decay,
    time_over_law,
    wait_over_law,
)
from grokatlas.papers.plates._controls import weights_reversed
from grokatlas.papers.plates._forecasts import correlation_with_t2, number_that_tell
from grokatlas.papers.plates._jumps import (
    accuracy_beside_at,
    gain_beside,
    largest_share_collapsed,
    number_of_jumps,
    updates_since_jump,
)
from grokatlas.papers.plates._mirages import (
    end_over_noise,
    ends_apart,
    fall_over_law,
    share_fallen,
    share_fallen_in_noise,
    share_recovered_wide,
)
from grokatlas.papers.plates._precision import (
    accuracy_beside,
    factor_beside,
    last_accuracy,
    most_collapsed,
    time_beside,
)
from grokatlas.papers.plates._progress import share_beyond_clock, time_of_move
from grokatlas.papers.plates._slow_time import (
    difference_of_slow_times,
    exponent_of_slow_time,
    spread_of_slow_times,
)
from grokatlas.papers.plates._smooth_units import predicted_over_measured_smooth, share_at_kinks
from grokatlas.papers.plates._theories import error_beside, predicted_over_measured


def share(
    tables: Tables,
    outcome: str,
    truth: str,
    regulariser: str,
    start: float | str,
    fewest: int,
    most: int,
) -> list[float]:
    """The share of some runs that have an outcome.

    Args:
        tables: of plate 4.
        outcome: ``recovered`` or ``mirage``.
        truth: its kind, ``all``, or ``unfit`` for those that the regulariser does not fit.
        regulariser: ``l1``, ``nuclear``, ``l2``, ``none`` or ``all``.
        start: entries before training, or ``all``.
        fewest: measurements of a run that counts.
        most: as `fewest`.
    """
    rows = _recovery.outcomes(tables)
    rows = rows[rows["samples"].between(fewest, most)]
    if truth == "unfit":
        rows = rows[rows["truth"].map(_recovery.DIAGONAL) != rows["regulariser"]]
    for column, value in {"truth": truth, "regulariser": regulariser, "start": start}.items():
        if value not in ("all", "unfit"):
            rows = rows[rows[column] == value]
    return [float(rows[outcome].mean())]


def time_over_distance(tables: Tables) -> list[float]:
    """The median of t2 x rate x weight over the distance to go on the diagonal, by instance."""
    rows = _on_diagonal(tables)
    return [
        float((part["slow"] / part["distance"]).median()) for _, part in rows.groupby("instance")
    ]


def exponent_of_distance(tables: Tables, most: int) -> list[float]:
    """The exponent of t2 x rate x weight against the distance on the diagonal, by instance.

    Args:
        tables: of plate 4.
        most: measurements of a problem that counts.
    """
    rows = _on_diagonal(tables)
    rows = rows[rows["samples"] <= most]
    return [
        statistics.slope(part["distance"], part["slow"]) for _, part in rows.groupby("instance")
    ]


def recovered_of_exact(tables: Tables) -> list[float]:
    """The share of problems on the diagonal that the least start recovers.

    Of those whose minimiser is the truth.
    """
    rows = _on_diagonal(tables)
    rows = rows[rows["convex"] & (rows["start"] == rows["start"].min())]
    return [float(rows["recovered"].mean())]


def _on_diagonal(tables: Tables) -> pd.DataFrame:
    rows = _recovery.outcomes(tables)
    return rows[rows["truth"].map(_recovery.DIAGONAL) == rows["regulariser"]]
