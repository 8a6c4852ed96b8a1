"""Numbers of the paper's statements, each from the tables of one figure, one for each run."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables
from grokatlas.papers.geometry import _slow_times, _theorem
from grokatlas.papers.geometry._controls import *
from grokatlas.papers.geometry._drifts import *

LEAST_NORM = {"curved": 1.0, "singular": 0.0, "leaky_relu": 1.0}  # of each weight, up to its sign


def _parameters(rows: pd.DataFrame) -> np.ndarray:
    """The logged weights of some rows, ``[rows, weights]``."""
    names = sorted(name for name in rows if name.startswith("parameters."))
    return rows[[name for name in names if rows[name].notna().all()]].to_numpy()


def first_low_training_loss(tables: Tables, weight_decay: float, level: float) -> list[float]:
    """The first step of figure 1 at which the training loss is at most `level`."""
    rows = statistics.history(tables["two_weights"], penalties__0__weight=weight_decay)
    return statistics.first(rows, "train_loss", level, below=True)


def first_low_test_loss(tables: Tables, weight_decay: float, level: float) -> list[float]:
    """The first step of figure 1 at which the test loss is at most `level`, of one weight decay."""
    rows = statistics.history(tables["two_weights"], penalties__0__weight=weight_decay)
    return statistics.first(rows, "test_loss", level, below=True, by=DECAY)


def first_low_test_losses(tables: Tables, level: float) -> list[float]:
    """The first step of figure 1 at which the test loss is at most `level`, by weight decay."""
    rows = statistics.history(tables["two_weights"])
    return statistics.first(rows, "test_loss", level, below=True, by=DECAY)


def order_of_arrival(tables: Tables, level: float, column: str) -> list[float]:
    """Spearman's correlation of weight decay and the step at which a loss is at most `level`."""
    rows = statistics.history(tables["two_weights"])
    steps = pd.Series(statistics.first(rows, column, level, below=True, by=DECAY))
    if steps.nunique() < 2:
        return [np.nan]
    return [float(pd.Series(sorted(rows[DECAY].unique())).corr(steps, method="spearman"))]


def end_of_first_phase(tables: Tables, weight_decay: float, step: int) -> list[float]:
    """The larger distance of the two weights of figure 1 from (0, 2) at a step."""
    rows = statistics.history(tables["two_weights"], penalties__0__weight=weight_decay, step=step)
    return [float(np.abs(point - (0.0, 2.0)).max()) for point in _parameters(rows)]


def distance_at_rest(tables: Tables) -> list[float]:
    """The larger distance of the final weights of figure 1 from 2 / (2 + decay), by decay."""
    rows = statistics.history(tables["two_weights"])
    final = rows[rows["step"] == rows["step"].max()].sort_values(DECAY)
    target = 2 / (2 + final[DECAY].to_numpy()[:, None])
    return [float(far) for far in np.abs(_parameters(final) - target).max(axis=1)]


def least_order(tables: Tables, quantity: str, first: int) -> list[float]:
    """The least of Spearman's correlations of weight decay and a quantity of figure 1.

    Args:
        tables: of the figure.
        quantity: a column, or ``distance``, that of the weights from the line w1 + w2 = 2.
        first: the correlation is taken at each logged step from this one on.
    """
    rows = statistics.history(tables["two_weights"])
    rows = rows[rows["step"] >= first]
    if quantity == "distance":
        rows = rows.assign(distance=np.abs(_parameters(rows).sum(axis=1) - 2) / 2**0.5)
    ranks = rows.pivot_table(index="step", columns=DECAY, values=quantity).rank(axis=1).T
    ranks.insert(0, "decay", np.arange(len(ranks), dtype=float))
    away = (ranks - ranks.mean()).to_numpy()  # of Pearson's correlation of the ranks
    with np.errstate(invalid="ignore"):  # where nothing differs there is none
        correlations = (
            away[:, 0] @ away[:, 1:] / np.sqrt((away[:, :1] ** 2).sum() * (away[:, 1:] ** 2).sum(0))
        )
    return [float(pd.Series(correlations).min())]


