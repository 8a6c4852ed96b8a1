"""Plate 8: the memory of Adam's denominator changed after memorisation, and decoupled decay."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates import _clock
from grokatlas.papers.plates._adam_memory import BETA2
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

# kind of run -> its text
KINDS = {
    "short": r"$\beta_2 = 0.9$",
    "long": r"$\beta_2 = 0.999$",
    "shortened": "0.999, then 0.9",
    "lengthened": "0.9, then 0.999",
    "emptied": "0.999, emptied",
}
COLOURS = dict(zip(KINDS, (style.ZERO, *style.MEMBERS[:4]), strict=True))
ENDS = {"short": 0.9, "long": 0.999}
COLUMNS = {
    "test_accuracy": "test accuracy",
    "l2_norm": "l2 norm",
    "effective_step": "effective step",
}
# memory whose jumps are drawn -> colour; at beta2 = 0.9 they come without a rhythm
MEMORIES = {0.98: style.MEMBERS[2], 0.99: style.MEMBERS[1], 0.995: style.MEMBERS[3]}
SLOPE_AT = 0.99
LAWS = {"predicted": "--", "integrated": ":"}  # form of the law -> its line
TEXTS = {"predicted": "the law", "integrated": "steps counted"}
# experiment and case -> text and colour
WAYS = {
    ("adam_memory", None): ("l2 norm in the loss", style.COLOURS["l2"]),
    ("adam_batches", "large"): ("in batches of 2,048", style.MEMBERS[4]),
    ("adam_batches", "small"): ("in batches of 256", style.MEMBERS[1]),
    ("adam_decoupled", None): ("decoupled decay", style.MEMBERS[0]),
}


def draw(tables: Tables) -> FigureAndData:
    """Curves of each intervention (a to c), t2 against beta2 (d), and jumps of the loss (e, f)."""
    made, grid = style.figure(2, 3, height=2.35)
    rows = curves(tables)
    switch = float(tables["adam_switched"]["optimizer.switch"].dropna().iloc[0])
    drawn = []
    for axes, (column, text) in zip(grid.flat, COLUMNS.items(), strict=False):
        for kind, part in rows.groupby("kind", sort=False):
            look = style.Look(
                color=COLOURS[kind], lw=2.2 if kind in ENDS else 0.9, label=KINDS[kind]
            )
            drawn.append(marks.spread(axes, part.dropna(subset=[column]), column, **look))
            drawn[-1] = drawn[-1].assign(kind=kind)
        axes.axvline(switch, color=style.GUIDE, lw=0.6, ls=":", zorder=1)
        axes.set(xscale="log", xlabel="update", ylabel=text)
    grid[1, 0].set_yscale("log")
    panels.above(made, grid[0, 0], ncols=5, title="a to c")
    drawn.append(_against_memory(grid[1, 1], tables))
    drawn += _jumps(grid[2, 0], grid[2, 1], tables)
    for axes, letter in zip(grid.flat, "abcdef", strict=True):
        style.letter(axes, letter)
    return made, pd.concat(drawn, ignore_index=True)


def curves(tables: Tables) -> pd.DataFrame:
    """Histories of the switched runs and of both controls, from the first update on."""
    controls = [statistics.history(tables["adam_memory"], case=_clock.CONTROL)]
    if "adam_memory_seeds" in tables:
        controls.append(statistics.history(tables["adam_memory_seeds"]))
    control = pd.concat(controls, ignore_index=True)
    switched = statistics.history(tables["adam_switched"])
    end = switched["step"].max()
    parts = [control[control[BETA2] == beta2].assign(kind=kind) for kind, beta2 in ENDS.items()]
    parts += [part.assign(kind=kind) for kind, part in switched.groupby("case")]
    rows = pd.concat(parts, ignore_index=True)
    rows["kind"] = pd.Categorical(rows["kind"], [*KINDS])
    return rows[rows["step"].between(1, end)].sort_values("kind", kind="stable")


def _against_memory(axes: Axes, tables: Tables) -> pd.DataFrame:
    """t2 against the memory under each decay; a cross where a seed never generalises."""
    drawn = []
    for (name, case), (text, colour) in WAYS.items():
        times = _clock.times(tables, name, case)
        times["memory"] = 1 / (1 - times[BETA2])
        reached = times[times["t2"] < float("inf")]
        look = style.Look(color=colour, label=text, marker="o", ms=3.5, lw=0.9)
        marks.ranges(axes, reached, "t2", "memory", **look)
        never = times.loc[times["t2"] == float("inf"), "memory"].unique()
        length = float(tables[name]["step"].max())
        axes.plot(never, [length] * len(never), "x", ms=4, color=colour)
        drawn.append(times[["memory", "seed", "t1", "t2"]].assign(series=case or name))
    drawn.append(_law(axes, tables))
    axes.set(xlabel=r"memory, $1 / (1 - \beta_2)$", ylabel="update $t_2$")
    times = pd.concat(drawn[:-1], ignore_index=True)
    panels.logarithmic(axes, times["memory"])
    panels.logarithmic(axes, times["t2"].replace(float("inf"), float("nan")).dropna(), "y")
    _legend_above(axes, 2)
    return pd.concat([times, drawn[-1]], ignore_index=True)


def _jumps(losses: Axes, axes: Axes, tables: Tables) -> list[pd.DataFrame]:
    """The training loss in small batches by memory, and the period of its jumps."""
    rows = _clock.small_batches(tables)
    rows = rows[rows["step"] > 0]
    drawn = []
    for beta2, colour in MEMORIES.items():
        look = style.Look(color=colour, lw=0.7, label=rf"$\beta_2 = {beta2}$")
        part = rows[rows[BETA2] == beta2]
        drawn.append(marks.spread(losses, part, "train_loss", **look).assign(kind="small"))
    losses.set(xlabel="update", ylabel="training loss", yscale="log")
    _legend_above(losses, 3)
    periods = _clock.periods(tables).assign(memory=lambda made: 1 / (1 - made[BETA2]))
    shown = periods[periods[BETA2].isin(MEMORIES)].dropna()
    look = style.Look(color=style.MEMBERS[1], label="in batches of 256", marker="o", ms=3.5, lw=0.9)
    marks.ranges(axes, shown, "period", "memory", **look)
    middle = shown.loc[shown[BETA2] == SLOPE_AT, "period"].median() * (1 - SLOPE_AT)
    ends = 1 / (1 - pd.Series([*MEMORIES]))
    axes.plot(ends, middle * ends, "--", color=style.GUIDE, lw=1, label="slope 1")
    axes.set(xlabel=r"memory, $1 / (1 - \beta_2)$", ylabel="updates between jumps")
    axes.set(xscale="log", yscale="log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_locator(NullLocator())
    axes.legend(loc="best")
    return [*drawn, shown[["memory", "seed", "period"]].assign(series="jumps")]


def _legend_above(axes: Axes, columns: int) -> None:
    """A legend in the upper half of a logarithmic panel, which is made as high again."""
    low, high = axes.get_ylim()
    if axes.get_yscale() == "log":
        axes.set_ylim(low, high * (high / low) ** (0.55 if columns < 3 else 0.25))
    axes.legend(loc="upper center", ncols=columns, columnspacing=1.0)


def _law(axes: Axes, tables: Tables) -> pd.DataFrame:
    """The t2 of both forms of the law from the shortest memory on, median of seeds, no fit."""
    rows = _clock.predicted(tables)
    rows["memory"] = 1 / (1 - rows[BETA2])
    drawn = []
    for form, look in LAWS.items():
        line = rows.groupby("memory")[form].median().reset_index(name="t2")
        axes.plot(line["memory"], line["t2"], look, color=style.GUIDE, lw=1, label=TEXTS[form])
        drawn.append(line.assign(series=form))
    return pd.concat(drawn, ignore_index=True)
