"""Figure 4: isolated first-layer dynamics on modular addition."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec

from grokatlas.claims.statistics import Tables
from grokatlas.plots import style
from grokatlas.plots.style import FigureAndData

QUANTITIES = ["train_accuracy", "test_accuracy", "train_loss"]


def draw(tables: Tables) -> FigureAndData:
    """Test accuracy, norms of Fourier features, and two similarity matrices, initial and final.

    Accuracy is of every run, norms are of every run with its own split, matrices of the first.
    """
    table = tables["isolated_dynamics"]
    history = table.query("record == 'history'")
    pairs = table.query("record == 'fourier_features' and case == 'own_split'")
    made = Figure(figsize=(style.TEXT_WIDTH, 4.9))
    grid = made.add_gridspec(2, 4, height_ratios=[1.15, 1])
    _accuracy(made.add_subplot(grid[0, :2]), history)
    _norms(made.add_subplot(grid[0, 2:]), pairs)
    first = pairs[pairs["seed"] == pairs["seed"].min()]
    _matrices(made, grid, first)
    drawn = [
        history[["record", "case", "seed", "step", *QUANTITIES]],
        pairs[
            [
                "record",
                "case",
                "seed",
                "step",
                "feature",
                "other",
                "norm",
                "cosine",
                "absolute_cosine",
            ]
        ],
    ]
    return made, pd.concat(drawn, ignore_index=True)


def _accuracy(axes: Axes, history: pd.DataFrame) -> None:
    for case, dashes in (("own_split", "-"), ("one_split", (0, (2, 1)))):
        rows = history[history["case"] == case].sort_values("step")
        for index, (seed, part) in enumerate(rows.groupby("seed")):
            line = style.Look(color=style.MEMBERS[index], ls=dashes, lw=1 if dashes == "-" else 0.7)
            label = str(seed) if case == "own_split" else None
            axes.plot(part["step"], part["test_accuracy"], label=label, **line)
    modulus = int(history["task.modulus"].iloc[0])
    axes.axhline(1 / modulus, color=style.MUTED, lw=0.8, ls=":")
    shown = history.loc[history["test_accuracy"].notna(), "step"]
    if len(shown):
        axes.text(shown.max(), 1 / modulus + 0.02, "chance", fontsize=6.5, ha="right")
    axes.set(xlabel="step", ylabel="test accuracy", ylim=(-0.02, 1.04))
    axes.plot([], [], color=style.GUIDE, ls=(0, (2, 1)), lw=0.7, label="one split")
    axes.legend(title="seed (own split)", title_fontsize=7, loc="center right")
    style.letter(axes, f"a  test accuracy, addition modulo {modulus}")


def _norms(axes: Axes, pairs: pd.DataFrame) -> None:
    own = pairs[pairs["feature"] == pairs["other"]]
    for step, name in _ends(pairs).items():
        for index, (_, part) in enumerate(own[own["step"] == step].groupby("seed")):
            axes.plot(
                part["feature"] + 1,
                part["norm"],
                ".-",
                lw=0.5,
                ms=3,
                color=style.COLOURS[name],
                label=f"{name}, step {step:g}" if index == 0 else None,
            )
    axes.set(xlabel="Fourier feature", ylabel="norm", ylim=(0, None))
    axes.legend(loc="best")
    style.letter(axes, "b  norms of the Fourier features, runs with a split each")


def _matrices(made: Figure, grid: GridSpec, pairs: pd.DataFrame) -> None:
    panels: list[Axes] = []
    for row, (column, text) in enumerate(
        (("cosine", "similarity of features"), ("absolute_cosine", "of their absolute values"))
    ):
        for place, (step, name) in enumerate(_ends(pairs).items()):
            axes = made.add_subplot(grid[1, 2 * row + place])
            part = pairs[pairs["step"] == step]
            matrix = part.pivot(index="feature", columns="other", values=column)
            axes.imshow(matrix, vmin=-1, vmax=1, cmap="RdBu_r", interpolation="nearest")
            ends = [0, len(matrix) - 1]
            axes.set_xticks(ends, [str(end + 1) for end in ends])
            axes.set_yticks(ends, [str(end + 1) for end in ends] if not panels else [])
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
            letter = "cd"[row] if place == 0 else " "
            style.letter(axes, f"{letter}  {text if place == 0 else ''}")
            axes.set_xlabel(f"{name}\nFourier feature", labelpad=-6)
            panels.append(axes)
    made.colorbar(panels[-1].images[0], ax=panels, shrink=0.8, pad=0.01, label="cosine")


def _ends(pairs: pd.DataFrame) -> dict[float, str]:
    return {pairs["step"].min(): "initial", pairs["step"].max(): "final"}
