"""Figure 1: modular addition under weak l2 regularisation."""

import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Points, Tables
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

CASE = "published"  # the others are run to show what they give instead


def draw(tables: Tables, digitised_points: Points) -> FigureAndData:
    """Accuracy and loss, the l2 norm on twin axes, in the setting of the published curves."""
    table = tables["modular_addition"]
    table = table[table["case"] == CASE]
    history = table.query("record == 'history'")
    times = table.query("record == 'grokking_times'")
    reached = times[["t1", "t2"]]
    end = _length(history, reached)
    rows = history[history["step"] <= end]
    made, grid = style.figure(2, height=2.4)
    drawn = []
    for axes, quantity, letter in zip(grid[0], ("accuracy", "loss"), "ab", strict=True):
        drawn += _panel(axes, rows, quantity, reached.median(skipna=False), digitised_points)
        axes.set(xlabel="step")
        panels.limits(axes, "x", 0, end)
        axes.locator_params(axis="x", nbins=6)
        style.letter(axes, letter)
    modulus = int(history["task.modulus"].max())
    style.letter(grid[0, 0], f"a  addition modulo {modulus}, {style.seeds(rows)}")
    panels.above(made, grid[0, 0], ncols=4)
    kept = times[["seed", "t1", "t2"]].melt(["seed"], var_name="series")
    kept = kept.rename(columns={"value": "step"})
    return made, pd.concat([*drawn, kept], ignore_index=True)


def _panel(
    axes: Axes,
    rows: pd.DataFrame,
    quantity: str,
    times: pd.Series,
    digitised_points: Points,
) -> list[pd.DataFrame]:
    drawn = []
    twin = panels.twin(axes, "l2 norm", style.COLOURS["l2"])
    green = style.Look(color=style.COLOURS["l2"], lw=1)
    drawn.append(marks.spread(twin, rows, "l2_norm", label="l2 norm (right)", **green))
    twin.set_ylim(0, None)
    for part, dashes in (("train", "-"), ("test", "--")):
        colour = style.COLOURS[part]
        keywords = {"color": colour, "ls": dashes, "label": part}
        drawn.append(marks.spread(axes, rows, f"{part}_{quantity}", **keywords))
        drawn.append(marks.published(axes, digitised_points, quantity, part, colour))
    drawn.append(marks.published(twin, digitised_points, quantity, "l2 norm", style.COLOURS["l2"]))
    axes.plot([], [], label="l2 norm", **green)
    if digitised_points:
        marks.published_key(axes)
    axes.set(ylabel=quantity, ylim=(0, 1.04) if quantity == "accuracy" else (0, None))
    if quantity == "accuracy":
        marks.instant(axes, times["t1"], "$t_1$", 0.55)
        marks.instant(axes, times["t2"], "$t_2$", 1.02)
        for curve, part in (("t1", "train"), ("t2", "test")):
            drawn.append(
                marks.published(axes, digitised_points, quantity, curve, style.COLOURS[part])
            )
    return drawn


def _length(history: pd.DataFrame, times: pd.DataFrame) -> float:
    """The last step that is drawn: a tenth more than the last generalisation, or all."""
    last = float(history["step"].max())
    return last if times["t2"].isna().any() else min(last, 1.1 * times["t2"].max())
