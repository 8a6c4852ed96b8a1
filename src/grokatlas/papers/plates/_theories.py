"""When training and its theories generalise, in slow time (plate 5)."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables

TABLE = "addition_theories"
LEVEL = 0.9  # of test accuracy
THEORIES = ("zero_loss", "ridge", "joint")  # equation 21, equations 16 to 18, both layers
REGIMES = ("equal", "slow")  # step sizes of training: equal, or a slower first layer
DECAY, FACTOR = "penalties.0.weight", "gradients.0.factor"
OWN = {"ridge": ["weight_decay"], "joint": ["ratio"]}  # what a theory shares with training
KEYS = ["kind", "weight_decay", "ratio", "seed"]


def timed(table: pd.DataFrame) -> pd.DataFrame:
    """The history with ``kind``, ``weight_decay``, ``ratio`` and ``slow_time``.

    ``kind`` is one of `THEORIES` or `REGIMES`; ``weight_decay`` is 0 for theories of its limit;
    ``ratio`` is the second layer's step size over the first one's, infinite where the second is
    optimal. Slow time is 2 lambda times the first layer's step size and the number of updates.
    """
    rows = statistics.history(table)
    for column in (DECAY, FACTOR, "dynamics.weight_decay", "dynamics.ratio"):
        if column not in rows:
            rows = rows.assign(**{column: np.nan})
    kind = rows["case"].str.replace(r"_\d+$", "", regex=True)
    trained = kind.isin(REGIMES)
    decay = rows[DECAY].where(trained, rows["dynamics.weight_decay"].where(kind == "ridge", 0.0))
    factor = rows[FACTOR].fillna(1.0)
    ratio = (1 / factor).where(trained, rows["dynamics.ratio"].where(kind == "joint", np.inf))
    rate = (2 * decay * factor * rows["optimizer.lr"]).where(trained, rows["dynamics.rate"])
    rows = rows.assign(kind=kind, weight_decay=decay, ratio=ratio)
    return rows.assign(slow_time=rate * rows["step"])


def times(table: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """The first slow time with a test accuracy of `level`, by ``kind`` and the rest of `KEYS`.

    ``time`` is infinite where it never comes; ``length`` is the slow time of the whole run. Members
    that diverged have none.
    """
    rows = timed(table)
    rows = rows.assign(time=rows["slow_time"].where(rows["test_accuracy"] >= level, np.inf))
    slow_times = rows.groupby(KEYS).agg(
        time=("time", "min"),
        length=("slow_time", "max"),
        end=("test_accuracy", lambda values: values.iloc[-1]),
    )
    return slow_times[slow_times["end"].notna()].drop(columns="end").reset_index()


def compared(table: pd.DataFrame) -> pd.DataFrame:
    """Each theory's time over that of training with the same seed, a row for each of both.

    Equations 16 to 18 are at the weight decay of the training, the flow of both layers at its
    rates. ``quotient`` is 0 where training never comes to the level although it goes on beyond the
    predicted time, infinite where the theory never does, and not a number where neither does.
    """
    slow_times = times(table)
    training = slow_times[slow_times["kind"].isin(REGIMES)]
    pairs = []
    for theory in THEORIES:
        keys = ["seed", *OWN.get(theory, ())]
        one = slow_times.loc[slow_times["kind"] == theory, [*keys, "time", "length"]]
        both = training.merge(one, on=keys, suffixes=("", "_predicted"))
        pairs.append(both.assign(theory=theory))
    rows = pd.concat(pairs, ignore_index=True)
    names = {"kind": "regime", "time": "measured", "time_predicted": "predicted"}
    rows = rows.rename(columns=names)
    known = (rows["predicted"] < rows["length"]) | np.isfinite(rows["measured"])
    known &= (rows["measured"] < rows["length_predicted"]) | np.isfinite(rows["predicted"])
    quotient = (rows["predicted"] / rows["measured"]).where(known & (rows["measured"] > 0))
    columns = ["regime", "weight_decay", "seed", "theory", "predicted", "measured", "quotient"]
    return rows.assign(quotient=quotient)[columns]


def predicted_over_measured(
    tables: Tables, theory: str, regime: str, weight_decay: float
) -> list[float]:
    """The slow time to a test accuracy of 0.9, predicted over measured, for each seed."""
    return [float(value) for value in _quotients(tables, theory, regime, weight_decay)]


def error_beside(
    tables: Tables, theory: str, other: str, regime: str, weight_decay: float
) -> list[float]:
    """``|log quotient|`` of a theory less that of another one, for each seed; arguments as above.

    Not a number where both are wrong by an infinite factor.
    """
    errors = []
    for name in (theory, other):
        with np.errstate(divide="ignore"):
            errors.append(np.log(_quotients(tables, name, regime, weight_decay)).abs())
    with np.errstate(invalid="ignore"):
        return [float(value) for value in errors[0] - errors[1]]


def _quotients(tables: Tables, theory: str, regime: str, weight_decay: float) -> pd.Series:
    rows = compared(tables[TABLE])
    chosen = (rows["theory"] == theory) & (rows["regime"] == regime)
    rows = rows[chosen & np.isclose(rows["weight_decay"], weight_decay, rtol=1e-6)]
    return rows.set_index("seed")["quotient"].sort_index()
