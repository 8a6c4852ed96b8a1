"""The slow time at which figure and claims of `isolation` compare drifts."""

import functools

import pandas as pd

DECAY = "penalties.0.weight"


def last_common(rows: pd.DataFrame) -> float:
    """The last slow time of which every weight decay has a snapshot, or NaN."""
    times = [set(part["slow_time"]) for _, part in rows.groupby(DECAY)]
    common = functools.reduce(set.intersection, times) if times else ()
    return max(common, default=float("nan"))
