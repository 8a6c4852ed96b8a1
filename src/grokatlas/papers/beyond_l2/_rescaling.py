"""A product of two factors from rescaled starts: times, distances and norms, by case and seed."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables

WEIGHT = "penalties.0.weight"  # half of beta
LR = "optimizer.lr"
FACTORS = "parameters.factors."
KINDS = ("scaled", "orbit", "weight")


def slow(rows: pd.DataFrame) -> pd.Series:
    """``beta t`` of rows, with t the step size times the number of updates."""
    return 2 * rows[WEIGHT] * rows[LR] * rows["step"]


def starts(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each case and seed, before training: ``kind``, ``gamma``, ``beta``, and errors.

    ``gamma`` is the first factor's entry (its second is 0), or on an orbit the root of the quotient
    of both factors.
    """
    rows = statistics.history(table, step=0)
    half = sum(name.startswith(FACTORS) for name in rows) // 2
    first, second = rows[f"{FACTORS}0"], rows[f"{FACTORS}{half}"]
    ratio = np.sqrt(first / second.where(second != 0))
    kind = rows["case"].str.split("_").str[0]
    first_rows = rows[["case", "seed", "test_error", "l2_norm"]].assign(kind=kind)
    gamma = ratio.where(kind == "orbit", first)
    return first_rows.assign(gamma=gamma, beta=2 * rows[WEIGHT])


def path(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of measure ``hypentropy_path`` with ``slow_time`` and the start's ``kind`` and size."""
    rows = statistics.record(table, "hypentropy_path")
    rows = rows.assign(slow_time=slow(rows))
    return rows.merge(starts(table)[["case", "seed", "kind", "gamma", "beta"]])


def transitions(table: pd.DataFrame) -> pd.DataFrame:
    """``beta t2`` by case and seed: the last time half-way from the least l2 to the least l1 norm.

    There the distance to the interpolator of least l1 norm is half of what that of least l2 norm
    has; between logged steps it goes straight. Not a number where it never comes to it.
    """
    times_of_change = []
    for (kind, gamma, beta, seed), part in path(table).groupby(["kind", "gamma", "beta", "seed"]):
        above = (part["distance_l1"] - part["between"] / 2).to_numpy()
        times, outside = part["slow_time"].to_numpy(), np.flatnonzero(above > 0)
        time = np.nan
        if len(outside) and outside[-1] + 1 < len(part):
            at = outside[-1]
            share = above[at] / (above[at] - above[at + 1])
            time = times[at] + share * (times[at + 1] - times[at])
        times_of_change.append(
            {"kind": kind, "gamma": gamma, "beta": beta, "seed": seed, "time": time}
        )
    return pd.DataFrame(times_of_change, columns=["kind", "gamma", "beta", "seed", "time"])


def slope_of_transition(tables: Tables, kind: str) -> list[float]:
    """By how much ``beta t2`` grows with ``log(gamma)``, by least squares, for each seed."""
    changes = transitions(tables["rescaled_factors"])
    parts = [part for _, part in changes[changes["kind"] == kind].groupby("seed")]
    return [_slope(np.log(part["gamma"].where(part["gamma"] > 0)), part["time"]) for part in parts]


def exponent_of_weight(tables: Tables) -> list[float]:
    """The exponent of beta in t2 where the first factor begins the same, for each seed."""
    changes = transitions(tables["rescaled_factors"])
    same = changes.loc[changes["kind"] == "weight", "gamma"].unique()
    used = changes[(changes["kind"] != "orbit") & changes["gamma"].isin(same)]
    parts = [part for _, part in used.groupby("seed")]
    return [statistics.slope(own["beta"], own["time"] / own["beta"]) for own in parts]


def distance_before_transition(tables: Tables, share: float) -> list[float]:
    """From the largest start the distance to the least l2 norm at a share of t2, for each seed."""
    rows, largest = _largest(tables)
    times = transitions(tables["rescaled_factors"]).set_index(["kind", "gamma", "seed"])["time"]
    distances = []
    for seed, part in rows.groupby("seed"):
        time = share * times["scaled", largest, seed]
        known = np.isfinite(time)
        near = np.interp(time, part["slow_time"], part["distance_l2"]) if known else np.nan
        distances.append(float(near))
    return distances


def distance_at_end(tables: Tables) -> list[float]:
    """From the largest start the distance to the least l1 norm at the end, for each seed."""
    rows, _ = _largest(tables)
    return statistics.last(rows, "distance_l1")


def distance_from_hypentropy(tables: Tables) -> list[float]:
    """The largest distance from the predicted path, over starts and fitted steps, for each seed.

    Of starts that are scaled and of those on the orbit.
    """
    rows = path(tables["rescaled_factors"])
    rows = rows[rows["kind"] != "weight"]
    worst = rows.groupby("seed")["distance"].agg(lambda values: values.max(skipna=False))
    return [float(value) for value in worst]


def spread_on_orbit(tables: Tables) -> list[float]:
    """The relative range of the test error before training along the orbit, by seed."""
    first_rows = starts(tables["rescaled_factors"])
    errors = first_rows[first_rows["kind"] == "orbit"].groupby("seed")["test_error"]
    return [float(value) for value in errors.max() / errors.min() - 1]


def final_norm_over_least(tables: Tables) -> list[float]:
    """The final squared norm over the least one of the same function, the largest of all starts.

    The least is ``2 |a|_1``, where both factors of every entry have one size. For each seed.
    """
    table = tables["rescaled_factors"]
    rows = statistics.history(table)
    rows = rows[rows["step"] == rows.groupby("case")["step"].transform("max")]
    names = [name for name in rows if name.startswith(FACTORS)]
    values = rows[names].to_numpy(dtype=float)
    half = len(names) // 2
    least = 2 * np.abs(values[:, :half] * values[:, half:]).sum(axis=1)
    quotients = (rows["l2_norm"] ** 2 / least).groupby(rows["seed"]).max()
    return [float(value) for value in quotients]


def _largest(tables: Tables) -> tuple[pd.DataFrame, float]:
    rows = path(tables["rescaled_factors"])
    rows = rows[rows["kind"] == "scaled"]
    largest = rows["gamma"].max()
    return rows[rows["gamma"] == largest], largest


def _slope(x: pd.Series, y: pd.Series) -> float:
    """By least squares; not a number with fewer than two known points."""
    known = np.isfinite(x) & np.isfinite(y)
    if x[known].nunique() < 2:
        return float("nan")
    return float(np.polyfit(x[known], y[known], 1)[0])
