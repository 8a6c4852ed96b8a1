"""Figure 1: modular addition under weak l2 regularisation."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grokatlas.plots import marks, panels, style

CASES = {"blog": "the blog's formula", "notebook": "the authors' notebook"}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Accuracy and loss, the l2 norm on twin axes: the blog's setting and the notebook's."""
    table = tables["modular_addition"]
    history = table.query("record == 'history'")
    times = table.query("record == 'grokking_times'")
    made, grid = style.figure(2, len(CASES), height=2.2)
    drawn = []
    for axes, (case, text) in zip(grid, CASES.items(), strict=True):
        reached = times[times["case"] == case][["t1", "t2"]]
        rows = history[history["case"] == case]
        end = _length(rows, reached)
        rows = rows[rows["step"] <= end]
        marked = reached.median(skipna=False)
        modulus = int(history["task.modulus"].max())
        drawn += _panel(axes[0], rows, "accuracy", marked, case)
        style.letter(axes[0], f"{text}: addition modulo {modulus}, {rows['seed'].nunique()} seeds")
        drawn += _panel(axes[1], rows, "loss", marked, case)
        for panel in axes:
            panel.set(xlabel="step")
            panels.limits(panel, "x", 0, end)
            panel.locator_params(axis="x", nbins=6)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    made.legend(handles, labels, loc="outside upper right", ncols=3)
    kept = times[["case", "seed", "t1", "t2"]].melt(["case", "seed"], var_name="series")
    kept = kept.rename(columns={"value": "step"})
    return made, pd.concat([*drawn, kept], ignore_index=True)


def _panel(
    axes: Axes, rows: pd.DataFrame, quantity: str, times: pd.Series, case: str
) -> list[pd.DataFrame]:
    drawn = []
    twin = axes.twinx()
    twin.spines["right"].set_visible(True)
    green = {"color": style.COLOURS["l2"], "lw": 1}
    drawn.append(marks.spread(twin, rows, "l2_norm", label="l2 norm (right)", **green))
    twin.set(ylabel="l2 norm", ylim=(0, None))
    twin.tick_params(axis="y", colors=style.COLOURS["l2"])
    twin.yaxis.label.set_color(style.COLOURS["l2"])
    for part, dashes in (("train", "-"), ("test", "--")):
        colour = style.COLOURS[part]
        keywords = {"color": colour, "ls": dashes, "label": part}
        drawn.append(marks.spread(axes, rows, f"{part}_{quantity}", **keywords))
    axes.plot([], [], label="l2 norm", **green)
    axes.set(ylabel=quantity, ylim=(0, 1.04) if quantity == "accuracy" else (0, None))
    axes.set_zorder(twin.get_zorder() + 1)
    axes.patch.set_visible(False)
    if quantity == "accuracy":
        marks.instant(axes, times["t1"], "$t_1$", 0.55)
        marks.instant(axes, times["t2"], "$t_2$", 0.42, side="left")
    return [frame.assign(case=case) for frame in drawn]


def _length(history: pd.DataFrame, times: pd.DataFrame) -> float:
    """How much of a case is drawn: a tenth more than its last generalisation, or all of it."""
    last = float(history["step"].max())
    return last if times["t2"].isna().any() else min(last, 1.1 * times["t2"].max())
