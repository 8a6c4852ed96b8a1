"""Plate 8: an intervention on the memory of Adam's denominator, and decoupled weight decay."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates._adam_memory import BETA2

CONTROL = "large_step"  # the case of `adam_memory` that has the settings of plate 8
TRANSFORMER = "adam_transformer"  # the experiment that tries the law on another network
SEEDS = "adam_seeds"  # further seeds of others: of each, the cases there
FURTHER = {
    "adam_memory": ["memory", "late"],
    "adam_switched": ["shortened", "lengthened", "emptied"],
    "adam_decoupled": ["decoupled"],
}


def times(tables: Tables, experiment: str, case: str | None = None) -> pd.DataFrame:
    """The times t1 and t2 of each member, of a case, infinite for never.

    Of `adam_memory` its control, whose longest memory has the times of `adam_late`, which trains
    until it generalises. Seeds of `SEEDS` come last.
    """
    control = experiment == "adam_memory"
    chosen = {"case": CONTROL if control else case} if control or case else {}
    rows = statistics.record(tables[experiment], "grokking_times", **chosen)
    if control and "adam_late" in tables:
        late = statistics.record(tables["adam_late"], "grokking_times")
        rows = pd.concat([late, rows]).drop_duplicates([BETA2, "seed"])
    rows = pd.concat([rows, *_further(tables, "grokking_times", experiment)], ignore_index=True)
    return rows.fillna({"t1": np.inf, "t2": np.inf})


def _further(tables: Tables, name: str, experiment: str) -> list[pd.DataFrame]:
    """A record of the further seeds of an experiment, where they are."""
    if SEEDS not in tables or experiment not in FURTHER:
        return []
    rows = statistics.record(tables[SEEDS], name)
    return [rows[rows["case"].isin(FURTHER[experiment])]]


def ratio_to_control(tables: Tables, case: str, beta2: float) -> list[float]:
    """The t2 of a switched run over that of the control at one beta2, for each seed."""
    rows, control = times(tables, "adam_switched"), times(tables, "adam_memory")
    return _ratios(rows[rows["case"] == case], control[control[BETA2] == beta2])


def ratio_in_batches(tables: Tables, case: str, beta2: float, control: float) -> list[float]:
    """The t2 in mini-batches at one beta2 over that with full batches at another, by seed.

    Args:
        tables: of plate 8.
        case: of `adam_batches`, a size.
        beta2: of the runs in mini-batches.
        control: the beta2 of those with full batches.
    """
    rows, full = times(tables, "adam_batches", case), times(tables, "adam_memory")
    return _ratios(rows[rows[BETA2] == beta2], full[full[BETA2] == control])


LEARNT, JUMP = 1e-4, 1e-3  # training losses: below, the data are memorised; above, they are not


def small_batches(tables: Tables) -> pd.DataFrame:
    """The histories in batches of 256, of all memories."""
    parts = [statistics.history(tables["adam_batches"], case="small")]
    parts += [statistics.history(tables["adam_jumps"])] if "adam_jumps" in tables else []
    return pd.concat(parts, ignore_index=True)


def periods(tables: Tables) -> pd.DataFrame:
    """The updates from one jump of the training loss to the next in batches of 256.

    A jump is a logged step at which the loss is above `JUMP`, the first since it was below
    `LEARNT`. Columns ``optimizer.beta2``, ``seed`` and ``period``, the median, not a number of
    fewer than two jumps.
    """
    made = []
    for (beta2, seed), rows in small_batches(tables).groupby([BETA2, "seed"]):
        steps: list[float] = []
        learnt = False
        for step, loss in zip(rows["step"], rows["train_loss"], strict=True):
            if learnt and loss > JUMP:
                steps.append(float(step))
            learnt = (learnt and loss <= JUMP) or loss < LEARNT
        period = float(np.median(np.diff(steps))) if len(steps) > 1 else np.nan
        made.append({BETA2: beta2, "seed": seed, "period": period})
    return pd.DataFrame(made)


def ratio_of_periods(tables: Tables, beta2: float, control: float) -> list[float]:
    """The period of jumps at one beta2 over that at another, for each seed; see `periods`."""
    by_seed = periods(tables).pivot(index="seed", columns=BETA2, values="period")
    by_seed = by_seed.reindex(columns=[*{beta2, control}])  # a memory that was not run is missing
    return [float(value) for value in by_seed[beta2] / by_seed[control]]


def denominator_left(tables: Tables, case: str, step: int, control: int) -> list[float]:
    """The root of Adam's second moment at one update of `adam_batch_noise` over that at another.

    The root is a median over all weights, for each seed.

    Args:
        tables: of plate 8.
        case: a size of batches.
        step: the update, a logged one.
        control: the earlier one.
    """
    rows = statistics.history(tables["adam_batch_noise"], case=case)
    by_seed = rows.pivot(index="seed", columns="step", values="adam_denominator")
    by_seed = by_seed.reindex(columns=[step, control])  # an update that was not logged is missing
    return [float(value) for value in by_seed[step] / by_seed[control]]


def ratio_under_decay(tables: Tables, runs: str, slow: float, fast: float) -> list[float]:
    """The t2 of an experiment's runs at one beta2 over that at another, for each seed."""
    rows = times(tables, runs)
    return _ratios(rows[rows[BETA2] == slow], rows[rows[BETA2] == fast])


