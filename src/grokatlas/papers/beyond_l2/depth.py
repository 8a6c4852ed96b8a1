"""Depth instead of a regulariser: sparse recovery by products of factors."""

from grokatlas.claims.statistics import Points, Tables
from grokatlas.papers.beyond_l2 import _panels, _quantities
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

PUBLISHED = 1  # the seed of the published instance
BELOW = 20  # axes end no lower than its least distance over this; other instances may leave them


def draw(tables: Tables, digitised_points: Points) -> FigureAndData:
    """Distance to a* by number of samples: the least of each run (left), and its last (right)."""
    distances = _quantities.distances(_panels.of(tables["depth"], "history"))
    made, grid = style.figure(2, height=2.6, sharey=True)
    titles = {"min": "a  least during training", "last": "b  at the last step"}
    for axes, (column, title) in zip(grid[0], titles.items(), strict=True):
        for (depth, seed), rows in distances.groupby(["depth", "seed"]):
            colour, main = style.MEMBERS[depth - 1], seed == PUBLISHED
            line: style.Look = (
                {"lw": 1.5, "ms": 4, "zorder": 3} if main else {"lw": 0.5, "ms": 2, "alpha": 0.5}
            )
            line |= {"label": f"L = {depth}"} if main else {}
            axes.plot(rows[_quantities.POINTS], rows[column], "o-", color=colour, **line)
        axes.set(yscale="log", xlabel="number of measurements N")
        style.letter(axes, title)
    lowest = distances.loc[distances["seed"] == PUBLISHED, "min"].min() / BELOW
    if 0 < distances["min"].min() < lowest:
        grid[0, 0].set_ylim(bottom=lowest)
    for number in sorted(distances["depth"].unique()):
        curve = _quantities.depth_curve(number)
        marks.published(grid[0, 0], digitised_points, "least distance", curve, "black", size=7)
    grid[0, 0].set_ylabel("$\\|a - a^*\\|_2$")
    grid[0, 0].plot([], [], "o-", color=style.MUTED, lw=0.5, ms=2, label="other instances")
    if digitised_points:
        marks.published_key(grid[0, 0], "black", 7)
    panels.above(made, grid[0, 0])
    return made, distances
