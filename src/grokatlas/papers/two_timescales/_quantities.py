"""Times, errors and distances, for figures and claims."""

from typing import Any

import numpy as np
import pandas as pd

from grokatlas.claims.statistics import Points

DECAY = "penalties.0.weight"
TOY_WEIGHTS = ["parameters.factors.0", "parameters.factors.1"]
FROM = 0.1  # slow time from which on the largest distance to the Riemannian flow is taken


def over_time(history: pd.DataFrame) -> pd.DataFrame:
    """History rows after the first update, with ``time`` and ``squared_norm``.

    Time is the step size times the number of updates, as in the paper.
    """
    rows = history[history["step"] > 0].sort_values(["seed", "step"])
    return rows.assign(time=rows["step"] * rows["optimizer.lr"], squared_norm=rows["l2_norm"] ** 2)


def on_our_clock(digitised_points: Points, rate: float) -> list[dict[str, Any]]:
    """Published points at the times that they have here.

    The paper's time is the step size times (number of updates + 1): its curves begin, at one step
    size, with the weights before training. Here that is time 0, which a log axis does not have, so
    that those points are left out.

    Args:
        digitised_points: points of published curves.
        rate: the step size.
    """
    moved = [each | {"x": each["x"] - rate} for each in digitised_points]
    return [each for each in moved if each["x"] > rate / 2]


def toy(table: pd.DataFrame) -> pd.DataFrame:
    """Trajectories of figure 1: ``member``, ``time``, both weights, losses and ``squared_norm``.

    ``test_like`` is half the squared distance to the nearer of the solutions of least norm, (1, 1)
    and (-1, -1).
    """
    history = table[table["record"] == "history"].sort_values(["member", "step"])
    w1, w2 = (history[weight] for weight in TOY_WEIGHTS)
    far = [(w1 - sign) ** 2 / 2 + (w2 - sign) ** 2 / 2 for sign in (1, -1)]
    columns = {
        "member": history["member"],
        "time": history["step"] * history["optimizer.lr"],
        "w1": w1,
        "w2": w2,
        "loss": history["train_loss"],
        "test_like": np.minimum(*far),
        "squared_norm": w1**2 + w2**2,
    }
    return pd.DataFrame(columns).reset_index(drop=True)


def completion(table: pd.DataFrame) -> pd.DataFrame:
    """History of matrix completion over time, with ``regularised``, ``train_mse``, ``test_mse``.

    Means of squares over observed and over unobserved entries.
    """
    rows = over_time(table[table["record"] == "history"])
    return rows.assign(regularised=rows[DECAY] > 0, **mean_squared_errors(rows))