def least_in_plane_cosine(tables: Tables, first: int, last: int) -> list[float]:
    """The least cosine, within the zero-loss plane of figure 2, of motion and way to (1, 1, 1).

    Over the steps from `first` to `last`, a hundred apart, for each starting point.
    """
    numbers = []
    for _, rows in statistics.history(tables["three_weights"]).groupby("member"):
        path = _parameters(rows[rows["step"].between(first, last) & (rows["step"] % 100 == 0)])
        if len(path) < 2:
            numbers.append(np.nan)
            continue
        motion, way = np.diff(path, axis=0), 1.0 - path[:-1]
        motion, way = (each - each.mean(axis=1, keepdims=True) for each in (motion, way))
        lengths = np.linalg.norm(motion, axis=1) * np.linalg.norm(way, axis=1)
        numbers.append(float(((motion * way).sum(axis=1) / lengths).min()))
    return numbers


def fit_over_half_way(tables: Tables, level: float, share: float) -> list[float]:
    """When figure 2's training loss is low, over when the way within the plane is partly gone.

    Args:
        tables: of the figure.
        level: of the training loss.
        share: of the distance from (1, 1, 1) within the plane that is left.

    Returns:
        the quotient of both steps, for each starting point.
    """
    numbers = []
    for _, rows in statistics.history(tables["three_weights"]).groupby("member"):
        way = _parameters(rows)
        way = np.linalg.norm(way - way.mean(axis=1, keepdims=True), axis=1)
        fit = rows["step"].where(rows["train_loss"] <= level, np.inf).min()
        numbers.append(float(fit / rows["step"].where(way <= share * way[0], np.inf).min()))
    return numbers


def generalisation_over_fit(tables: Tables, case: str, training: float, test: float) -> list[float]:
    """When a case of figure 3 has a low test loss, over when its training loss is low.

    Args:
        tables: of the figure.
        case: of its experiment.
        training: the level of the training loss.
        test: the level of the test loss.

    Returns:
        the quotient of both steps, for each starting point; infinite where the test loss is never
        low.
    """
    rows = statistics.history(tables["zero_loss_sets"], case=case)
    late = statistics.first(rows, "test_loss", test, below=True, by="member")
    early = statistics.first(rows, "train_loss", training, below=True, by="member")
    return [one / other for one, other in zip(late, early, strict=True)]


def distance_from_least_norm(tables: Tables, case: str, step: float) -> list[float]:
    """The distance of the weights of figure 3 from the nearest point of least norm at a step.

    The larger distance of the two weights, at the last logged step that is not after it.
    """
    rows = statistics.history(tables["zero_loss_sets"], case=case)
    rows = rows[rows["step"] <= step]
    final = _parameters(rows[rows["step"] == rows["step"].max()])
    weights = np.abs(final) if case == "curved" else final
    return [float(far) for far in np.abs(weights - LEAST_NORM[case]).max(axis=1)]


def accuracy_at(tables: Tables, step: int) -> list[float]:
    """Test accuracy of figure 4 at a step, for each run with its own split."""
    rows = statistics.history(tables["isolated_dynamics"], case="own_split")
    return statistics.at(rows, "test_accuracy", step)


def first_accuracy(tables: Tables, case: str, level: float) -> list[float]:
    """The first step of figure 4 at which test accuracy is above `level`, for each run."""
    rows = statistics.history(tables["isolated_dynamics"], case=case)
    return statistics.first(rows, "test_accuracy", np.nextafter(level, 1))


def largest_residual(tables: Tables, column: str) -> list[float]:
    """The largest value of a loss of figure 4 in the whole run, for each run with its own split."""
    rows = statistics.history(tables["isolated_dynamics"], case="own_split")
    return [float(part[column].max()) for _, part in rows.groupby("seed")]


