"""Numbers of plate 5 from tables of other papers, lambda the weight of the squared norm."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.papers.beyond_l2 import _rescaling
from grokatlas.papers.two_timescales import _theory

Tables = Mapping[str, pd.DataFrame]

DECAY = "penalties.0.weight"
OTHER_DECAY = "dynamics.weight_decay"


def changes(table: pd.DataFrame) -> pd.DataFrame:
    """The slow time at which a product from ``u = gamma``, ``v = 0`` leaves the least l2 norm."""
    times = _rescaling.transitions(table).query("kind != 'orbit'")
    keys = ["weight_decay", "gamma", "seed"]
    times = times.assign(weight_decay=times["beta"] / 2).sort_values(keys, ignore_index=True)
    return times[[*keys, "time"]]


def line(times: pd.DataFrame) -> tuple[float, float]:
    """Slope and intercept of ``time`` against ``log(gamma)``, medians of the seeds' least squares.

    Not numbers with fewer than two gamma.
    """
    lines = []
    for _, part in times.dropna().groupby("seed"):
        part = part[part["gamma"] > 0]
        if part["gamma"].nunique() > 1:
            lines.append(np.polyfit(np.log(part["gamma"]), part["time"], 1))
    slope, intercept = np.median(lines, axis=0) if lines else (np.nan, np.nan)
    return float(slope), float(intercept)


def distances(table: pd.DataFrame) -> pd.DataFrame:
    """The largest distance of each trajectory to the zero-loss set (theorem 4.9), if known."""
    rows = statistics.record(table, "zero_loss_distance")
    rows = rows[rows["step"] > 0]
    decays = [rows[name] for name in (OTHER_DECAY, DECAY) if name in rows]
    decay = decays[0].fillna(decays[1]) if len(decays) == 2 else decays[0]
    groups = rows.assign(weight_decay=decay).groupby(["case", "weight_decay", "member"])
    largest = groups["distance"].agg(lambda values: values.max(skipna=False)).reset_index()
    return largest.rename(columns={"case": "problem"})


def departures(tables: Tables) -> pd.DataFrame:
    """The largest distance to the flow at lambda 0, over the start's norm (proposition 1)."""
    parts = [
        _theory.departures(statistics.history(tables[f"theory_{problem}"]), horizon).assign(
            problem=problem, weight_decay=lambda rows: rows["lambda"] / 2
        )
        for problem, horizon in _theory.HORIZONS.items()
    ]
    return pd.concat(parts, ignore_index=True)[["problem", "weight_decay", "seed", "departure"]]
