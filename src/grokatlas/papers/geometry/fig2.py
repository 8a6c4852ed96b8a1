"""Figure 2: a linear model of three weights, four starting points."""

import numpy as np
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D

from grokatlas.claims.statistics import Tables
from grokatlas.plots import style
from grokatlas.plots.style import FigureAndData

WEIGHTS = [f"parameters.weight.{k}" for k in range(3)]


def draw(tables: Tables) -> FigureAndData:
    """Trajectories in weight space with the zero-loss plane, shaded by the norm (lighter: less)."""
    rows = tables["three_weights"].query("record == 'history'").sort_values(["member", "step"])
    made = Figure(figsize=(style.TEXT_WIDTH * 0.68, 4.4))
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
    for name in "xyz":
        getattr(axes, f"set_{name}label")(f"$w_{'xyz'.index(name) + 1}$", labelpad=-3)
        axes.tick_params(axis=name, pad=-2)
    axes.view_init(elev=14, azim=14)
    axes.set_box_aspect((1, 1, 1), zoom=1.08)
    axes.legend(loc="upper left", bbox_to_anchor=(-0.16, 1.04))
    return made, rows[["member", "step", *WEIGHTS, "train_loss", "test_loss"]]


def _plane(axes: Axes3D) -> None:
    x, y, z = disc(3.3)
    norm = np.sqrt(x**2 + y**2 + z**2)
    light = 0.97 - 0.4 * (norm - norm.min()) / np.ptp(norm)
    colours = np.stack([light, light, light, np.full_like(light, 0.8)], axis=-1)
    every = {"rstride": 1, "cstride": 1, "lw": 0, "antialiased": False, "shade": False}
    axes.plot_surface(x, y, z, facecolors=colours, zorder=1, **every)


def disc(radius: float) -> list[np.ndarray]:
    """Coordinates of a disc of the plane w1 + w2 + w3 = 3 around (1, 1, 1), as a polar grid."""
    out, angle = np.meshgrid(np.linspace(0, radius, 40), np.linspace(0, 2 * np.pi, 121))
    across, along = np.array([1.0, -1.0, 0.0]) / 2**0.5, np.array([1.0, 1.0, -2.0]) / 6**0.5
    ways = zip(across, along, strict=True)
    return [1 + out * (np.cos(angle) * a + np.sin(angle) * b) for a, b in ways]
