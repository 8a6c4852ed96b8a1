"""Plate 4 beyond its limits: falls of the test error by the start, 400 unknowns, and noise."""

import numpy as np
import pandas as pd

from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates._recovery import FALL, KEY

# experiments of 100 and of 400 unknowns at full scale
SIZES = ("recovery_l1", "recovery_wide")


def falls(table: pd.DataFrame) -> pd.DataFrame:
    """One row for each member of `mirage_starts` that memorises: how far its test error falls.

    ``norm`` is that of the initial weights ``w_0``, ``entry`` one of their equal entries, ``fall``
    the test error at memorisation over the last one, and ``law`` the square root of
    ``1 + |w_0|^2``.
    """
    times = table[table["record"] == "recovery_times"].dropna(subset=["t1"])
    history = table[table["record"] == "history"].merge(
        times[[*KEY, "t1"]].rename(columns={"t1": "since"}), on=KEY
    )
    plateau = history[history["step"] == history["since"]].set_index(KEY)["test_error"]
    ends = history.sort_values("step").groupby(KEY)["test_error"].last()
    rows = times.set_index(KEY)
    entry = rows["model.init"]
    norm = entry * np.sqrt(rows["task.rows"] * rows["task.columns"])
    return pd.DataFrame(
        {
            "case": rows["case"],
            "truth": rows["task.truth"],
            "seed": rows["seed"],
            "entry": entry,
            "norm": norm,
            "fall": plateau / ends,
            "law": np.sqrt(1 + norm**2),
        }
    ).reset_index(drop=True)


def fall_over_law(tables: Tables, case: str, law: str, truth: str) -> list[float]:
    """The fall of the test error over its law, the median of long starts, for each instance.

    Args:
        tables: of the figure.
        case: ``l2`` or ``l1``, the regulariser.
        law: ``norm``, the square root of ``1 + |w_0|^2``; ``entry``, with one entry in its place.
        truth: its kind, or ``all``.
    """
    rows = falls(tables["mirage_starts"])
    rows = rows[(rows["case"] == case) & (rows["norm"] > 2)]
    if truth != "all":
        rows = rows[rows["truth"] == truth]
    size = rows["law"] if law == "norm" else np.sqrt(1 + rows["entry"] ** 2)
    quotients = (rows["fall"] / size).groupby(rows["seed"]).median()
    return [float(value) for value in quotients]


def share_fallen(tables: Tables, case: str, start: float) -> list[float]:
    """The share of runs of one regulariser and start whose test error falls by ten times."""
    rows = falls(tables["mirage_starts"])
    rows = rows[(rows["case"] == case) & np.isclose(rows["entry"], start)]
    return [float((rows["fall"] >= FALL).mean())]


def recoveries(table: pd.DataFrame) -> pd.DataFrame:
    """One row for each member of an experiment under l1 that did not diverge.

    ``samples`` measurements, their ``share`` of the unknowns, ``recovered`` or not, and ``convex``,
    whether the minimiser of the norm is the truth.
    """
    theory = table[table["record"] == "convex_recovery"].dropna(subset=["samples"])
    times = table[table["record"] == "recovery_times"].set_index(KEY)["t2"]
    rows = theory.drop(columns="t2", errors="ignore").join(times, on=KEY)
    return pd.DataFrame(
        {
            "truth": rows["task.truth"],
            "start": rows["model.init"],
            "samples": rows["samples"],
            "unknowns": rows["task.rows"] * rows["task.columns"],
            "share": rows["samples"] / (rows["task.rows"] * rows["task.columns"]),
            "recovered": rows["t2"].notna(),
            "convex": rows["minimiser_error"] < rows["train.stop.test_error.below"],
        }
    ).reset_index(drop=True)


def share_recovered_wide(tables: Tables, truth: str, fewest: int, most: int) -> list[float]:
    """The share of runs with 400 unknowns that recover a truth; arguments as `claims.share`."""
    rows = recoveries(tables["recovery_wide"])
    rows = rows[(rows["truth"] == truth) & rows["samples"].between(fewest, most)]
    return [float(rows["recovered"].mean())]


def ends(table: pd.DataFrame) -> pd.DataFrame:
    """One row for each member of `recovery_noise`: where its test error ends.

    ``case`` is ``sparse`` or ``dense``, ``noise`` the size of the noise over that expected of what
    is measured, ``end`` the last relative test error, and ``fall`` that at memorisation over it.
    """
    times = table[table["record"] == "recovery_times"][[*KEY, "t1"]]
    history = table[table["record"] == "history"].merge(
        times.rename(columns={"t1": "since"}), on=KEY
    )
    rows = history.sort_values("step").drop_duplicates(KEY, keep="last").set_index(KEY)
    plateau = history[history["step"] == history["since"]].set_index(KEY)["test_error"]
    noise = rows["task.signal_to_noise"].astype(float) ** -0.5
    return pd.DataFrame(
        {
            "case": rows["case"],
            "start": (rows["model.init"] > 1).map({True: "large", False: "small"}),
            "samples": rows["task.train_points"],
            "noise": noise.fillna(0.0),
            "seed": rows["seed"],
            "end": rows["test_error"],
            "fall": plateau / rows["test_error"],
        }
    ).reset_index(drop=True)


def end_over_noise(tables: Tables, case: str, signal_to_noise: float) -> list[float]:
    """The last test error over the noise, the median of all numbers of measurements and starts.

    Args:
        tables: of the figure.
        case: ``sparse`` or ``dense``, the truth.
        signal_to_noise: of the measurements; the noise is its root, inverted.
    """
    ends_ = _in_noise(tables, case, signal_to_noise).groupby("seed")["end"].median()
    return [float(end * signal_to_noise**0.5) for end in ends_]


def ends_apart(tables: Tables, signal_to_noise: float) -> list[float]:
    """The last test error of the dense truth over that of the sparse one, by instance."""
    dense, sparse = (
        _in_noise(tables, case, signal_to_noise).groupby("seed")["end"].median()
        for case in ("dense", "sparse")
    )
    return [float(quotient) for quotient in dense / sparse]


def share_fallen_in_noise(
    tables: Tables, case: str, start: str, signal_to_noise: float
) -> list[float]:
    """The share of runs of one truth and start whose test error falls by ten times."""
    rows = _in_noise(tables, case, signal_to_noise)
    return [float((rows.loc[rows["start"] == start, "fall"] >= FALL).mean())]


def _in_noise(tables: Tables, case: str, signal_to_noise: float) -> pd.DataFrame:
    rows = ends(tables["recovery_noise"])
    return rows[(rows["case"] == case) & np.isclose(rows["noise"], signal_to_noise**-0.5)]
