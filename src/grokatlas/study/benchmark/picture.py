"""The picture of an entry among the recorded rows, and those of its trials."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator
from PIL import Image

from grokatlas.errors import UserError
from grokatlas.plots import defaults, style
from grokatlas.results import layout
from grokatlas.study.benchmark.entry import PAPER_NAME, experiment
from grokatlas.study.benchmark.protocol import Protocol

SMALL = (1000, 5000)  # pixels at most of a picture that is brought
OURS, OTHERS = style.MEMBERS[1], style.MUTED


def save(cells: pd.DataFrame, entered: list[str], rules: Protocol, out: Path) -> None:
    """Draw quotients with their intervals, a panel for each task, and write a PNG.

    Args:
        cells: from `judging.compared`, of all methods.
        entered: the methods to stand out.
        rules: for titles.
        out: the file.
    """
    with defaults.drawing():
        draw(cells, entered, rules).savefig(out)


def bring(rows: pd.DataFrame, scale: str, folder: Path) -> None:
    """Copy the pictures of the trials of an entry, made smaller, as ``TASK__METHOD.png``.

    Args:
        rows: of which those with a ``place`` are brought, from there.
        scale: of the rows.
        folder: where to.

    Raises:
        UserError: a picture is not there.
    """
    if "place" not in rows:
        return
    placed = rows[["task", "method", "place"]].dropna().drop_duplicates()
    for task, method, place in placed.to_numpy():
        stem = layout.figure_stem(scale, PAPER_NAME, experiment(task, method))
        drawn = layout.beside(Path(place) / stem, ".png")
        if not drawn.is_file():
            raise UserError(str(drawn), "no such picture; give the rows.csv in the folder of `add`")
        folder.mkdir(parents=True, exist_ok=True)
        with Image.open(drawn) as opened:
            small = opened.convert("RGB")
        small.thumbnail(SMALL, Image.Resampling.LANCZOS)
        few = small.quantize(128, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(folder / f"{experiment(task, method)}.png", optimize=True)


def draw(cells: pd.DataFrame, entered: list[str], rules: Protocol) -> Figure:
    """The figure of `save`: in updates alone, the soonest method at the top of its panel."""
    cells = cells[cells["unit"] == "updates"]
    tasks = [*cells["task"].unique()]
    most = cells.groupby("task").size().max()
    columns = min(2, len(tasks))
    figure, grid = style.figure(columns, -(-len(tasks) // columns), height=0.7 + 0.16 * most)
    for axes in grid.flat[len(tasks) :]:
        axes.remove()
    for axes, task in zip(grid.flat, tasks, strict=False):
        part = cells[cells["task"] == task].sort_values("quotient", ascending=False)
        places = range(len(part))
        for place, cell in zip(places, part.itertuples(), strict=True):
            colour = OURS if cell.method in entered else OTHERS
            full = cell.reached == cell.seeds
            axes.plot([cell.low, cell.high], [place, place], color=colour, lw=1.6)
            axes.plot(
                cell.quotient, place, "o", ms=4, color=colour, mfc=colour if full else "white"
            )
        axes.axvline(1, color=style.GUIDE, lw=0.6, ls=":")
        axes.set_yticks(places, part["method"], fontsize=6)
        axes.set(xscale="log", ylim=(-0.7, len(part) - 0.3))
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("updates over the baseline's", fontsize=6.5)
        title = rules.tasks[task].title if task in rules.tasks else task
        axes.set_title(title, loc="left", fontsize=6.5)
    return figure
