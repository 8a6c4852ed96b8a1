"""The largest loss and distance of each trajectory of `theorem`."""

import pandas as pd

KEYS = ["case", "run", "member"]
DECAY = "weight_decay"
DECAYS = ["dynamics.weight_decay", "penalties.0.weight"]  # of the flow, of gradient descent
VALUES = ["loss", "bound", "distance", "nearest"]


def suprema(table: pd.DataFrame) -> pd.DataFrame:
    """For each trajectory the largest ``loss`` and ``distance`` at any time, and its ``bound``.

    ``bound`` is weight decay times the start's squared norm. ``nearest`` is 1 if the largest
    distance is that of the nearest zero-loss point, 0 if it is an upper bound; where a snapshot has
    no distance there is none at all. Diverged trajectories have none of these.
    """
    trajectories = []
    starts = ["seed", *(name for name in table if name.startswith("model.init."))]
    for keys, rows in table.groupby(KEYS):
        history = rows[rows["record"] == "history"].sort_values("step")
        if history.empty:
            continue
        points = rows[(rows["record"] == "zero_loss_distance") & (rows["step"] > 0)]
        first = history.iloc[0]
        decays = [first[name] for name in DECAYS if name in table]
        decay = next(value for value in decays if not pd.isna(value))
        row = dict(zip(KEYS, keys, strict=True)) | {name: first[name] for name in starts}
        row |= {DECAY: decay, "loss": history["train_loss"].max(skipna=False)}
        row |= {"bound": decay * first["l2_norm"] ** 2}
        row |= {"distance": points["distance"].max(skipna=False)}
        at = points[points["distance"] == row["distance"]]
        trajectories.append(row | {"nearest": at["nearest"].min()})
    return pd.DataFrame(trajectories, columns=[*KEYS, *starts, DECAY, *VALUES])
