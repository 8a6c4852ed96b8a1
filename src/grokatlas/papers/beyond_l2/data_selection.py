"""Matrix completion where some of the observed entries are chosen by leverage scores."""

import pandas as pd

from grokatlas.claims.statistics import Tables
from grokatlas.papers.beyond_l2 import _panels
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

SHARE = "task.leverage_share"


def draw(tables: Tables) -> FigureAndData:
    """Test errors of one instance on logarithmic and linear axes, and times of all instances."""
    table = tables["data_selection"]
    history = _panels.of(table, "history").sort_values("step")
    times = _panels.of(table, "recovery_times").reindex(columns=["seed", SHARE, "t2"])
    colours = style.sequence(sorted(history[SHARE].unique()))
    first = history["seed"].min()
    rows = history[history["seed"] == first]
    made, grid = style.figure(3, height=2.5)
    for axes, scale, title in zip(grid[0], ("log", "linear"), "ab", strict=False):
        for share, part in rows[rows["step"] > 0].groupby(SHARE):
            axes.plot(part["step"], part["test_error"], color=colours[share], lw=1.1)
        axes.set(xscale=scale, yscale="log", xlabel="step", ylabel="relative test error")
        style.letter(axes, f"{title}  instance {first}, {scale} time")
    grid[0, 1].ticklabel_format(axis="x", style="sci", scilimits=(0, 0))
    axes = grid[0, 2]
    last = history["step"].max()
    for place, (seed, part) in enumerate(times.sort_values(SHARE).groupby("seed")):
        colour = style.MEMBERS[place % len(style.MEMBERS)]
        line = {"color": colour, "lw": 0.8, "ms": 3.5, "label": str(seed)}
        axes.plot(part[SHARE], part["t2"], "o-", **line)
        never = part[part["t2"].isna()][SHARE]
        axes.plot(never, [1.2 * last * 1.15**place] * len(never), "x", color=colour, ms=3.5)
    axes.axhline(last, color=style.MUTED, lw=0.8, ls=":")
    axes.text(times[SHARE].min(), 2.6 * last, "not within the run", fontsize=6.5, color=style.GUIDE)
    axes.set(
        yscale="log" if last > 0 else "linear",
        xlabel="share $\\tau$",
        ylabel="$t_2$ (error $10^{-4}$)",
    )
    low = 0.35 * times["t2"].fillna(last).min()
    panels.limits(axes, "y", low, 4 * last)  # room for the legend below
    narrow = {"handlelength": 1, "columnspacing": 0.8, "handletextpad": 0.4}
    axes.legend(title="instance", title_fontsize=7, loc="lower left", ncols=5, **narrow)
    style.letter(axes, "c  time of recovery")
    lines = [grid[0, 0].plot([], [], color=colour)[0] for colour in colours.values()]
    texts = [f"{share:g}" for share in colours]
    grid[0, 0].legend(lines, texts, title="$\\tau$", title_fontsize=7, loc="lower left", ncols=2)
    drawn = rows[["seed", SHARE, "step", "test_error"]].assign(series="test_error")
    recoveries = times.rename(columns={"t2": "step"}).assign(series="t2")
    return made, pd.concat([drawn, recoveries], ignore_index=True)
