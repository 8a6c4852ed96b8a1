"""Figure 4: sparse recovery under l2 regularisation, from a large initialisation."""

from grokatlas.claims.statistics import Tables
from grokatlas.papers.beyond_l2 import _panels
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

BOUNDS = ["test_error_above", "test_error_below"]


def draw(tables: Tables) -> FigureAndData:
    """Errors with the l2 norm on twin axes, and all entries; logarithmic above, linear below."""
    table = tables["ridge_recovery"]
    rows = _panels.of(table, "history").sort_values("step")
    bounds = _panels.of(table, "descent_bounds").reindex(columns=["step", *BOUNDS])
    rows = rows.merge(bounds, on="step", how="left")
    times = _panels.of(table, "recovery_times").reindex(columns=["t1", "t2"]).iloc[0]
    truth = _panels.of(table, "truth").iloc[0]
    made, grid = style.figure(2, 2, height=2.3)
    names: list[str] = []
    for place, scale in enumerate(("log", "linear")):
        left, right = grid[place]
        _panels.errors(left, rows, times if scale == "log" else None)
        green = {"color": style.COLOURS["l2"]}
        norm = _panels.twin(left, rows, "l2_norm", "$\\|a\\|_2$", **green)
        if scale == "log":
            _panels.bound(left, rows, "test_error_above", ":", "bounds on test, theorem 3.6")
            _panels.bound(left, rows, "test_error_below", ":", "")
        names = _panels.components(right, rows, truth, absolute=scale == "log")
        for axes in (left, norm, right):
            axes.set_yscale(scale)
        if scale == "linear":
            left.set_ylim(0, None)
            norm.set_ylim(0, None)
        style.letter(left, f"{'ac'[place]}  errors and $\\|a\\|_2$, {scale} scale")
        style.letter(right, f"{'bd'[place]}  entries of $a$, {scale} scale")
    panels.above(made, *grid[0])
    return made, rows[["step", *_panels.ERRORS, *BOUNDS, "l2_norm", *names]]
