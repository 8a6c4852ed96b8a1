"""Numbers of claims on the slow phase: when the norm falls, and what stays as it is meanwhile."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables
from grokatlas.papers.two_timescales import _quantities, _theory


def exponent_of_half_way(tables: Tables, problem: str, column: str) -> list[float]:
    """The exponent of lambda in the time at which a column is half-way to its end, by seed.

    Half-way from the first logged value to that at the slow time 10. Of the lambdas whose slow
    phase begins after the fast one: lambda times its end (`_theory.HORIZONS`) is at most 1.

    Args:
        tables: of figure `theory`.
        problem: what the name of the experiment ends with.
        column: ``squared_norm`` or one of the history.
    """
    rows = _quantities.over_time(statistics.history(tables[f"theory_{problem}"]))
    rows = rows[rows["case"].str.startswith("slow")]
    rows = rows.assign(**{"lambda": 2 * rows[_quantities.DECAY]})
    rows = rows[rows["lambda"] * _theory.HORIZONS[problem] <= 1 + 1e-9]
    numbers = []
    for _, part in rows.groupby("seed"):
        times = part.groupby("lambda").apply(_quantities.half_way, column=column)
        numbers.append(statistics.slope(times.index.to_series(), times))
    return numbers


def end_over_unregularised(tables: Tables, problem: str) -> list[float]:
    """The squared norm at the end of the slow phase over that of the unregularised flow, by seed.

    At the least lambda whose slow phase was run. The unregularised flow is taken at its end.

    Args:
        tables: of figure `theory`.
        problem: what the name of the experiment ends with.
    """
    history = statistics.history(tables[f"theory_{problem}"])
    slow = history[history["case"].str.startswith("slow")]
    slow = slow[slow[_quantities.DECAY] == slow[_quantities.DECAY].min()]
    slow = slow[slow["case"] == slow["case"].min()]  # cases of equal decay would be one
    ends = statistics.by_seed(slow, statistics.last(slow, "l2_norm")) ** 2
    free = history[(history["case"] == "fast") & (history[_quantities.DECAY] == 0)]
    last = free.sort_values("step").groupby("seed").tail(1).set_index("seed")
    names = [name for name in last if name.startswith("parameters.")]
    norms = (last[names] ** 2).sum(axis=1)
    return [float(value) for value in ends / norms.reindex(ends.index)]


def loss_in_slow_phase(tables: Tables, experiment: str, column: str, time: float) -> list[float]:
    """The largest value of a loss from a time on, over that before training, for each seed.

    Args:
        tables: of the figure.
        experiment: whose runs with weight decay count.
        column: ``train_loss`` or ``test_loss``.
        time: the end of the fast phase.
    """
    history = statistics.history(tables[experiment])
    history = history[history[_quantities.DECAY] > 0]
    rows = _quantities.over_time(history)
    late = rows[rows["time"] >= time].groupby("seed")[column].max()
    first = history[history["step"] == 0].set_index("seed")[column]
    return [float(value) for value in late / first.reindex(late.index)]


def trend_of_norm(tables: Tables, experiment: str, time: float) -> list[float]:
    """Spearman's correlation of time and the norm from a time on, with weight decay, by seed."""
    rows = _of_decay(tables[experiment], regularised=True)
    parts = rows[rows["time"] >= time].groupby("seed")
    return [float(part["time"].corr(part["squared_norm"], method="spearman")) for _, part in parts]


def with_over_without_decay(
    tables: Tables, experiment: str, column: str, time: float
) -> list[float]:
    """A column at a time with weight decay, over that without, for each seed.

    At the last logged step that is not after the time.
    """
    values = []
    for regularised in (True, False):
        rows = _of_decay(tables[experiment], regularised=regularised)
        early = rows[rows["time"] <= time * (1 + 1e-9)]
        values.append(statistics.by_seed(early, statistics.last(early, column)))
    return [float(value) for value in values[0] / values[1]]


def singular_values_at_end(tables: Tables, share: float) -> list[float]:
    """The number of singular values of figure 2 above a share of the largest at the end.

    Without weight decay, for each seed.
    """
    rows = _of_decay(tables["matrix_completion"], regularised=False)
    ends = rows.groupby("seed").tail(1).sort_values("seed")
    values = ends[[name for name in ends if name.startswith("singular_values.")]].to_numpy()
    return [float(count) for count in (values > share * values[:, :1]).sum(axis=1)]


def outside_support(tables: Tables, shift: int) -> list[float]:
    """The largest final coefficient of figure 4 outside the teacher's, over the least of these.

    Sizes count. A coefficient of the teacher that is zero in the end gives infinity.

    Args:
        tables: of figure 4; features are 1, the cosines and the sines, in this order.
        shift: of the teacher's frequencies; 0 for the teacher itself.
    """
    table = tables["diagonal_network"]
    rows = statistics.record(table, "convex_minimiser")
    frequencies = int(table["task.frequencies"].iloc[0])
    known = table.iloc[0]
    places = [
        int(known[name]) + shift + frequencies * name.startswith("task.sine")
        for name in table
        if name.startswith(("task.cosine_frequencies.", "task.sine_frequencies."))
    ]
    sizes = rows[[f"final.{place}" for place in range(2 * frequencies + 1)]].abs().to_numpy()
    inside = np.isin(np.arange(sizes.shape[1]), places)
    with np.errstate(divide="ignore"):
        return [float(row[~inside].max() / row[inside].min()) for row in sizes]


def _of_decay(table: pd.DataFrame, *, regularised: bool) -> pd.DataFrame:
    """The history over time, with or without weight decay; of matrix completion with errors."""
    rows = _quantities.over_time(statistics.history(table))
    if "task.rank" in rows:
        rows = rows.assign(**_quantities.mean_squared_errors(rows))
    return rows[(rows[_quantities.DECAY] > 0) == regularised]
