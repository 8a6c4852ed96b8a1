"""Numbers of plate 5 from other papers' tables, lambda the weight of the squared norm."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables

DECAY, LR = "penalties.0.weight", "optimizer.lr"
OTHER_DECAY = "dynamics.weight_decay"
WEIGHTS = "parameters."
FIRST = "parameters.factors.0"  # of the first factor, all of whose entries begin alike
# time until which two flows are compared: where the fast phase is over
HORIZONS = {"matrix_completion": 10.0, "two_layer_relu": 1.0, "diagonal_network": 100.0}


def changes(table: pd.DataFrame) -> pd.DataFrame:
    """When a product of two factors from ``u = gamma``, ``v = 0`` leaves the least l2 norm.

    Returns:
        ``weight_decay``, ``gamma``, ``seed`` and ``time``: the slow time of the last fall of the
        distance to the interpolator of least l1 norm below half of what that of least l2 norm has,
        straight between logged steps; not a number where it never comes.
    """
    keys = ["case", "seed"]
    starts = statistics.history(table, step=0)
    starts = starts[starts["case"].str.match("scaled|weight")][[*keys, FIRST]]
    rows = statistics.record(table, "hypentropy_path").drop(columns=FIRST, errors="ignore")
    rows = rows.merge(starts.rename(columns={FIRST: "gamma"}), on=keys)
    rows = rows.assign(slow_time=2 * rows[DECAY] * rows[LR] * rows["step"])
    records = [
        dict(zip(("weight_decay", "gamma", "seed"), values, strict=True)) | {"time": _half(part)}
        for values, part in rows.groupby([DECAY, "gamma", "seed"])
    ]
    return pd.DataFrame(records, columns=["weight_decay", "gamma", "seed", "time"])


def _half(part: pd.DataFrame) -> float:
    part = part.sort_values("step")
    above = (part["distance_l1"] - part["between"] / 2).to_numpy()
    times, outside = part["slow_time"].to_numpy(), np.flatnonzero(above > 0)
    if not len(outside) or outside[-1] + 1 >= len(part):
        return float("nan")
    at = outside[-1]
    share = above[at] / (above[at] - above[at + 1])
    return float(times[at] + share * (times[at + 1] - times[at]))


def line(found: pd.DataFrame) -> tuple[float, float]:
    """Slope and intercept of ``time`` against ``log(gamma)``, medians of the seeds' least squares.

    Not numbers with fewer than two gamma.
    """
    lines = []
    for _, part in found.dropna().groupby("seed"):
        part = part[part["gamma"] > 0]
        if part["gamma"].nunique() > 1:
            lines.append(np.polyfit(np.log(part["gamma"]), part["time"], 1))
    slope, intercept = np.median(lines, axis=0) if lines else (np.nan, np.nan)
    return float(slope), float(intercept)


def distances(table: pd.DataFrame) -> pd.DataFrame:
    """The largest distance to the zero-loss set of each trajectory (theorem 4.9).

    Returns:
        ``problem``, ``weight_decay``, ``member`` and ``distance``, not a number where a snapshot
        has none.
    """
    rows = statistics.record(table, "zero_loss_distance")
    rows = rows[rows["step"] > 0]
    decays = [rows[name] for name in (OTHER_DECAY, DECAY) if name in rows]
    decay = decays[0].fillna(decays[1]) if len(decays) == 2 else decays[0]
    groups = rows.assign(weight_decay=decay).groupby(["case", "weight_decay", "member"])
    largest = groups["distance"].agg(lambda values: values.max(skipna=False)).reset_index()
    return largest.rename(columns={"case": "problem"})


def departures(tables: Tables) -> pd.DataFrame:
    """The largest distance to the flow without weight decay, over the start's norm (proposition 1).

    Returns:
        ``problem``, ``weight_decay``, ``seed`` and ``departure``, until `HORIZONS`.
    """
    records = [
        {"problem": problem} | row
        for problem, horizon in HORIZONS.items()
        for row in _departures(tables[f"theory_{problem}"], horizon)
    ]
    return pd.DataFrame(records, columns=["problem", "weight_decay", "seed", "departure"])


def _departures(table: pd.DataFrame, horizon: float) -> Iterator[dict[str, float]]:
    rows = statistics.history(table, case="fast")
    rows = rows[rows["step"] * rows[LR] <= horizon * (1 + 1e-9)]
    free = {seed: _path(part) for seed, part in rows[rows[DECAY] == 0].groupby("seed")}
    for (decay, seed), part in rows[rows[DECAY] > 0].groupby([DECAY, "seed"]):
        if seed in free:
            apart = np.linalg.norm((_path(part) - free[seed]).dropna(how="all"), axis=1)
            start = np.linalg.norm(free[seed].iloc[0])
            yield {"weight_decay": decay, "seed": seed, "departure": apart.max() / start}


def _path(rows: pd.DataFrame) -> pd.DataFrame:
    """All parameters, by step."""
    return rows.set_index("step")[[name for name in rows if name.startswith(WEIGHTS)]]
