"""The outcome of each run of plate 4: recovered, a mirage, or neither, and when."""

import pandas as pd

from grokatlas.claims.statistics import Tables

FALL = 10.0  # a mirage: the test error falls so many times after memorisation, without recovery
TRUTHS = ("sparse", "low_rank", "gaussian", "block_constant")
REGULARISERS = ("l1", "nuclear", "l2", "none")
DIAGONAL = {"sparse": "l1", "low_rank": "nuclear"}  # which regulariser fits which truth
# experiment -> where its weight is
WEIGHTS = {
    "recovery_l1": ("l1", "dynamics.l1"),
    "recovery_nuclear": ("nuclear", "dynamics.weight"),
    "recovery_l2": ("l2", "dynamics.l2"),
}
KEY = ["run", "member"]


def outcomes(tables: Tables) -> pd.DataFrame:
    """One row for each truth, regulariser, start, number of measurements and instance.

    ``recovered`` or a ``mirage``; ``slow``, the time t2 of recovery, and ``fall``, that of the fall
    by `FALL`, in steps times rate times weight, not a number for never; ``distance`` and
    ``convex``, whether the minimiser of the norm is the truth. Members that diverged have no row.
    """
    parts = [_of(tables[name], *where) for name, where in WEIGHTS.items()]
    return pd.concat(parts, ignore_index=True)


def _of(table: pd.DataFrame, regulariser: str, weight: str) -> pd.DataFrame:
    times = table[table["record"] == "recovery_times"]
    theory = table[table["record"] == "convex_recovery"].dropna(subset=["samples"])  # diverged
    measured = ["samples", "instance", "distance", "minimiser_error"]
    rows = times.drop(columns=measured, errors="ignore").merge(theory[KEY + measured], on=KEY)
    rows = rows.merge(_falls(table, times), on=KEY, how="left")
    unit = rows["dynamics.rate"] * rows[weight].max()  # without a regulariser, that of the others
    recovered = rows["t2"].notna()
    named = rows[weight].gt(0).map({True: regulariser, False: "none"})
    return pd.DataFrame(
        {
            "truth": rows["task.truth"],
            "regulariser": named,
            "start": rows["model.init"],
            "samples": rows["samples"],
            "instance": rows["instance"],
            "recovered": recovered,
            "mirage": rows["fallen"].notna() & ~recovered,
            "slow": rows["t2"] * unit,
            "fall": rows["fallen"] * unit,
            "distance": rows["distance"],
            "convex": rows["minimiser_error"] < rows["train.stop.test_error.below"],
        }
    )


def _falls(table: pd.DataFrame, times: pd.DataFrame) -> pd.DataFrame:
    """The first step at which the test error is a tenth of that at memorisation, if ever."""
    rows = table[table["record"] == "history"].merge(
        times[[*KEY, "t1"]].rename(columns={"t1": "since"}), on=KEY
    )
    rows = rows[rows["step"] >= rows["since"]].sort_values([*KEY, "step"])
    plateau = rows.groupby(KEY)["test_error"].transform("first")
    fallen = rows[rows["test_error"] <= plateau / FALL]
    return fallen.groupby(KEY)["step"].first().rename("fallen").reset_index()
