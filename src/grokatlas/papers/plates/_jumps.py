"""Plate 9: jumps of the training loss, forced and suppressed, and test accuracy around them."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables

JUMPS, PRECISION = "precision_jumps", "precision_images"
PLAIN = ("baseline_float64", "baseline_float32")  # cases of `PRECISION`, the controls
RISE = 100.0  # from one logged training loss to the next: a jump
APART = 2000  # updates: a rise that comes sooner after a jump belongs to it
KEYS = ["case", "seed"]


def _both(tables: Tables, name: str) -> pd.DataFrame:
    """A record of both experiments, of the cases of plate 6 those in `PLAIN`."""
    plain = statistics.record(tables[PRECISION], name)
    plain = plain[plain["case"].isin(PLAIN)]
    return pd.concat([plain, statistics.record(tables[JUMPS], name)], ignore_index=True)


def histories(tables: Tables) -> pd.DataFrame:
    """The histories of all cases, with ``t1``, the update of memorisation."""
    rows = _both(tables, "history").drop(columns="t1")
    return rows.merge(times(tables)[[*KEYS, "t1"]], on=KEYS)


def times(tables: Tables) -> pd.DataFrame:
    """The times t1 and t2 of each case and seed, infinite for never."""
    return _both(tables, "grokking_times")[[*KEYS, "t1", "t2"]].fillna({"t1": np.inf, "t2": np.inf})


def jumps(rows: pd.DataFrame) -> pd.DataFrame:
    """The jumps of the training loss after memorisation: ``case``, ``seed``, ``step``.

    A jump is the first logged update at which the loss is more than `RISE` times that of the
    logged update before, and which is at least `APART` updates after the jump before.

    Args:
        rows: from `histories`.
    """
    made = []
    for (case, seed), part in rows[rows["step"] >= rows["t1"]].groupby(KEYS):
        part = part.sort_values("step")
        rise = part["train_loss"].abs() / part["train_loss"].abs().shift()
        last = -np.inf
        for step in part.loc[rise > RISE, "step"]:
            if step - last >= APART:
                made.append({"case": case, "seed": seed, "step": step})
                last = step
    return pd.DataFrame(made, columns=[*KEYS, "step"])


def around(rows: pd.DataFrame, since: pd.DataFrame) -> pd.DataFrame:
    """Each history with its updates and its test accuracy counted from one update of each seed.

    Args:
        rows: from `histories`, of one case.
        since: ``seed`` and ``step``, one for each seed.

    Returns:
        the rows of these seeds with ``after`` and ``gain``, the test accuracy less that at the last
        logged update before ``step``.
    """
    made = []
    for seed, step in zip(since["seed"], since["step"], strict=True):
        part = rows[rows["seed"] == seed].sort_values("step")
        before = part.loc[part["step"] < step, "test_accuracy"]
        if len(before):
            gain = part["test_accuracy"] - before.iloc[-1]
            made.append(part.assign(after=part["step"] - step, gain=gain))
    return pd.concat(made) if made else rows.iloc[:0].assign(after=[], gain=[])


def gain_beside(tables: Tables, case: str, other: str, since: float, after: float) -> list[float]:
    """The test accuracy that a case gains from one update on, less what another gains, by seed.

    Args:
        tables: of plate 9.
        case: its name.
        other: that of the other, in the same updates of the same seed.
        since: the update.
        after: updates from there on.
    """
    rows = histories(tables)
    gains = []
    for name in (case, other):
        own = rows[rows["case"] == name]
        counted = around(own, own[["seed"]].drop_duplicates().assign(step=since))
        gains.append(counted[counted["after"] <= after].groupby("seed")["gain"].last())
    return [float(gain) for gain in (gains[0] - gains[1]).dropna()]


def number_of_jumps(tables: Tables, case: str, until: float) -> list[float]:
    """The number of jumps up to an update, for each seed."""
    rows = histories(tables)
    own = rows[(rows["case"] == case) & (rows["step"] <= until)]
    counts = jumps(own)["seed"].value_counts()
    return [float(counts.get(seed, 0)) for seed in sorted(own["seed"].unique())]


def accuracy_beside_at(tables: Tables, case: str, other: str, update: float) -> list[float]:
    """The test accuracy of a case at an update less that of another, for each seed."""
    rows = histories(tables)
    both = []
    for name in (case, other):
        own = rows[rows["case"] == name].sort_values(["seed", "step"])
        both.append(statistics.by_seed(own, statistics.at(own, "test_accuracy", update)))
    return [float(value) for value in (both[0] - both[1]).dropna()]


def updates_since_jump(tables: Tables, case: str) -> list[float]:
    """The updates from the last jump to t2, for each seed; infinite without a jump before t2."""
    reached = times(tables)
    reached = reached[(reached["case"] == case) & np.isfinite(reached["t2"])]
    rows = histories(tables)
    seen = jumps(rows[rows["case"] == case]).merge(reached, on=KEYS)
    last = seen[seen["step"] <= seen["t2"]].groupby("seed")["step"].max()
    return [
        float(t2 - last.get(seed, -np.inf))
        for seed, t2 in zip(reached["seed"], reached["t2"], strict=True)
    ]


def largest_share_collapsed(tables: Tables, case: str, since: float) -> list[float]:
    """The largest share of points that are collapsed at a logged update from one on, by seed."""
    rows = histories(tables)
    own = rows[(rows["case"] == case) & (rows["step"] >= since)]
    return [float(share) for share in own.groupby("seed")["collapsed_points"].max()]
