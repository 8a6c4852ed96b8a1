"""Plate 3: when measures move between memorisation and generalisation, and how they are ordered."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables

SHARES = (0.1, 0.5, 0.9)  # of a measure's way
END = 2.0  # the way ends at so many times t2, or with the run
LAST = 3  # logged updates whose mean is the end of a way
MOVES = 0.02  # a measure that changes by less of its value has no way
MARGIN = 0.05  # by which a correlation is larger than that of the clock
FEWEST = 5  # logged updates of a correlation
GENERALISATION, CLOCK = "generalisation", "update"


class Measure(NamedTuple):
    """A row of the figure: its name, its columns, of which a run has one, and its scale."""

    name: str
    columns: tuple[str, ...]
    logarithmic: bool = False


MEASURES = {
    "test_loss": Measure("test loss", ("test_loss",), True),
    "train_loss": Measure("training loss", ("train_loss", "train_error"), True),
    "gradient_ratio": Measure("gradient ratio", ("gradient_ratio",), True),
    "l1_norm": Measure("l1 norm", ("l1_norm",)),
    "l2_norm": Measure("l2 norm", ("l2_norm",)),
    "nuclear_norm": Measure("nuclear norm", ("nuclear_norm",)),
    "effective_rank": Measure("effective rank", ("effective_rank",)),
    "gini_embedding": Measure("Fourier Gini, embedding", ("fourier_gini_embedding",)),
    "gini_logits": Measure("Fourier Gini, logits", ("fourier_gini_logits",)),
    "centroid": Measure("centroid alignment", ("centroid_alignment_mean",)),
    "jacobian_norm": Measure("Jacobian norm", ("jacobian_norm",)),
    "jacobian_pc1": Measure("Jacobian PC1", ("jacobian_pc1",)),
}
OF_TEST_SET = ("test_loss",)  # no progress measures: they see what is to be told

RUNS = {  # run -> its table, and its case in it (None: the only one)
    "addition": ("progress_addition", None),
    "transformer": ("progress_transformer", None),
    "weight_decay": ("progress_images", "weight_decay"),
    "grokalign": ("progress_images", "grokalign"),
    "sparse": ("sparse_recovery", None),
}


def windows(tables: Tables) -> pd.DataFrame:
    """The logged rows from memorisation to the end, twice t2 or the end of the run.

    `GENERALISATION` is test accuracy, in sparse recovery one minus the relative test error; of
    losses and ratios among `MEASURES` it is the logarithm. Seeds that do not generalise have no
    rows.
    """
    parts = [_window(tables[table], run, case) for run, (table, case) in RUNS.items()
             if table in tables]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def _window(table: pd.DataFrame, run: str, case: str | None) -> pd.DataFrame:
    chosen = {} if case is None else {"case": case}
    measured = "grokking_times" if "test_accuracy" in table else "recovery_times"
    known = statistics.record(table, measured, **chosen)[["seed", "t1", "t2"]]
    rows = statistics.history(table, **chosen).drop(columns=["t1", "t2"], errors="ignore")
    rows = rows.merge(known, on="seed")
    rows = rows[(rows["t1"] < rows["t2"]) & (rows["step"] >= rows["t1"])]
    rows = rows[rows["step"] <= END * rows["t2"]].sort_values(["seed", "step"])
    general = rows["test_accuracy"] if "test_accuracy" in rows else 1 - rows["test_error"]
    made = rows[["seed", "step", "t1", "t2"]].assign(run=run, **{GENERALISATION: general})
    for name, measure in MEASURES.items():
        own = [rows[column] for column in measure.columns if column in rows]
        value = own[0] if own else pd.Series(np.nan, index=rows.index)
        made[name] = np.log(value.where(value > 0)) if measure.logarithmic else value
    return made.astype(dict.fromkeys(MEASURES, float))


def moves(seen: pd.DataFrame) -> pd.DataFrame:
    """The step at which each measure has gone each share of its way for good, between logs.

    ``begins`` is the step of a tenth of the way of generalisation; a measure goes ``astray`` if its
    range is more than twice its way. One without a way has no rows.
    """
    passages = []
    for (run, seed), part in seen.groupby(["run", "seed"], sort=False):
        begins = _reached(part, GENERALISATION, SHARES[0])
        for measure in (GENERALISATION, *MEASURES):
            way = _way(part, measure)
            if not np.isfinite(way) or way == 0:
                continue
            astray = part[measure].max() - part[measure].min() > 2 * abs(way)
            keys = {"run": run, "seed": seed, "measure": measure, "t2": part["t2"].iloc[0]}
            keys |= {"begins": begins, "astray": astray}
            passages += [keys | {"share": s, "step": _reached(part, measure, s)} for s in SHARES]
    columns = ["run", "seed", "measure", "share", "step", "t2", "begins", "astray"]
    return pd.DataFrame(passages, columns=columns)


def _way(part: pd.DataFrame, measure: str) -> float:
    """From the first row to the mean of the last ones; not a number if it is hardly any."""
    values = part[measure].to_numpy(float)
    start, end = values[0], values[-LAST:].mean()
    logarithmic = measure in MEASURES and MEASURES[measure].logarithmic
    least = MOVES if logarithmic else MOVES * max(abs(start), abs(end))
    return float(end - start) if abs(end - start) >= least else float("nan")


def _reached(part: pd.DataFrame, measure: str, share: float) -> float:
    """The step from which on a measure has gone at least a share of its way."""
    steps, values = part["step"].to_numpy(float), part[measure].to_numpy(float)
    gone = (values - values[0]) / _way(part, measure)
    short = np.flatnonzero(~(gone >= share))
    if not len(short) or short[-1] == len(gone) - 1:
        return float("nan")
    last = short[-1]
    return float(np.interp(share, gone[last : last + 2], steps[last : last + 2]))


def orders(seen: pd.DataFrame) -> pd.DataFrame:
    """Spearman's correlation of each measure, and of `CLOCK`, with generalisation over the plateau.

    The plateau is from memorisation to a tenth of the way of generalisation. Measures that a run
    does not log or that are constant have no rows.
    """
    columns = ["run", "seed", "measure", "correlation"]
    return pd.DataFrame(_orders(seen), columns=columns).dropna(ignore_index=True)


def _orders(seen: pd.DataFrame) -> Iterator[tuple[str, int, str, float]]:
    for (run, seed), part in seen.groupby(["run", "seed"], sort=False):
        plateau = part[part["step"] <= _reached(part, GENERALISATION, SHARES[0])]
        plateau = plateau.rename(columns={"step": CLOCK})
        if len(plateau) < FEWEST or plateau[GENERALISATION].nunique() < 2:
            continue
        ranks = plateau[[GENERALISATION, CLOCK, *MEASURES]].rank()
        for measure in (CLOCK, *MEASURES):
            known = plateau[measure].notna()
            if known.sum() >= FEWEST and plateau.loc[known, measure].nunique() > 1:
                yield run, seed, measure, ranks[measure].corr(ranks[GENERALISATION])


def time_of_move(tables: Tables, run: str, measure: str, share: float) -> list[float]:
    """The step of a share of a measure over that of a tenth of generalisation, by seed."""
    table, _ = RUNS[run]
    passages = moves(windows({table: tables[table]}))
    own = passages[
        (passages["run"] == run) & (passages["measure"] == measure) & (passages["share"] == share)
    ]
    return [float(quotient) for quotient in own["step"] / own["begins"]]


def share_beyond_clock(tables: Tables) -> list[float]:
    """The share of measures that tell more than the number of the update does.

    That is, whose correlation, a median over seeds, exceeds its own in size by more than `MARGIN`.
    A measure counts once for each run that has it, if it does not see the test set. A run in which
    nothing can exceed the clock by that much is left out.
    """
    correlations = orders(windows(tables))
    middle = correlations.groupby(["run", "measure"])["correlation"].median().abs().unstack()
    middle = middle[middle[CLOCK] + MARGIN < 1] if CLOCK in middle else middle[:0]
    own = middle.drop(columns=[CLOCK, *OF_TEST_SET], errors="ignore")
    if own.empty:
        return [float("nan")]
    beyond = own.sub(middle[CLOCK], axis=0) > MARGIN
    return [float(beyond.to_numpy().sum() / own.notna().to_numpy().sum())]