def mean_squared_errors(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """``train_mse`` and ``test_mse`` of history rows of matrix completion, by sums of squares."""
    observed = rows["task.train_points"]
    unobserved = rows["task.rows"] * rows["task.columns"] - observed
    return {
        "train_mse": rows["train_loss"] / observed,
        "test_mse": rows["test_loss"] / unobserved,
    }


def singular_value_errors(recovered: pd.DataFrame, rank: int) -> pd.Series:
    """For each seed the largest relative error of a singular value that is not zero in truth."""
    leading = recovered[recovered["place"] < rank]
    error = (leading["final_value"] / leading["true_value"] - 1).abs()
    return error.groupby(leading["seed"]).max()


def half_way(rows: pd.DataFrame, column: str = "squared_norm") -> float:
    """The first time at which a column is half-way from its first to its last value.

    Between logged times it is interpolated, linear in log t.

    Args:
        rows: of one seed over time, in order.
        column: one that falls.
    """
    values, time = rows[column].to_numpy(), rows["time"].to_numpy()
    middle = (values[0] + values[-1]) / 2
    there = np.flatnonzero(values <= middle)
    if len(there) == 0 or there[0] == 0:
        return float(time[there[0]]) if len(there) else np.nan
    after = there[0]
    share = (values[after - 1] - middle) / (values[after - 1] - values[after])
    return float(time[after - 1] * (time[after] / time[after - 1]) ** share)


def regression(table: pd.DataFrame) -> pd.DataFrame:
    """History of linear regression after the first update, over time, by case and seed.

    The run's loss is half a sum of squares; these are means of squares.
    """
    history = table[(table["record"] == "history") & (table["step"] > 0)]
    rate = history["dynamics.rate"].fillna(history["optimizer.lr"])
    columns = {
        "case": history["case"],
        "seed": history["seed"],
        "step": history["step"],
        "time": history["step"] * rate,
        "decay": history["dynamics.l2"].fillna(2 * history[DECAY]),
        "train_loss": 2 * history["train_loss"] / history["task.train_points"],
        "test_loss": 2 * history["test_loss"] / history["task.test_points"],
        "squared_norm": history["l2_norm"] ** 2,
    }
    return pd.DataFrame(columns).sort_values(["case", "seed", "step"], ignore_index=True)


def norm_excess(rows: pd.DataFrame) -> pd.DataFrame:
    """The squared norm of one seed above its last value: ``seed``, ``time``, ``norm_excess``."""
    over = (rows["squared_norm"] - rows["squared_norm"].iloc[-1]).iloc[:-1]
    over = over[over > 0]
    kept = rows.loc[over.index, ["seed", "time"]]
    return kept.assign(norm_excess=over)


def difference(rows: pd.DataFrame) -> pd.DataFrame:
    """|simulation / closed form - 1| at the same steps, by seed and step.

    Args:
        rows: from `regression`.

    Returns:
        ``time``, ``test_loss_difference`` and ``squared_norm_difference``.
    """
    both = rows[rows["case"].isin(["simulation", "closed_form"])]
    columns = ["test_loss", "squared_norm"]
    if both.empty:
        named = ["seed", "step", "time", *(f"{name}_difference" for name in columns)]
        return pd.DataFrame(columns=named, dtype="float64").set_index(["seed", "step"])
    wide = both.pivot(index=["seed", "step"], columns="case", values=columns)
    time = both[both["case"] == "simulation"].set_index(["seed", "step"])["time"]
    apart = {
        f"{name}_difference": (wide[name]["simulation"] / wide[name]["closed_form"] - 1).abs()
        for name in columns
    }
    return pd.DataFrame({"time": time} | apart)


def distances(history: pd.DataFrame) -> pd.DataFrame:
    """|w_lambda(tau / lambda) - w(tau)| / |w(0)| with the Riemannian flow w, at every logged step.

    Between logged steps the Riemannian flow is interpolated. Columns: ``lambda``, ``seed``,
    ``tau``, ``distance``.
    """
    names = [column for column in history.columns if column.startswith("parameters.")]
    flows = history[history["case"] == "riemannian_flow"]
    slow = flows["step"] - flows["dynamics.fast_steps"]
    flows = flows.assign(tau=slow * flows["dynamics.rate"])[slow >= 0].sort_values("tau")
    rest = history[(history["case"] != "riemannian_flow") & (history["step"] > 0)]
    rest = rest.assign(**{"lambda": 2 * rest[DECAY]})
    rest["tau"] = rest["lambda"] * rest["step"] * rest["optimizer.lr"]
    frames = []
    for (decay, seed), rows in rest.sort_values("tau").groupby(["lambda", "seed"]):
        flow = flows[flows["seed"] == seed]
        tau, weights = flow["tau"].to_numpy(), flow[names].to_numpy()
        at = rows["tau"].to_numpy().clip(tau[0], tau[-1])
        wanted = np.stack([np.interp(at, tau, column) for column in weights.T], axis=1)
        apart = np.linalg.norm(rows[names].to_numpy() - wanted, axis=1)
        frame = {"lambda": decay, "seed": seed, "tau": rows["tau"].to_numpy().round(9)}
        frames.append(pd.DataFrame(frame | {"distance": apart / np.linalg.norm(weights[0])}))
    if not frames:
        return pd.DataFrame(columns=["lambda", "seed", "tau", "distance"], dtype="float64")
    return pd.concat(frames, ignore_index=True)


def largest_distances(found: pd.DataFrame) -> pd.DataFrame:
    """Of `distances`, the largest from slow time `FROM` on, for each lambda and seed."""
    late = found[found["tau"] >= FROM].groupby(["lambda", "seed"], as_index=False)
    return late["distance"].max()
