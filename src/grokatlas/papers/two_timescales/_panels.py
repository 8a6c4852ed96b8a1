"""Panels of several figures of this paper: losses with the squared norm, and predictors."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grokatlas.claims.statistics import Points
from grokatlas.papers.two_timescales import _quantities
from grokatlas.plots import marks, panels, style

SHOWN = 0  # the seed that is drawn, fixed beforehand


def twin(axes: Axes, label: str = "squared norm of the weights") -> Axes:
    """Axes at the right in the colour of the l2 norm, behind the panel's own."""
    return panels.twin(axes, label, style.COLOURS["l2"])


def published(
    axes: Axes, digitised_points: Points, panel: str, curve: str, colour: str
) -> pd.DataFrame:
    """Points of a published curve over ``time`` as open marks, in the colour of ours."""
    drawn = marks.published(axes, digitised_points, panel, curve, colour)
    return drawn.rename(columns={"step": "time", "median": "value"})


def name_published(axes: Axes, digitised_points: Points) -> None:
    """The entry of the open marks in a legend, where there are any."""
    if digitised_points:
        marks.published_key(axes)


def time_limits(axes: Axes, time: pd.Series, digitised_points: Points) -> None:
    """A time axis as long as our curves and the published points are."""
    points = [each["x"] for each in digitised_points]
    end = max([time.max(), *(1.15 * point for point in points)])
    panels.limits(axes, "x", min([time.min(), *points]), end)


def losses(axes: Axes, rows: pd.DataFrame, digitised_points: Points) -> pd.DataFrame:
    """Losses and, at the right, the squared norm: the seed shown, and the range of all seeds."""
    right = twin(axes)
    drawn = [_line(right, rows, "squared_norm", "l2", "squared norm (right)")]
    drawn += [_line(axes, rows, f"{part}_loss", part, part) for part in ("train", "test")]
    green = style.COLOURS["l2"]
    drawn.append(published(right, digitised_points, "losses", "squared norm", green))
    drawn += [
        published(axes, digitised_points, "losses", part, style.COLOURS[part])
        for part in ("train", "test")
    ]
    axes.plot([], [], color=green, label="squared norm (right)")
    name_published(axes, digitised_points)
    axes.set(xscale="log", xlabel="time t", ylabel="loss")
    time_limits(axes, rows["time"], digitised_points)
    right.set_ylim(0, None)
    legend(axes)
    return pd.concat(drawn, ignore_index=True)


def legend(axes: Axes, columns: int = 4, above: float = 1.0) -> None:
    """Above the panel at its right, where curves never are; `above` is a share of its height."""
    axes.legend(loc="lower right", bbox_to_anchor=(1, above), ncols=columns, borderaxespad=0.2)


def _line(axes: Axes, rows: pd.DataFrame, column: str, colour: str, label: str) -> pd.DataFrame:
    own = rows[rows["seed"] == SHOWN].set_index("time")[column]
    drawn = rows.groupby("time")[column].agg(low="min", high="max", seeds="count")
    drawn = drawn.assign(value=own).reset_index()
    shade = style.COLOURS[colour]
    if marks.few(rows):
        others = marks.lines(rows[rows["seed"] != SHOWN], [column], "time")
        marks.draw_lines(axes, others, column, "time", color=shade, lw=0.8, alpha=0.6)
    else:
        bounds = (drawn["low"], drawn["high"])
        axes.fill_between(drawn["time"], *bounds, color=shade, alpha=0.18, lw=0)
    axes.plot(drawn["time"], drawn["value"], color=shade, label=label)
    drawn.insert(0, "series", column)
    return drawn


def mark_times(axes: Axes, times: list[float]) -> None:
    """Vertical lines at t2 and t3, named above them; t1 = 0 is not on a log axis."""
    left, right = axes.get_xlim()
    for number, time in enumerate(times, start=1):
        if left < time <= right:
            axes.axvline(time, color=style.GUIDE, lw=0.8, ls=":", zorder=1)
            place = ((time, 1.0), ("data", "axes fraction"))
            text = style.Look(xytext=(0, 2), textcoords="offset points", ha="center", fontsize=7)
            axes.annotate(f"$t_{number}$", place[0], xycoords=place[1], **text)


def predictors(grid: list[Axes], curves: pd.DataFrame, others: bool) -> pd.DataFrame:
    """The predictor at each snapshot, with the teacher and the training points.

    Limits are those of the teacher, and at time 0 of the seed shown. With `others`, all seeds are
    drawn, thin; they must share the teacher's points.
    """
    curves = curves.assign(time=curves["step"] * curves["optimizer.lr"])
    if not others:
        curves = curves[curves["seed"] == SHOWN]
    targets = curves.loc[curves["part"] == "test", "target"]
    for number, (axes, (time, rows)) in enumerate(
        zip(grid, curves.groupby("time"), strict=False), start=1
    ):
        test, train = (rows[rows["part"] == part] for part in ("test", "train"))
        for seed, part in test.groupby("seed"):
            bold = seed == SHOWN
            line = {"lw": 1.4 if bold else 0.6, "alpha": 1 if bold else 0.45, "zorder": 2 + bold}
            label = "predictor" if bold else None
            axes.plot(
                part["input"], part["output"], color=style.COLOURS["train"], label=label, **line
            )
        own, points = (part[part["seed"] == SHOWN] for part in (test, train))
        axes.plot(
            own["input"],
            own["target"],
            ":",
            color=style.MEMBERS[5],
            lw=1.8,
            label="teacher",
            zorder=4,
        )
        axes.plot(points["input"], points["target"], "kx", ms=4, mew=1, label="data", zorder=5)
        seen = pd.concat([targets, own["output"]]) if time == 0 else targets
        margin = 0.35 * (seen.max() - seen.min())
        axes.set(xlabel="x")
        panels.limits(axes, "y", seen.min() - margin, seen.max() + margin)
        style.letter(axes, f"{'bcd'[number - 1]}  $t_{number}$ = {tidy(time)}")
    grid[0].set_ylabel("f(x)")
    columns = ["seed", "time", "part", "input", "output", "target"]
    return curves[columns].reset_index(drop=True)


def losses_above_predictors(
    table: pd.DataFrame, others: bool, digitised_points: Points
) -> tuple[Figure, Axes, list[Axes], pd.DataFrame]:
    """A wide panel of `losses` with the snapshots' times marked, above three of `predictors`.

    The figure, the panel of losses, those of predictors, and the data.
    """
    rows = _quantities.over_time(table.query("record == 'history'"))
    curves = table.query("record == 'predictor_curve'")
    made = Figure(figsize=(style.TEXT_WIDTH, 4.7))
    grid = made.add_gridspec(2, 3, height_ratios=[1.1, 1])
    above = made.add_subplot(grid[0, :])
    drawn = losses(above, rows, digitised_points)
    times = curves["step"].drop_duplicates().sort_values() * float(table["optimizer.lr"].max())
    legend(above, above=1.06)  # below it the names of times
    mark_times(above, times.tolist())
    style.letter(above, f"a  seed 0, range of {style.seeds(rows)}")
    below = [made.add_subplot(grid[1, place]) for place in range(3)]
    shown = predictors(below, curves, others)
    both = pd.concat([drawn.assign(panel="a"), shown.assign(panel="bcd")], ignore_index=True)
    return made, above, below, both


def tidy(value: float) -> str:
    """A number of two digits, as text for a title: 28,400 or 0.33."""
    return f"{value:,.0f}" if value >= 10 or value == round(value) else f"{value:.2g}"
