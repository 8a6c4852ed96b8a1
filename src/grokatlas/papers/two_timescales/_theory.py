"""The paper's propositions as numbers, for figure `theory` and its claims."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables
from grokatlas.papers.two_timescales import _quantities

# time until which the two flows are compared: where the fast phase is over (t2 in figures 3, 4)
HORIZONS = {"matrix_completion": 10.0, "two_layer_relu": 1.0, "diagonal_network": 100.0}
RESOLVED = 0.5  # of a run: a later junction is as far from its start as from the estimated limit
FITTED = 1e-3  # a training loss that counts as fitted
VARIANCE = "model.init_variance"


def _pairs(history: pd.DataFrame) -> list[tuple[float, float, pd.DataFrame, pd.DataFrame]]:
    """Lambda, seed, and the rows over time with weight decay and without, for every lambda."""
    rows = history[history["case"] == "fast"].sort_values("step")
    rows = rows.assign(time=rows["step"] * rows["optimizer.lr"])
    free = dict(iter(rows[rows[_quantities.DECAY] == 0].groupby("seed")))
    decayed = rows[rows[_quantities.DECAY] > 0].groupby([_quantities.DECAY, "seed"])
    return [(2 * w, seed, part, free[seed]) for (w, seed), part in decayed if seed in free]


def _weights(rows: pd.DataFrame) -> np.ndarray:
    return rows[[name for name in rows if name.startswith("parameters.")]].to_numpy()


def departures(history: pd.DataFrame, horizon: float) -> pd.DataFrame:
    """``sup |w_lambda(t) - w_GF(t)| / |w(0)|`` over times up to a horizon (proposition 1).

    Args:
        history: rows of case ``fast``, with the parameters.
        horizon: T.

    Returns:
        ``lambda``, ``seed`` and ``departure``.
    """
    records = []
    for decay, seed, decayed, free in _pairs(history):
        both = decayed.merge(free[["step"]], on="step")["step"]
        one, other = (_weights(rows[rows["step"].isin(both)]) for rows in (decayed, free))
        apart = np.linalg.norm(one - other, axis=1) / np.linalg.norm(other[0])
        early = decayed[decayed["step"].isin(both)]["time"].to_numpy() <= horizon * (1 + 1e-9)
        records.append({"lambda": decay, "seed": seed, "departure": apart[early].max()})
    return pd.DataFrame(records, columns=["lambda", "seed", "departure"])


def junctions(history: pd.DataFrame) -> pd.DataFrame:
    """The time at which ``w_lambda`` is nearest to the limit of the flow without decay (lemma 2).

    That limit is taken to be the last point of the run without weight decay. Where a junction is
    later than `RESOLVED` of the run, it is not told from that point, and is not a number.

    Returns:
        ``lambda``, ``seed``, ``junction`` and the relative ``distance`` then.
    """
    records = []
    for decay, seed, decayed, free in _pairs(history):
        limit = _weights(free)[-1]
        apart = np.linalg.norm(_weights(decayed) - limit, axis=1) / np.linalg.norm(limit)
        if not np.isfinite(apart).all():
            continue
        time, nearest = decayed["time"].to_numpy(), int(apart.argmin())
        when = time[nearest] if time[nearest] <= RESOLVED * time[-1] else np.nan
        row = {"lambda": decay, "seed": seed, "junction": when, "distance": apart[nearest]}
        records.append(row)
    return pd.DataFrame(records, columns=["lambda", "seed", "junction", "distance"])


def residuals(table: pd.DataFrame) -> pd.DataFrame:
    """Both residuals of stationarity in the slow cases (propositions 3 and 4).

    Returns:
        ``lambda``, ``seed``, the slow time ``tau``, ``tangential_share`` and ``constraint``.
    """
    names = ["lambda", "seed", "tau", "tangential_share", "constraint"]
    rows = table[table["record"] == "kkt_residual"].copy()
    if rows.empty:
        return pd.DataFrame(columns=names, dtype="float64")
    rows["lambda"] = 2 * rows[_quantities.DECAY]
    rows["tau"] = rows["lambda"] * rows["step"] * rows["optimizer.lr"]
    return rows[names].sort_values(["lambda", "seed", "tau"], ignore_index=True)


def control(table: pd.DataFrame) -> pd.DataFrame:
    """History over time with ``regularised``."""
    rows = _quantities.over_time(table[table["record"] == "history"])
    return rows.assign(regularised=rows[_quantities.DECAY] > 0)


def initialisations(table: pd.DataFrame) -> pd.DataFrame:
    """Of runs without weight decay, by ``variance`` and ``seed``: ``fitted`` and ``test_loss``.

    ``fitted`` is the first time with a training loss of at most `FITTED`, infinite for never;
    ``test_loss`` is that at the end.
    """
    rows = _quantities.over_time(table[table["record"] == "history"])
    records = []
    for (variance, seed), part in rows.groupby([VARIANCE, "seed"]):
        fitted = part["time"].where(part["train_loss"] <= FITTED, np.inf).min()
        end = part["test_loss"].iloc[-1]
        records.append({"variance": variance, "seed": seed, "fitted": fitted, "test_loss": end})
    return pd.DataFrame(records, columns=["variance", "seed", "fitted", "test_loss"])


def slope_of_departure(tables: Tables, problem: str, until: str) -> list[float]:
    """The exponent of lambda in the largest distance to the flow without decay, by seed.

    Args:
        tables: of figure `theory`.
        problem: what the name of the experiment ends with.
        until: ``fast phase``, or ``end`` of the runs, where slow times differ.
    """
    history = statistics.history(tables[f"theory_{problem}"])
    largest = departures(history, HORIZONS[problem] if until == "fast phase" else np.inf)
    return [statistics.slope(p["lambda"], p["departure"]) for _, p in largest.groupby("seed")]


def line_of_junctions(tables: Tables, problem: str, power: float) -> list[float]:
    """Pearson's correlation of the junction time with a power of 1 / lambda, for each seed.

    The power 0 is the logarithm.
    """
    points = junctions(statistics.history(tables[f"theory_{problem}"])).dropna()
    parts = [part for _, part in points.groupby("seed")]
    lines = [part["lambda"] ** -power if power else -np.log(part["lambda"]) for part in parts]
    return [float(line.corr(part["junction"])) for line, part in zip(lines, parts, strict=True)]


def fall_of_tangential_share(tables: Tables, problem: str, tau: float) -> list[float]:
    """At the least lambda ``|P_T w| / |w|`` at a slow time over that at first, for each seed.

    At the last snapshot that is not after the slow time.
    """
    rows = residuals(tables[f"theory_{problem}"])
    early = rows[(rows["lambda"] == rows["lambda"].min()) & (rows["tau"] <= tau * 1.001)]
    shares = [part["tangential_share"] for _, part in early.groupby("seed")]
    return [float(part.iloc[-1] / part.iloc[0]) for part in shares]


def slope_of_constraint(tables: Tables, problem: str, column: str, largest: float) -> list[float]:
    """The exponent of lambda, up to a largest one, in a column of `residuals` at the end, by seed.

    Not a number with fewer than two values of lambda.
    """
    rows = residuals(tables[f"theory_{problem}"])
    rows = rows[rows["lambda"] <= largest * (1 + 1e-9)]
    ends = rows.groupby(["seed", "lambda"], as_index=False).last()
    return [statistics.slope(p["lambda"], p[column]) for _, p in ends.groupby("seed")]


def change_of_control(tables: Tables, experiment: str, time: float) -> list[float]:
    """Without weight decay the test loss at the end over that at a time, for each seed."""
    rows = control(tables[experiment])
    free = rows[~rows["regularised"]]
    early = statistics.last(free[free["time"] <= time * (1 + 1e-9)], "test_loss")
    late = statistics.last(free, "test_loss")
    if len(early) != len(late):  # not the same seeds
        return [np.nan]
    return [after / before for before, after in zip(early, late, strict=True)]


def share_of_seeds_below(
    tables: Tables, experiment: str, column: str, time: float, level: float, draws: int
) -> list[float]:
    """The share of seeds whose column is below a level at a time: one number.

    Not a number with fewer seeds than `draws`.
    """
    rows = _quantities.over_time(statistics.history(tables[experiment]))
    values = statistics.last(rows[rows["time"] <= time * (1 + 1e-9)], column)
    if not values:
        return []
    return [float(np.mean([value < level for value in values])) if len(values) >= draws else np.nan]


def order_of_initialisations(tables: Tables, column: str) -> list[float]:
    """Spearman's correlation of the variance of the initialisation and a column, for each seed.

    Args:
        tables: of figure `theory`.
        column: of `initialisations`: ``fitted`` or ``test_loss``.
    """
    ends = initialisations(tables["small_initialisation"])
    return [statistics.order(part["variance"], part[column]) for _, part in ends.groupby("seed")]


def loss_from_initialisation(tables: Tables, variance: float) -> list[float]:
    """The test loss at the end from initialisations of a variance, for each seed."""
    ends = initialisations(tables["small_initialisation"])
    return [float(value) for value in ends.loc[ends["variance"] == variance, "test_loss"]]