def least_accuracy(tables: Tables, column: str) -> list[float]:
    """The least value of an accuracy of figure 4 in the whole run, likewise."""
    rows = statistics.history(tables["isolated_dynamics"], case="own_split")
    return [float(part[column].min()) for _, part in rows.groupby("seed")]


def spread_of_norms(tables: Tables) -> list[float]:
    """The coefficient of variation of the Fourier features' norms, final over initial."""
    rows = statistics.record(tables["isolated_dynamics"], "fourier_features", case="own_split")
    own = rows[rows["feature"] == rows["other"]]
    norms = own.groupby(["seed", "step"])["norm"]
    return _final_over_initial(norms.std(ddof=0) / norms.mean())


def likeness_of_absolute_values(tables: Tables, frequencies: str, moment: str) -> list[float]:
    """The mean cosine of the absolute values of two Fourier features, for each run.

    Args:
        tables: of figure 4.
        frequencies: ``same`` for the pairs Re F_k and Im F_k, ``different`` for all others.
        moment: ``start`` or ``end``.
    """
    chosen = _pairs(_features(tables, moment), frequencies)
    return [float(part["absolute_cosine"].mean()) for _, part in chosen.groupby("seed")]


def largest_cosine(tables: Tables, frequencies: str, moment: str) -> list[float]:
    """The largest absolute cosine of two Fourier features, likewise."""
    chosen = _pairs(_features(tables, moment), frequencies)
    return [float(part["cosine"].abs().max()) for _, part in chosen.groupby("seed")]


def largest_aspect(tables: Tables, moment: str) -> list[float]:
    """The largest ``| |Im F_k| / |Re F_k| - 1 |`` over frequencies k at a moment, for each run."""
    pairs = _features(tables, moment)
    own = pairs[pairs["feature"] == pairs["other"]].sort_values(["seed", "feature"])
    numbers = []
    for _, part in own.groupby("seed"):
        norms = part["norm"].to_numpy()
        numbers.append(float(np.abs(norms[1::2] / norms[::2] - 1).max()))
    return numbers


def cosine_over_bound(tables: Tables, case: str, by: str) -> list[float]:
    """The largest quotient of the cosine and its bound, for each value of the column `by`."""
    points = _near_zero_loss(tables, case)
    quotients = points["cosine"] / points["bound"]
    return [float(part.max()) for _, part in quotients.groupby(points[by].astype(str))]


def exponent_of_cosine(tables: Tables, case: str, by: str) -> list[float]:
    """The slope of log cosine against log distance, for each value of the column `by`."""
    points = _near_zero_loss(tables, case)
    parts = points.groupby(points[by].astype(str))
    return [statistics.slope(part["distance"], part["cosine"]) for _, part in parts]


def drift_from_prediction(
    tables: Tables, prediction: str, column: str, factor: float
) -> list[float]:
    """A column of `isolation` at its least weight decay and last common slow time, by seed.

    Args:
        tables: of the figure.
        prediction: ``isolated`` (equation 21) or ``joint``.
        column: of measure `first_layer_drift`.
        factor: the first layer's step size over the second's; W starts at its least norm.
    """
    rows = statistics.record(tables["isolation"], "first_layer_drift")
    rows = rows.assign(slow_time=rows["slow_time"].round(9))
    rows = rows[rows["slow_time"] == last_common(rows)]
    least = rows[(rows[DECAY] == rows[DECAY].min()) & (rows["model.excess"] == 0)]
    chosen = least[(least["gradients.0.factor"] == factor) & (least["prediction"] == prediction)]
    return statistics.last(chosen, column)


def switching_activations(tables: Tables, factor: float, weight_decay: float) -> list[float]:
    """The share of activations of `isolation` that change in the last update, by seed.

    Activations are those of every unit on every training sample. W starts at its least norm.

    Args:
        tables: of the figure.
        factor: the first layer's step size over the second's.
        weight_decay: of the runs.
    """
    rows = statistics.record(tables["isolation"], "first_layer_drift", prediction="isolated")
    rows = rows[(rows["model.excess"] == 0) & (rows[DECAY] == weight_decay)]
    return statistics.last(rows[rows["gradients.0.factor"] == factor], "kinked")


