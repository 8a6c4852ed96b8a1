"""Plate 8: the memory of Adam's denominator, which sets when a network generalises."""

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
MEMORIES = style.sequence((0.98, 0.99, 0.995))
SLOPE_AT = 0.99
LAWS = {"predicted": "--", "integrated": ":"}  # form of the law -> its line
TEXTS = {"predicted": "the law", "integrated": "steps counted"}
Ways = dict[tuple[str, str | None], tuple[str, str]]  # experiment and case -> text and colour
WAYS: Ways = {
    ("adam_memory", None): ("l2 norm in the loss", style.COLOURS["l2"]),
    ("adam_batches", "large"): ("in batches of 2,048", style.MEMBERS[4]),
    ("adam_batches", "small"): ("in batches of 256", style.MEMBERS[1]),
    ("adam_decoupled", None): ("decoupled decay", style.MEMBERS[0]),
}
ON_TRANSFORMER: Ways = {
    (_clock.TRANSFORMER, "l2"): ("l2 norm in the loss", style.COLOURS["l2"]),
    (_clock.TRANSFORMER, "decoupled"): ("decoupled decay", style.MEMBERS[0]),
}


def draw(tables: Tables) -> FigureAndData:
    """Curves of each intervention (a to c), t2 against beta2 (d), jumps (e, f), a transformer."""
    made, grid = style.figure(2, 4, height=2.35)
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
    drawn.append(_against_memory(grid[1, 1], tables, WAYS, "adam_memory"))
    drawn += _jumps(grid[2, 0], grid[2, 1], tables)
    drawn.append(_accuracies(grid[3, 0], tables))
    drawn.append(_against_memory(grid[3, 1], tables, ON_TRANSFORMER, _clock.TRANSFORMER))
    for axes, letter in zip(grid.flat, "abcdefgh", strict=True):
        style.letter(axes, letter)
    return made, pd.concat(drawn, ignore_index=True)


def curves(tables: Tables) -> pd.DataFrame:
    """Histories of the switched runs and of both controls, from the first update on."""
    control = statistics.history(tables["adam_memory"], case=_clock.CONTROL)
    switched = statistics.history(tables["adam_switched"])
    end = switched["step"].max()
    parts = [control[control[BETA2] == beta2].assign(kind=kind) for kind, beta2 in ENDS.items()]
    parts += [part.assign(kind=kind) for kind, part in switched.groupby("case")]
    rows = pd.concat(parts, ignore_index=True)
    rows["kind"] = pd.Categorical(rows["kind"], [*KINDS])
    return rows[rows["step"].between(1, end)].sort_values("kind", kind="stable")


def _accuracies(axes: Axes, tables: Tables) -> pd.DataFrame:
    """The test accuracy of the transformer under the l2 norm, by memory, until it generalises."""
    rows = statistics.history(tables[_clock.TRANSFORMER], case="l2")
    rows = rows[rows["step"] > 0]
    memories = sorted(rows[BETA2].unique())
    columns = ["step", "seed", BETA2, "test_accuracy"]
    drawn = []
    for beta2, colour in zip(memories, style.sequence(memories).values(), strict=True):
        part = rows[rows[BETA2] == beta2]
        for seed, line in part.groupby("seed"):
            text = rf"$\beta_2 = {beta2}$" if seed == part["seed"].min() else None
            axes.plot(
                line["step"],
                line["test_accuracy"],
                color=colour,
                lw=0.8,
                label=text,
                marker=_dot(line),
            )
        drawn.append(part[columns].assign(series=_clock.TRANSFORMER))
    axes.set(xlabel="update", ylabel="test accuracy")
    panels.logarithmic(axes, rows["step"])
    if drawn:
        axes.legend(loc="upper left")
    return pd.concat([rows.iloc[:0][columns], *drawn], ignore_index=True)


def _dot(line: pd.DataFrame) -> str:
    """The marker of a curve: a dot where one point is all of it."""
    return "." if len(line) == 1 else ""


def _against_memory(axes: Axes, tables: Tables, ways: Ways, law_of: str) -> pd.DataFrame:
    """t2 against the memory under each decay; a cross where a seed never generalises.

    Args:
        axes: of the panel.
        tables: of plate 8.
        ways: the curves.
        law_of: the experiment whose law is drawn.
    """
    drawn = []
    for (name, case), (text, colour) in ways.items():
        times = _clock.times(tables, name, case)
        times["memory"] = 1 / (1 - times[BETA2])
        reached = times[times["t2"] < float("inf")]
        look = style.Look(color=colour, label=text, marker="o", ms=3.5, lw=0.9)
        marks.ranges(axes, reached, "t2", "memory", **look)
        never = times.loc[times["t2"] == float("inf"), "memory"].unique()
        length = float(tables[name]["step"].max())
        axes.plot(never, [length] * len(never), "x", ms=4, color=colour)
        series = f"{name} {case}" if name == _clock.TRANSFORMER else case or name
        drawn.append(times[["memory", "seed", "t1", "t2"]].assign(series=series))
    drawn.append(_law(axes, tables, law_of))
    axes.set(xlabel=r"memory, $1 / (1 - \beta_2)$", ylabel="update $t_2$")
    times = pd.concat(drawn[:-1], ignore_index=True)
    memories = times["memory"].unique()
    if len(memories) == 1:  # an axis without a width
        axes.set_xlim(memories[0] / 2, memories[0] * 2)
    panels.logarithmic(axes, memories)
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


def _law(axes: Axes, tables: Tables, experiment: str) -> pd.DataFrame:
    """The t2 of both forms of the law from the shortest memory on, median of seeds, no fit."""
    rows = _clock.predicted(tables, experiment=experiment)
    rows["memory"] = 1 / (1 - rows[BETA2])
    drawn = []
    for form, look in LAWS.items():
        line = rows.groupby("memory")[form].median().reset_index(name="t2")
        axes.plot(line["memory"], line["t2"], look, color=style.GUIDE, lw=1, label=TEXTS[form])
        of = f"{experiment} " if experiment == _clock.TRANSFORMER else ""
        drawn.append(line.assign(series=of + form))
    return pd.concat(drawn, ignore_index=True)
