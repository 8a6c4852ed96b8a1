"""Figure 2: matrix completion by factorisation."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grokatlas.claims.statistics import Points, Tables
from grokatlas.papers.two_timescales import _panels, _quantities
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

SHOWN = 7  # the instance of panels a and b: selected, see the deviations
CLOSE = 0.02  # relative: to a true singular value, or to the minimiser
DEEPER = 300  # how far below the lowest end panel c goes; what is lower is a triangle there
LINES = ((True, "-"), (False, ":"))


def draw(tables: Tables, digitised_points: Points) -> FigureAndData:
    """Losses, norm and singular values of one instance; the end of all instances."""
    table = tables["matrix_completion"]
    rows = _quantities.completion(table)
    digitised_points = _quantities.on_our_clock(
        digitised_points, float(table["optimizer.lr"].max())
    )
    recovered = table.query("record == 'recovered_singular_values'")
    recovered = recovered.assign(regularised=recovered[_quantities.DECAY] > 0)
    made = Figure(figsize=(style.TEXT_WIDTH, 5.0))
    grid = made.add_gridspec(2, 2, height_ratios=[1.25, 1])
    shown = rows[rows["seed"] == SHOWN]
    above = made.add_subplot(grid[0, 0])
    drawn = [_losses(above, shown, digitised_points)]
    panels.above(made, above, loc="outside upper center", ncols=6, fontsize=6)
    truth = recovered[recovered["regularised"] & (recovered["seed"] == SHOWN)]
    drawn.append(_singular_values(made.add_subplot(grid[0, 1]), shown, truth, digitised_points))
    minimisers = table[(table["record"] == "convex_minimiser") & (table[_quantities.DECAY] > 0)]
    drawn += _all_instances(made.add_subplot(grid[1, :]), rows, recovered, minimisers)
    return made, pd.concat(drawn, ignore_index=True)


def _losses(axes: Axes, rows: pd.DataFrame, digitised_points: Points) -> pd.DataFrame:
    norm = _panels.twin(axes)
    for regularised, dashes in LINES:
        part = rows[rows["regularised"] == regularised]
        label = "" if regularised else ", no regularisation"
        norm.plot(part["time"], part["squared_norm"], color=style.COLOURS["l2"], ls=dashes)
        for name in ("train", "test"):
            line = style.Look(color=style.COLOURS[name], ls=dashes, label=f"{name}{label}")
            axes.plot(part["time"], part[f"{name}_mse"], **line)
    green = style.COLOURS["l2"]
    axes.plot([], [], color=green, label="squared norm (right)")
    points = [each for each in digitised_points if each["panel"] == "losses"]
    marked = [_panels.published(norm, points, "losses", "squared norm", green)]
    for curve in ("train", "test", "test, no regularisation"):
        colour = style.COLOURS[curve.split(",")[0]]
        marked.append(_panels.published(axes, points, "losses", curve, colour))
    _panels.name_published(axes, points)
    axes.set(xscale="log", yscale="log", xlabel="time t", ylabel="mean squared error")
    panels.limits(axes, "y", 1e-10, 30 * rows["test_mse"].max())
    norm.set_ylim(0, None)
    _panels.time_limits(axes, rows["time"], points)
    style.letter(axes, f"a  losses, instance {SHOWN} (selected)")
    columns = ["seed", "regularised", "time", "train_mse", "test_mse", "squared_norm"]
    return pd.concat([rows[columns], *marked]).assign(panel="a")


def _singular_values(
    axes: Axes, rows: pd.DataFrame, truth: pd.DataFrame, digitised_points: Points
) -> pd.DataFrame:
    places = truth["place"].astype(int).tolist()
    if rows.empty:
        return rows.reindex(columns=["seed", "regularised", "time"]).assign(panel="b")
    rank = int(rows["task.rank"].iloc[0])
    for regularised, dashes in LINES:
        part = rows[rows["regularised"] == regularised]
        for place in places:
            large = place < rank
            line = {"ls": dashes, "lw": 1.3 if large else 0.7, "zorder": 2 + large}
            colour = "#222222" if large else "#aaaaaa"
            axes.plot(part["time"], part[f"singular_values.{place}"], color=colour, **line)
    for row in truth[truth["place"] < rank].itertuples():
        axes.axhline(row.true_value, color=style.COLOURS["test"], lw=0.8, ls="--", zorder=1)
        axes.annotate(
            f"{row.true_value:.2f}",
            (1, row.true_value),
            xycoords=("axes fraction", "data"),
            xytext=(3, 0),
            textcoords="offset points",
            fontsize=7,
            va="center",
        )
    points = [each for each in digitised_points if each["panel"] == "singular values"]
    curves = dict.fromkeys(each["curve"] for each in points)
    marked = [_panels.published(axes, points, "singular values", c, style.GUIDE) for c in curves]
    axes.set(xscale="log", xlabel="time t", ylabel="singular value", ylim=(0, None))
    _panels.time_limits(axes, rows["time"], points)
    style.letter(axes, f"b  singular values of $UV^T$, instance {SHOWN}")
    named = [f"singular_values.{place}" for place in places]
    long = rows.melt(["seed", "regularised", "time"], named, "series", "value")
    ends = truth[["seed", "regularised", "place", "true_value", "final_value"]]
    return pd.concat([long, ends, *marked]).assign(panel="b")


def _all_instances(
    axes: Axes, rows: pd.DataFrame, recovered: pd.DataFrame, minimisers: pd.DataFrame
) -> list[pd.DataFrame]:
    seeds = sorted(rows["seed"].unique())
    rank = int(pd.concat([rows["task.rank"], recovered["task.rank"]]).max())
    ends = rows[rows["step"] == rows["step"].max()].sort_values("seed")
    for regularised, filled in ((False, False), (True, True)):
        part = ends[ends["regularised"] == regularised]
        face = style.COLOURS["test"] if filled else "white"
        label = "at the end, regularised" if filled else "at the end, no regularisation"
        mark = style.Look(color=style.COLOURS["test"], mfc=face, label=label)
        axes.plot(part["seed"].map(seeds.index), part["test_mse"], "o", **mark)
    for place, seed in enumerate(seeds):
        both = ends.loc[ends["seed"] == seed, "test_mse"]
        ink = style.Look(color=style.COLOURS["test"], lw=0.7, zorder=1)
        axes.plot([place, place], [both.min(), both.max()], **ink)
    floor = ends["test_mse"].min() / DEEPER
    known = minimisers[minimisers["seed"].isin(seeds)]
    least = style.Look(color=style.COLOURS["nuclear"], mew=2, ls="")
    for chosen, shape, size, text in (
        (known["minimiser_error"] >= floor, "_", 14, "interpolator of least nuclear norm"),
        (known["minimiser_error"] < floor, "v", 5, None),
    ):
        shown = known[chosen]
        heights = shown["minimiser_error"].clip(lower=1.5 * floor)
        places = shown["seed"].map(seeds.index)
        axes.plot(places, heights, marker=shape, ms=size, label=text, **least)
    if SHOWN in seeds:
        axes.axvspan(seeds.index(SHOWN) - 0.4, seeds.index(SHOWN) + 0.4, color="#eeeeee", zorder=0)
    axes.set(yscale="log", xlabel="instance", ylabel="mean squared test error")
    axes.set_xticks(range(len(seeds)), [str(seed) for seed in seeds])
    axes.set_xlim(-0.6, len(seeds) - 0.4)
    panels.limits(axes, "y", floor)
    axes.legend(loc="lower left")
    style.letter(axes, f"c  all instances, {_counts(recovered, minimisers, rank)}")
    kept = ends[["seed", "regularised", "time", "train_mse", "test_mse", "squared_norm"]]
    every = recovered.loc[
        recovered["place"] < rank, ["seed", "regularised", "place", "true_value", "final_value"]
    ]
    names = ["seed", "distance", "test_distance", "minimiser_norm", "minimiser_error", "gap"]
    best = minimisers[names].assign(series="minimiser")
    return [part.assign(panel="c") for part in (kept, every, best)]


def _counts(recovered: pd.DataFrame, minimisers: pd.DataFrame, rank: int) -> str:
    """The numbers of instances that end at the minimiser and at their true singular values."""
    errors = _quantities.singular_value_errors(recovered[recovered["regularised"]], rank)
    near = (minimisers["distance"] <= CLOSE).sum()
    return (
        f"{near} of {len(minimisers)} end within {CLOSE:.0%} of the interpolator, "
        f"{(errors <= CLOSE).sum()} of {len(errors)} of the truth"
    )
