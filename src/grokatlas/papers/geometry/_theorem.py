"""What figure and claims of `theorem` share: the largest loss and distance of each trajectory."""

import pandas as pd

KEYS = ["case", "run", "member"]
DECAY = "dynamics.weight_decay"


def suprema(table: pd.DataFrame) -> pd.DataFrame:
    """For each trajectory the largest ``loss`` and ``distance`` at any time, and its ``bound``.

    ``bound`` is weight decay times the start's squared norm. ``nearest`` is 1 if the largest
    distance is that of the nearest zero-loss point, 0 if it is an upper bound; where a snapshot has
    no distance there is none at all. Diverged trajectories have none of these.
    """
    found = []
    for keys, rows in table.groupby(KEYS):
        history = rows[rows["record"] == "history"].sort_values("step")
        points = rows[(rows["record"] == "zero_loss_distance") & (rows["step"] > 0)]
        first = history.iloc[0]
        row = dict(zip(KEYS, keys, strict=True)) | {"seed": first["seed"], DECAY: first[DECAY]}
        row |= {name: first[name] for name in table if name.startswith("model.init.")}
        row |= {"loss": history["train_loss"].max(skipna=False)}
        row |= {"bound": first[DECAY] * first["l2_norm"] ** 2}
        row |= {"distance": points["distance"].max(skipna=False)}
        at = points[points["distance"] == row["distance"]]
        found.append(row | {"nearest": at["nearest"].min()})
    return pd.DataFrame(found)
