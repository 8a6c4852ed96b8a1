"""Figure 5: sparse recovery under l1 regularisation."""

import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.papers.beyond_l2 import _panels
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

PUBLISHED = 1  # the seed of the published instance
BOUND = "train_error_above"


def draw(tables: Tables) -> FigureAndData:
    """Errors with gradient ratio and l1 norm, entries, and the test errors of all instances."""
    table = tables["sparse_recovery"]
    history = _panels.of(table, "history").sort_values(["seed", "step"])
    bounds = _panels.of(table, "descent_bounds").reindex(columns=["seed", "step", BOUND])
    history = history.merge(bounds, on=["seed", "step"], how="left")
    times = _panels.of(table, "recovery_times").reindex(columns=["seed", "t1", "t2"])
    history = pd.concat([_panels.thinned(rows) for _, rows in history.groupby("seed")])
    rows = history[history["seed"] == PUBLISHED]
    marked = _panels.one(times[times["seed"] == PUBLISHED])
    truth = _panels.of(table, "truth")
    truth = _panels.one(truth[truth["seed"] == PUBLISHED])
    made, grid = style.figure(2, 2, height=2.3)
    first, second, third, fourth = grid.ravel()
    _panels.errors(first, rows, marked)
    _panels.bound(first, rows, BOUND, ":", "bound on train, theorem 2.1")
    _panels.ratio(first, rows, "$\\|\\beta\\,\\partial h\\| \\,/\\, \\|\\nabla g\\|$")
    style.letter(first, "a  errors and gradient ratio")
    _panels.errors(second, rows, None)
    pink = style.COLOURS["l1"]
    norm = _panels.twin(second, rows, "l1_norm", "$\\|a\\|_1$", color=pink)
    norm.axhline(truth["truth_l1_norm"], color=pink, lw=0.8, ls="--")
    norm.set_ylim(0, None)
    second.plot([], [], color=pink, lw=0.8, ls="--", label="$\\|a^*\\|_1$")
    style.letter(second, "b  errors and $\\|a\\|_1$")
    entries = _panels.of(tables["sparse_entries"], "history").sort_values("step")
    names = _panels.components(third, entries, truth, absolute=True)
    third.set(yscale="log", ylim=(1e-7, None))
    style.letter(third, "c")
    _instances(fourth, history, times)
    panels.above(made, first, second)
    key = {"ncols": 3, "borderaxespad": 0.2, "fontsize": 6, "handlelength": 1.4}
    third.legend(loc="lower right", bbox_to_anchor=(1, 1), **key)
    drawn = ["seed", "step", *_panels.ERRORS]
    main = rows[[*drawn, BOUND, "gradient_ratio", "l1_norm"]]
    others = history.loc[history["seed"] != PUBLISHED, drawn]
    instants = times.melt("seed", var_name="series", value_name="step")
    entries = entries.assign(seed=PUBLISHED)[["seed", "step", *names]]
    return made, pd.concat([main, others, entries, instants], ignore_index=True)


def _instances(axes: Axes, history: pd.DataFrame, times: pd.DataFrame) -> None:
    recovered = set(times.loc[times["t2"].notna(), "seed"])
    for seed, part in history[history["step"] > 0].groupby("seed"):
        colour = style.COLOURS["test"] if seed in recovered else style.MUTED
        line: style.Look = (
            {"lw": 1.8, "zorder": 4} if seed == PUBLISHED else {"lw": 0.6, "alpha": 0.7}
        )
        line |= {"color": colour, "ls": "--" if seed in recovered else ":"}
        axes.plot(part["step"], part["test_error"], rasterized=True, **line)
    red = style.Look(color=style.COLOURS["test"], ls="--")
    axes.plot([], [], lw=1.8, label="the published instance", **red)
    axes.plot([], [], lw=0.6, alpha=0.7, label="recovered", **red)
    if len(recovered) < times["seed"].nunique():
        axes.plot([], [], lw=0.7, ls=":", color=style.MUTED, label="not recovered")
    axes.legend(loc="lower left")
    axes.set(xscale="log", yscale="log", xlabel="step", ylabel="relative test error")
    style.letter(axes, f"d  {len(recovered)} of {times['seed'].nunique()} instances are recovered")