def ratio_on_transformer(tables: Tables, case: str, slow: float, fast: float) -> list[float]:
    """The t2 of a case of `TRANSFORMER` at one beta2 over that at another, for each seed."""
    rows = times(tables, TRANSFORMER, case)
    return _ratios(rows[rows[BETA2] == slow], rows[rows[BETA2] == fast])


FAST = 0.9  # the beta2 from whose t2 the law starts


def remembered(tables: Tables, factor: float, experiment: str) -> pd.DataFrame:
    """The gradients that the denominator of each member remembers after memorisation.

    Columns ``optimizer.beta2``, ``seed``, ``since``, an update, ``slow``, the updates
    `factor` / (1 - beta2) in which the root of the denominator falls by a factor e if `factor` is
    2, and ``ratio``, g / eps, of the gradients g that it remembers at that update and of what it
    has to fall to, eps, which is above the regulariser's gradient.

    Args:
        tables: of plate 8.
        factor: of the law.
        experiment: `TRANSFORMER`, where the update is the first logged one at which all training
            data are right; else `adam_memory`, whose members `adam_remembered` has, with their last
            update.
    """
    if experiment == TRANSFORMER:
        rows = statistics.history(tables[experiment], case="l2")
        right = rows[rows["train_accuracy"] == 1].sort_values("step")
        last = right.drop_duplicates([BETA2, "seed"])
    else:
        rows = statistics.history(tables["adam_remembered"])
        last = rows[rows["step"] == rows["step"].max()]
        further = [
            part[part["step"] == rows["step"].max()]
            for part in _further(tables, "history", experiment)
        ]
        last = pd.concat([last, *further], ignore_index=True)
    made = {
        "since": last["step"],
        "slow": factor / (1 - last[BETA2]),
        "ratio": last["adam_denominator"] / last["optimizer.eps"],
    }
    return last[[BETA2, "seed"]].assign(**made).reset_index(drop=True)


def predicted(tables: Tables, factor: float = 2.0, experiment: str = "adam_memory") -> pd.DataFrame:
    """The ``t2`` under the l2 norm as measured and by both forms of the law, from that at `FAST`.

    ``later``: the wait ``slow log(ratio)`` less that at `FAST`; ``predicted``: t2 at `FAST` and
    ``later``, as if no step were taken before the root is at eps. ``integrated`` counts the steps
    on the way: a step is ``1 / (ratio exp(-T / slow) + 1)`` of a full one, T updates after
    ``since``, so that the full steps which a run at `FAST` takes until t2 take
    ``slow log((ratio + 1) exp(full / slow) - ratio)`` updates.
    """
    case = "l2" if experiment == TRANSFORMER else None
    memories = remembered(tables, factor, experiment)
    rows = times(tables, experiment, case).merge(memories, on=[BETA2, "seed"])
    rows["wait"] = rows["slow"] * np.log(rows["ratio"])
    waited = (rows["t2"] - rows["since"]) / rows["slow"]
    taken = np.logaddexp(np.log(rows["ratio"]), waited) - np.log(rows["ratio"] + 1)
    rows["full"] = rows["slow"] * taken
    start = rows[rows[BETA2] == FAST].set_index("seed")[["t2", "wait", "full"]]
    rows = rows.join(start.add_suffix("_fast"), on="seed")
    later = rows["wait"] - rows["wait_fast"]
    growth = (rows["ratio"] + 1) * np.expm1(rows["full_fast"] / rows["slow"]) + 1
    return rows.assign(
        later=later,
        predicted=rows["t2_fast"] + later,
        integrated=rows["since"] + rows["slow"] * np.log(growth),
    )


def wait_over_law(tables: Tables, beta2: float, factor: float, runs: str) -> list[float]:
    """The delay of t2 at one beta2 against `FAST` over that of the law, for each seed.

    Args:
        tables: of plate 8.
        beta2: the decay of the denominator.
        factor: of the law; 1 where the denominator itself and not its root divides the step.
        runs: of `adam_memory` or of `TRANSFORMER`, with what other tables add to them.
    """
    rows = _at(tables, beta2, factor, runs)
    return [float(value) for value in (rows["t2"] - rows["t2_fast"]) / rows["later"]]


def time_over_law(tables: Tables, beta2: float, factor: float, law: str, runs: str) -> list[float]:
    """The t2 at one beta2 over that of the law, for each seed.

    Args:
        tables: of plate 8.
        beta2: as above.
        factor: as above.
        law: ``predicted`` or ``integrated``, a column of `predicted`.
        runs: as above.
    """
    rows = _at(tables, beta2, factor, runs)
    return [float(value) for value in rows["t2"] / rows[law]]


def _at(tables: Tables, beta2: float, factor: float, experiment: str) -> pd.DataFrame:
    rows = predicted(tables, factor, experiment)
    return rows[rows[BETA2] == beta2].sort_values("seed")


def _ratios(late: pd.DataFrame, early: pd.DataFrame) -> list[float]:
    """Infinite where the late one never comes; not a number where the early one does not."""
    both = pd.concat(
        [late.set_index("seed")["t2"], early.set_index("seed")["t2"].replace(np.inf, np.nan)],
        axis=1,
        join="inner",
    ).sort_index()
    return [float(above / below) for above, below in both.to_numpy()]
