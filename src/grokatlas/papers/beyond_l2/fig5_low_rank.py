"""Figure 5 for matrices: completion under nuclear regularisation."""

import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.papers.beyond_l2 import _panels
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

CASES = ("notebook", "caption")
WEIGHT = "dynamics.weight"


def draw(tables: Tables) -> FigureAndData:
    """A column for each setting: errors with gradient ratio, with nuclear norm, singular values."""
    table = tables["matrix_recovery"]
    history = _panels.of(table, "history").sort_values("step")
    times = _panels.of(table, "recovery_times").reindex(columns=["case", WEIGHT, "t1", "t2"])
    truth = _panels.of(table, "truth")
    keys = [key for case in CASES for key in sorted(_keys(history[history["case"] == case]))]
    made, grid = style.figure(len(keys), 3, height=2.0)
    drawn = []
    for column, (case, weight) in enumerate(keys):
        rows, marked, hidden = (
            frame[(frame["case"] == case) & (frame[WEIGHT] == weight)]
            for frame in (history, times, truth)
        )
        drawn += _column(grid[:, column], rows, marked.iloc[0], hidden.iloc[0])
        points = int(rows["task.train_points"].iloc[0])
        style.letter(
            grid[0, column], f"{'abc'[column]}  N = {points}, $\\beta = {_panels.at(weight)}$"
        )
    for row in grid:
        for axes in row[1:]:
            axes.set_ylabel("")
    panels.above(made, *grid[:, 0])
    return made, pd.concat(drawn, ignore_index=True)


def _keys(rows: pd.DataFrame) -> set[tuple[str, float]]:
    return set(rows[["case", WEIGHT]].itertuples(index=False, name=None))


def _column(
    grid: list[Axes], rows: pd.DataFrame, times: pd.Series, truth: pd.Series
) -> list[pd.DataFrame]:
    _panels.errors(grid[0], rows, times)
    _panels.ratio(grid[0], rows, "gradient ratio")
    _panels.errors(grid[1], rows, None)
    orange = style.COLOURS["nuclear"]
    norm = _panels.twin(grid[1], rows, "nuclear_norm", "$\\|A\\|_*$", color=orange)
    norm.axhline(truth["truth_nuclear_norm"], color=orange, lw=0.8, ls="--")
    norm.set_ylim(0, None)
    grid[1].plot(
        [], [], color=orange, lw=0.8, ls="--", label="$\\|A^*\\|_*$, singular values of $A^*$"
    )
    names = [name for name in rows.columns if name.startswith("singular_values.")]
    names = [name for name in names if rows[name].notna().any()]
    seen = rows[rows["step"] > 0]
    for name in names:
        true = truth[f"truth_{name}"]
        nonzero = true > 1e-9 * truth["truth_singular_values.0"]
        line: style.Look = (
            {"color": orange, "lw": 1.2} if nonzero else {"color": style.MUTED, "lw": 0.6}
        )
        grid[2].plot(seen["step"], seen[name], rasterized=not nonzero, **line)
        if nonzero:
            grid[2].axhline(true, color=orange, lw=0.7, ls="--")
    grid[2].set(xscale="log", xlabel="step", ylabel="singular values of $A$")
    grid[2].set_yscale("symlog", linthresh=1e-4)
    panels.limits(grid[2], "y", -3e-5, 4 * seen[names].max().max())
    drawn = ["case", WEIGHT, "step", *_panels.ERRORS, "gradient_ratio", "nuclear_norm", *names]
    keys = {"case": times["case"], WEIGHT: times[WEIGHT]}
    marked = [{**keys, "series": name, "step": times[name]} for name in ("t1", "t2")]
    return [rows[drawn].assign(series="history"), pd.DataFrame(marked)]
