"""Figure 2: a linear model of three weights, four starting points."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D

from grokatlas.plots import style

WEIGHTS = [f"parameters.weight.{k}" for k in range(3)]


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Trajectories in weight space with the zero-loss plane, shaded by the norm (lighter: less)."""
    rows = tables["three_weights"].query("record == 'history'").sort_values(["member", "step"])
    made = Figure(figsize=(style.TEXT_WIDTH * 0.72, 4.4))
    axes = made.add_subplot(projection="3d", computed_zorder=False)
    _plane(axes)
    for member, part in rows.groupby("member"):
        colour = style.MEMBERS[member % len(style.MEMBERS)]
        x, y, z = (part[weight].to_numpy() for weight in WEIGHTS)
        start = f"({x[0]:g}, {y[0]:g}, {z[0]:g})"
        axes.plot(x, y, z, color=colour, lw=1.4, label=f"from {start}", zorder=3)
        axes.plot(x[:1], y[:1], z[:1], "^", color=colour, ms=6, zorder=4)
        axes.plot(x[-1:], y[-1:], z[-1:], "o", color=colour, ms=4, zorder=5)
    axes.plot([1], [1], [1], "k*", ms=9, zorder=6, label="(1, 1, 1), least norm")
    axes.set(xlabel="$w_1$", ylabel="$w_2$", zlabel="$w_3$")
    axes.view_init(elev=22, azim=-62)
    axes.set_box_aspect((1, 1, 1), zoom=0.92)
    axes.legend(loc="upper left", bbox_to_anchor=(-0.12, 1.0))
    return made, rows[["member", "step", *WEIGHTS, "train_loss", "test_loss"]]


def _plane(axes: Axes3D) -> None:
    """The plane w1 + w2 + w3 = 3, in greys by the distance from the origin."""
    first, second = np.meshgrid(np.linspace(-1.6, 3.2, 49), np.linspace(-1.6, 3.2, 49))
    third = 3 - first - second
    inside = (third >= -1.9) & (third <= 3.4)
    third = np.where(inside, third, np.nan)
    norm = np.sqrt(first**2 + second**2 + np.where(inside, third, 0.0) ** 2)
    light = 0.97 - 0.45 * (norm - 3**0.5) / (np.nanmax(norm[inside]) - 3**0.5)
    light = np.clip(light, 0.0, 1.0)
    colours = np.stack([light, light, light, np.full_like(light, 0.75)], axis=-1)
    axes.plot_surface(
        first, second, third, facecolors=colours, rstride=1, cstride=1, lw=0, shade=False, zorder=1
    )