def loss_over_bound(tables: Tables, case: str, by: str) -> list[float]:
    """The largest quotient of `theorem`'s loss and its bound, for each value of the column `by`."""
    trajectories = _theorem.suprema(tables["theorem"]).query("case == @case")
    quotients = trajectories["loss"] / trajectories["bound"]
    return [float(part.max(skipna=False)) for _, part in quotients.groupby(trajectories[by])]


def exponent_of_distance(tables: Tables, case: str, by: str, last: float) -> list[float]:
    """The slope of log largest distance against log weight decay, up to the weight decay `last`."""
    trajectories = _theorem.suprema(tables["theorem"])
    trajectories = trajectories[
        (trajectories["case"] == case) & (trajectories[_theorem.DECAY] <= last)
    ]
    parts = trajectories.groupby(by)
    return [statistics.slope(part[_theorem.DECAY], part["distance"]) for _, part in parts]


def time_over_zero_loss(tables: Tables, weight_decay: float, level: float) -> list[float]:
    """The slow time of `ridge` to a test accuracy, over equation 21's, by seed."""
    times = _slow_times.reached(tables["ridge"], level).query("case == 'ridge'")
    return list(times.loc[times["weight_decay"] == weight_decay, "ratio"])


def end_of_zero_loss(tables: Tables, tolerance: float, level: float) -> list[float]:
    """The largest weight decay below which all have equation 21's time within a share, by seed.

    Zero if not even the least one has.
    """
    times = _slow_times.reached(tables["ridge"], level).query("case == 'ridge'")
    ends = []
    for _, part in times.sort_values("weight_decay").groupby("seed"):
        known = part["ratio"].notna().all()
        held = ((part["ratio"] - 1).abs() <= tolerance).cummin()
        ends.append(float(part["weight_decay"].where(held, 0.0).max()) if known else np.nan)
    return ends


def error_of_time(tables: Tables, weight_decay: float, level: float) -> list[float]:
    """The distance of the ridge's time from training's, less that of equation 21's, by seed.

    Distances are of logarithms. Not a number where training or equation 21 never reaches the level.
    """
    times = _slow_times.reached(tables["ridge"], level)
    times = times[times["weight_decay"] == weight_decay]
    ratios = times.pivot(index="seed", columns="case", values="ratio")
    ratios = ratios.reindex(columns=["ridge", "training"])
    trained = np.log(ratios["training"].where(np.isfinite(ratios["training"])))
    return list((np.log(ratios["ridge"]) - trained).abs() - trained.abs())


def _near_zero_loss(tables: Tables, case: str) -> pd.DataFrame:
    """The points of `orthogonality` whose nearest zero-loss point was found."""
    rows = statistics.record(tables["orthogonality"], "orthogonality", case=case)
    return rows.dropna(subset=["distance", "cosine"])


def _features(tables: Tables, moment: str) -> pd.DataFrame:
    """Pairs of Fourier features at the first or last step, for each run with its own split."""
    rows = statistics.record(tables["isolated_dynamics"], "fourier_features", case="own_split")
    steps = {"start": rows["step"].min(), "end": rows["step"].max()}
    return rows[rows["step"] == steps[moment]]


def _pairs(features: pd.DataFrame, frequencies: str) -> pd.DataFrame:
    """Each pair of two features once, of the ``same`` frequency or of ``different`` ones."""
    pairs = features[features["feature"] < features["other"]]
    same = pairs["feature"] // 2 == pairs["other"] // 2
    return pairs[same == (frequencies == "same")]


def _final_over_initial(values: pd.Series) -> list[float]:
    """Of values by seed and step, the last step's over the first one's, for each seed."""
    return [float(part.iloc[-1] / part.iloc[0]) for _, part in values.groupby(level="seed")]
