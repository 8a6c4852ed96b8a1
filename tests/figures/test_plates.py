"""The plates on synthetic tables, as data."""

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.plates import adam_memory
from grokatlas.plots import style

BETA2, WEIGHT = "optimizer.beta2", "penalties.0.weight"
LENGTH = 1000


@pytest.fixture
def tables() -> dict[str, pd.DataFrame]:
    rows, weights = [], []
    for beta2, t2 in ((0.9, 300.0), (0.99, 200.0), (0.999, np.nan)):
        for seed in range(5):
            for case in {**adam_memory.PENALTIES, **adam_memory.SETTINGS}:
                keys = {"case": case, BETA2: beta2, "seed": seed, "task.modulus": 97}
                rows.append(keys | {"record": "grokking_times", "t1": 50.0 + seed, "t2": t2})
                for step in range(0, LENGTH + 1, 100):
                    seen = {"train_loss": 1 / (1 + step), "l2_norm": beta2, "effective_step": 0.5}
                    rows.append(keys | {"record": "history", "step": step} | seen)
            for weight in (1e-6, 1e-5):
                keys = {BETA2: beta2, WEIGHT: weight, "seed": seed}
                weights.append(keys | {"record": "grokking_times", "t1": 50.0, "t2": t2})
                weights.append(keys | {"record": "history", "step": LENGTH})
    names = ("adam_memory", "adam_memory_weights")
    return dict(zip(names, map(pd.DataFrame, (rows, weights)), strict=True))


def test_a_longer_run_gives_the_time_and_the_place_of_its_cross(tables):
    longer = tables["adam_memory"].query(f"case == 'l2' and `{BETA2}` > 0.9").copy()
    longer["t2"] = longer[BETA2].map({0.99: 200.0, 0.999: 4000.0})
    longer["step"] = longer["step"].where(longer["step"] != LENGTH, 5000)
    never = tables["adam_memory_weights"].query(f"`{BETA2}` > 0.99").replace({LENGTH: 7000})
    made, _ = adam_memory.draw(
        tables | {"adam_memory_long": longer, "adam_memory_weights_long": never}
    )
    filled = [line for line in made.axes[0].lines if line.get_marker() == "o"][1]
    assert [*filled.get_ydata()] == [300.0, 200.0, 4000.0]
    crosses = [line for line in made.axes[5].lines if line.get_marker() == "x"]
    assert {y for line in crosses for y in line.get_ydata()} == {7000.0}
    for axes in (made.axes[0], made.axes[5]):
        assert axes.get_ylim()[1] > 4000


def test_of_three_seeds_each_is_a_point_or_a_cross(tables):
    few = {name: table[table["seed"] < 3].copy() for name, table in tables.items()}
    times = few["adam_memory"]
    own = (times["case"] == "l2") & (times[BETA2] == 0.99)
    times.loc[own, "t2"] = times.loc[own, "seed"].map({0: 200.0, 1: 700.0, 2: np.nan})
    made, data = adam_memory.draw(few)
    axes = made.axes[0]
    filled = [line for line in axes.lines if line.get_markerfacecolor() == style.COLOURS["l2"]]
    drawn = [line.get_ydata() for line in filled if line.get_marker() == "o"][:3]
    np.testing.assert_array_equal(
        drawn, [[300, 200, np.nan], [300, 700, np.nan], [300] + [np.nan] * 2]
    )
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    assert crosses[1].get_ydata().tolist() == [LENGTH] * 2  # of l2: at 0.99 and at 0.999
    seen = data[(data["series"] == "t2") & (data["statistic"] == "median") & (data["case"] == "l2")]
    assert seen["step"].tolist()[:2] == [300, 700]


def test_curves_go_on_with_longer_runs_until_the_first_seed_ends(tables):
    short = tables["adam_memory"].query(f"case == 'l2' and `{BETA2}` > 0.99")
    ends = {0: 1500, 1: 2000, 2: 3000, 3: 3000, 4: 3000}
    longer = [
        short[short["seed"] == seed].assign(step=lambda rows, end=end: rows["step"] + end - LENGTH)
        for seed, end in ends.items()
    ]
    made, _ = adam_memory.draw(tables | {"adam_memory_long": pd.concat(longer)})
    losses, norms, steps = made.axes[2], made.axes[3], made.axes[4]
    for axes in (losses, norms):
        assert [line.get_xdata().max() for line in axes.lines] == [LENGTH, LENGTH, 1500]
    assert norms.lines[2].get_ydata()[-1] == pytest.approx(0.999)
    assert steps.lines[0].get_xdata().max() == LENGTH
