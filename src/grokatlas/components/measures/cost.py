"""The cost of a run, as its manifest recorded it."""

import pandas as pd

from grokatlas.engine.contracts import LightRun, Measure

LIGHT = True  # read from the manifest alone


def build() -> Measure[LightRun]:
    """Time, memory and machine of a run.

    Returns:
        a function of a finished run, giving one row for each member, the same in all of them:
        ``processor``, the model of the GPU or of the CPU; ``threads``; ``members``; ``hours``, of
        training with observing and saving, in all processes that had a part in it;
        ``update_seconds``, the device time of one update of all members (on a CPU, processor time),
        the mean over those of the last process but its first (missing if there was no other); and
        ``memory_mb``, the largest resident memory of that process, in MiB. A table keeps them
        where a run is trained again to the same bytes in another time.
    """

    def measure(run: LightRun) -> pd.DataFrame:
        manifest = run.manifest
        device, updates = manifest["device"], manifest["updates"]
        row = {
            "processor": device.get("name", manifest["host"]["cpu"]),
            "threads": device["threads"],
            "members": manifest["members"],
            "hours": manifest["train_seconds"] / 3600,
            "update_seconds": float("nan"),
            "memory_mb": manifest["peak_memory_mb"],
        }
        if updates["count"]:
            row["update_seconds"] = updates["seconds"] / updates["count"]
        return pd.DataFrame([{"member": member} | row for member in range(row["members"])])

    return measure
