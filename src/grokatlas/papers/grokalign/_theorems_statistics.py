"""Numbers of claims on the paper's theorems, and on the points read off its curves."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics as read
from grokatlas.claims.statistics import Points, Tables
from grokatlas.papers.grokalign import _jacobians_statistics


def share_that_hold(tables: Tables, case: str, level: float) -> list[float]:
    """Theorem 3: the share of right test points that hold an attack at the end, for each seed.

    Args:
        tables: of figure `radius`.
        case: of its experiment.
        level: the size of the attack over the predicted radius.
    """
    rows = read.record(tables["radius"], "l2_radius", case=case, level=level)
    return read.last(rows, "robust_share")


def radius_over_baseline(tables: Tables) -> list[float]:
    """Theorem 3: the mean of ``r(x) / |x|`` at the end, GrokAlign over the baseline, by seed."""
    shares = []
    for case in ("ce_grokalign", "ce_baseline"):
        rows = read.record(tables["radius"], "l2_radius", case=case)
        rows = rows[rows["level"] == rows["level"].min()]
        shares.append(read.by_seed(rows, read.last(rows, "radius_share")))
    return (shares[0] / shares[1]).tolist()


def predicted_product(part: pd.DataFrame) -> pd.Series:
    """The probe's inner product with its centroid as theorem 9 has it, from the logged rates.

    Its rate of change is the step size times ``ntk_residual_mean``; between logged steps the
    rate goes straight.

    Args:
        part: the history of one seed, by step.

    Returns:
        the product at every logged step, from the first logged one on.
    """
    rates = part["optimizer.lr"] * part["ntk_residual_mean"]
    ways = (rates + rates.shift()) / 2 * part["step"].diff()
    return part["probe_inner_product"].iloc[0] + ways.fillna(0.0).cumsum()


def theorem_9(tables: Tables) -> list[float]:
    """The way of the inner product that theorem 9 predicts over the one it went, for each seed.

    Not a number where it went none.
    """
    numbers = []
    for _, part in read.history(tables["kernel"]).groupby("seed"):
        ways = [
            values.iloc[-1] - values.iloc[0]
            for values in (predicted_product(part), part["probe_inner_product"])
        ]
        numbers.append(float(ways[0] / ways[1]) if ways[1] else np.nan)
    return numbers


def theorem_9_at_first(tables: Tables) -> list[float]:
    """Theorem 9's rate at the start over the change of the inner product by the first logged step.

    For each seed; the rate times the steps between. Not a number where it did not change.
    """
    numbers = []
    for _, part in read.history(tables["kernel"]).groupby("seed"):
        if len(part) < 2:
            numbers.append(np.nan)
            continue
        first, second = (part.iloc[place] for place in (0, 1))
        rate = first["optimizer.lr"] * first["ntk_residual_mean"]
        way = second["probe_inner_product"] - first["probe_inner_product"]
        numbers.append(float(rate * (second["step"] - first["step"]) / way) if way else np.nan)
    return numbers


def grown_kernel(tables: Tables, factor: float) -> list[float]:
    """The first logged step at which the kernel's mean is a multiple of its first, by seed."""
    numbers = []
    for _, part in read.history(tables["kernel"]).groupby("seed"):
        grown = part["ntk_mean"] >= factor * part["ntk_mean"].iloc[0]
        numbers.append(float(part["step"].where(grown, np.inf).min()))
    return numbers


def distance_from_points(
    tables: Tables,
    experiment: str,
    case: str,
    panel: str,
    curve: str,
    column: str,
    digitised_points: Points,
) -> list[float]:
    """The distance of a curve from the published one, for each seed.

    It is the largest distance over the points that were read off the picture, relative to the
    largest of these points.

    Args:
        tables: of the figure.
        experiment: one of them.
        case: of it; empty for the only one.
        panel: of the published figure.
        curve: in that panel.
        column: our column.
        digitised_points: points of the published curves.
    """
    points = _points(digitised_points, panel, curve)
    steps, heights = [each["x"] for each in points], [each["y"] for each in points]
    numbers = []
    for _, part in read.history(tables[experiment], case=case).groupby("seed"):
        ours = np.interp(steps, part["step"], part[column])
        numbers.append(float(np.abs(ours - heights).max() / np.abs(heights).max()))
    return numbers


def step_over_point(
    tables: Tables, case: str, panel: str, curve: str, column: str, digitised_points: Points
) -> list[float]:
    """The step from which a column of figure 4 stays at a read height, over the read step."""
    ((step, level),) = ((each["x"], each["y"]) for each in _points(digitised_points, panel, curve))
    rows = read.history(tables["xor"], case=case)
    return [reached / step for reached in read.lasting(rows, column, level)]


def _points(digitised_points: Points, panel: str, curve: str) -> Points:
    return [each for each in digitised_points if (each["panel"], each["curve"]) == (panel, curve)]


def reached_ratio(
    tables: Tables, experiment: str, case: str, other: str, level: float
) -> list[float]:
    """The first logged step with a test accuracy in one case over that in another, by seed.

    No number if neither reaches it.
    """
    steps = []
    for each in (case, other):
        rows = read.history(tables[experiment], case=each)
        steps.append(read.by_seed(rows, read.first(rows, "test_accuracy", level)))
    return (steps[0] / steps[1]).tolist()


def weakest_outputs_over_weights(tables: Tables) -> list[float]:
    """The size of the weakest extreme alignment over scales, outputs over weights, by seed."""
    weakest = []
    for case, path in (("outputs", "model.output_scale"), ("weights", "model.init_scale")):
        members = _jacobians_statistics.over_scales(tables["scales"], case, path)
        weakest.append(
            members.assign(size=members["alignment"].abs()).groupby("seed")["size"].min()
        )
    return (weakest[0] / weakest[1]).tolist()


def rate_against_norm(tables: Tables, case: str, path: str) -> list[float]:
    """Spearman's correlation of figure 10's two coordinates over scales, for each seed.

    Of the size of the first rate of the inner product and the mean reciprocal norm of centroids.
    Not a number where one of the two does not vary.
    """
    members = _jacobians_statistics.over_scales(tables["scales"], case, path)
    members = members.assign(size=members["rate"].abs())
    numbers = []
    for _, part in members.groupby("seed"):
        known = part[["size", "reciprocal_norm"]].dropna()
        varies = known.nunique().min() > 1
        size, norm = known["size"], known["reciprocal_norm"]
        numbers.append(float(size.corr(norm, method="spearman")) if varies else np.nan)
    return numbers


def update_cost(tables: Tables, loss: str, method: str) -> list[float]:
    """The device time of an update with a method over that of the baseline's, alone on a machine.

    One number; none where the two were not timed on one machine.
    """
    rows = read.record(tables["update_time"], "cost")
    seconds = rows.groupby("case")["update_seconds"].mean()
    machines = rows[rows["case"].isin([f"{loss}_{method}", f"{loss}_baseline"])]
    alike = len(machines[["processor", "threads"]].drop_duplicates()) == 1
    quotient = seconds.get(f"{loss}_{method}", np.nan) / seconds.get(f"{loss}_baseline", np.nan)
    return [float(quotient) if alike else np.nan]
