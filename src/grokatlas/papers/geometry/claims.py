"""Numbers of the paper's statements, each from the tables of one figure, one for each run."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from grokatlas.claims import readings

DECAY = "penalties.0.weight"
LEAST_NORM = {"curved": 1.0, "singular": 0.0, "leaky_relu": 1.0}  # of each weight, up to its sign

Tables = Mapping[str, pd.DataFrame]


def _parameters(rows: pd.DataFrame) -> np.ndarray:
    """The logged weights of some rows, ``[rows, weights]``."""
    names = sorted(name for name in rows if name.startswith("parameters."))
    return rows[[name for name in names if rows[name].notna().all()]].to_numpy()


def first_low_training_loss(tables: Tables, weight_decay: float, level: float) -> list[float]:
    """The first step of figure 1 at which the training loss is at most `level`."""
    rows = readings.history(tables["two_weights"], penalties__0__weight=weight_decay)
    return readings.first(rows, "train_loss", level, below=True)


def first_low_test_loss(tables: Tables, level: float) -> list[float]:
    """The first step of figure 1 at which the test loss is at most `level`, by weight decay."""
    rows = readings.history(tables["two_weights"])
    return readings.first(rows, "test_loss", level, below=True, by=DECAY)


def order_of_arrival(tables: Tables, level: float) -> list[float]:
    """Spearman's correlation of weight decay and the step at which the test loss is low."""
    rows = readings.history(tables["two_weights"])
    steps = pd.Series(first_low_test_loss(tables, level))
    if steps.nunique() < 2:
        return [np.nan]
    return [float(pd.Series(sorted(rows[DECAY].unique())).corr(steps, method="spearman"))]


def end_of_first_phase(tables: Tables, weight_decay: float, step: int) -> list[float]:
    """The larger distance of the two weights of figure 1 from (0, 2) at a step."""
    rows = readings.history(tables["two_weights"], penalties__0__weight=weight_decay, step=step)
    return [float(np.abs(point - (0.0, 2.0)).max()) for point in _parameters(rows)]


def distance_at_rest(tables: Tables) -> list[float]:
    """The larger distance of the final weights of figure 1 from 2 / (2 + decay), by decay."""
    rows = readings.history(tables["two_weights"])
    final = rows[rows["step"] == rows["step"].max()].sort_values(DECAY)
    target = 2 / (2 + final[DECAY].to_numpy()[:, None])
    return [float(far) for far in np.abs(_parameters(final) - target).max(axis=1)]


def least_in_plane_cosine(tables: Tables, first: int, last: int) -> list[float]:
    """The least cosine, within the zero-loss plane of figure 2, of motion and way to (1, 1, 1).

    Over the steps from `first` to `last`, a hundred apart, for each starting point.
    """
    found = []
    for _, rows in readings.history(tables["three_weights"]).groupby("member"):
        path = _parameters(rows[rows["step"].between(first, last) & (rows["step"] % 100 == 0)])
        if len(path) < 2:
            found.append(np.nan)
            continue
        motion, way = np.diff(path, axis=0), 1.0 - path[:-1]
        motion, way = (each - each.mean(axis=1, keepdims=True) for each in (motion, way))
        lengths = np.linalg.norm(motion, axis=1) * np.linalg.norm(way, axis=1)
        found.append(float(((motion * way).sum(axis=1) / lengths).min()))
    return found


def distance_from_least_norm(tables: Tables, case: str) -> list[float]:
    """The larger distance of the final weights of figure 3 from the nearest point of least norm."""
    rows = readings.history(tables["zero_loss_sets"], case=case)
    final = _parameters(rows[rows["step"] == rows["step"].max()])
    weights = np.abs(final) if case == "curved" else final
    return [float(far) for far in np.abs(weights - LEAST_NORM[case]).max(axis=1)]


def accuracy_at(tables: Tables, step: int) -> list[float]:
    """Test accuracy of figure 4 at a step, for each run with its own split."""
    rows = readings.history(tables["isolated_dynamics"], case="own_split")
    return readings.at(rows, "test_accuracy", step)


def first_accuracy(tables: Tables, case: str, level: float) -> list[float]:
    """The first step of figure 4 at which test accuracy is above `level`, for each run."""
    rows = readings.history(tables["isolated_dynamics"], case=case)
    return readings.first(rows, "test_accuracy", np.nextafter(level, 1))


def largest_residual(tables: Tables) -> list[float]:
    """The largest training loss of figure 4 in the whole run, for each run with its own split."""
    rows = readings.history(tables["isolated_dynamics"], case="own_split")
    return [float(part["train_loss"].max()) for _, part in rows.groupby("seed")]


def spread_of_norms(tables: Tables) -> list[float]:
    """The coefficient of variation of the Fourier features' norms, final over initial."""
    rows = readings.record(tables["isolated_dynamics"], "fourier_features", case="own_split")
    own = rows[rows["feature"] == rows["other"]]
    norms = own.groupby(["seed", "step"])["norm"]
    return _final_over_initial(norms.std(ddof=0) / norms.mean())


def overlap_of_features(tables: Tables) -> list[float]:
    """The mean absolute cosine of two Fourier features, final over initial, for each run."""
    rows = readings.record(tables["isolated_dynamics"], "fourier_features", case="own_split")
    pairs = rows[rows["feature"] != rows["other"]]
    overlap = pairs.assign(size=pairs["cosine"].abs()).groupby(["seed", "step"])["size"].mean()
    return _final_over_initial(overlap)


def cosine_over_bound(tables: Tables, case: str) -> list[float]:
    """The largest quotient of the cosine and its bound, over all points of a problem."""
    rows = readings.record(tables["orthogonality"], "orthogonality", case=case)
    found = rows.dropna(subset=["distance"])
    return [float((found["cosine"] / found["bound"]).max())]


def _final_over_initial(values: pd.Series) -> list[float]:
    """Of values by seed and step, the last step's over the first one's, for each seed."""
    return [float(part.iloc[-1] / part.iloc[0]) for _, part in values.groupby(level="seed")]
