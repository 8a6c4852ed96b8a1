"""Accuracy under noise and attack, and centroids as images."""

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims import statistics
from grokatlas.papers.grokalign import _jacobians_statistics
from grokatlas.papers.grokalign._jacobians import SEEN, coloured_by_norm, data_named
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

WIDE = 3  # images of a block: the input and its centroid in each of two cases


def under_noise(
    table: pd.DataFrame, cases: Iterable[str], read: list[dict[str, Any]]
) -> FigureAndData:
    """Alignment of the first training point's centroid, and accuracies, a row for each case.

    The data are medians and ranges over seeds by ``series``, and the alignments of the first seed,
    coloured by ``probe_norm``. Open marks are `read`, points of the published curves.
    """
    history = table[table["record"] == "history"]
    amplitudes = _jacobians_statistics.amplitudes(history)
    history = history[history["step"] > 0]
    cases = list(cases)
    made, grid = style.figure(2, len(cases), height=2.1, sharex=True, sharey="col")
    lowest = history[["train_accuracy", "test_accuracy", *amplitudes]].min().min()
    norms = history.loc[history["seed"] == history["seed"].min(), "probe_norm"]
    shades = {"vmin": norms.min(), "vmax": norms.max()}
    drawn = []
    for place, (case, (left, right)) in enumerate(zip(cases, grid, strict=True)):
        rows = history[history["case"] == case]
        line = style.Look(color=style.MUTED, lw=0.8)
        parts = [marks.spread(left, rows, "probe_alignment", **line)]
        parts.append(coloured_by_norm(made, left, rows, **shades))
        parts += _accuracies(right, rows, amplitudes)
        parts.append(marks.published(left, read, SEEN[case], "alignment", style.GUIDE))
        whole = "step of test accuracy 1"
        parts.append(marks.published(right, read, SEEN[case], whole, style.COLOURS["test"]))
        left.set(xscale="log", ylabel="alignment of the centroid")
        right.set_ylabel("accuracy")
        panels.limits(right, "y", max(lowest - 0.05, 0), 1.03)
        style.letter(left, f"{'aceg'[place]}  {SEEN[case]}, {data_named(table)}")
        style.letter(right, f"{'bdfh'[place]}  {SEEN[case]}, {style.seeds(rows)}")
        drawn += [part.assign(case=case) for part in parts]
    for axes in grid[-1]:
        axes.set_xlabel("step")
    if read:
        marks.published_key(grid[0, 1])
    panels.above(made, grid[0, 1], ncols=20, columnspacing=1.2)
    return made, pd.concat(drawn, ignore_index=True)


def _accuracies(axes: Axes, rows: pd.DataFrame, amplitudes: dict[str, float]) -> list[pd.DataFrame]:
    drawn = []
    for part in ("train", "test"):
        line = style.Look(color=style.COLOURS[part], label=part, zorder=3)
        drawn.append(marks.spread(axes, rows, f"{part}_accuracy", **line))
    colours = style.sequence(list(amplitudes.values()))
    for column, amplitude in amplitudes.items():
        line = {"color": colours[amplitude], "ls": "--", "lw": 1, "label": f"noise {amplitude:g}"}
        drawn.append(marks.spread(axes, rows, column, **line))
    return drawn


def under_attack(table: pd.DataFrame, others: pd.DataFrame, cases: Iterable[str]) -> FigureAndData:
    """Rank of Jacobians, alignment of centroids, and accuracy on images clean and attacked.

    In `others` are the same runs under another attack, drawn thin and dotted; in the data
    ``attack`` tells the two apart.
    """
    history = table[(table["record"] == "history") & (table["step"] > 0)]
    made, grid = style.figure(3, height=2.5, sharex=True)
    drawn = []
    for case in cases:
        colour = style.COLOURS[case]
        rows = history[history["case"] == case]
        columns = ("jacobian_pc1", "centroid_alignment_mean", "test_accuracy")
        for axes, column in zip(grid[0], columns, strict=True):
            dashes = "--" if column == "test_accuracy" else "-"
            line = style.Look(color=colour, ls=dashes, label=SEEN[case])
            drawn.append(marks.spread(axes, rows, column, **line).assign(case=case))
        solid = style.Look(color=colour, marker="o", ms=2.5)
        dotted = style.Look(color=colour, ls=":", lw=0.9)
        for attack, attacked, line in (("pixels", table, solid), ("other", others, dotted)):
            part = marks.spread(grid[0, 2], _measured(attacked, case), "robust_accuracy", **line)
            drawn.append(part.assign(case=case, attack=attack))
    texts = {
        "a": r"PC1, $\sigma_1^2 \,/\, \Sigma_i \, \sigma_i^2$",
        "b": "mean alignment of centroids",
    }
    texts["c"] = "test accuracy"
    for axes, (letter, text) in zip(grid[0], texts.items(), strict=True):
        axes.set(xscale="log", xlabel="step", ylabel=text)
        style.letter(axes, letter)
    grid[0, 0].set_ylim(0, 1.02)
    highest = pd.concat(
        [each["median"] for each in drawn if "attack" in each] + [history["test_accuracy"]]
    ).max()
    panels.limits(grid[0, 2], "y", -0.02 * highest, 1.08 * highest)
    style.letter(grid[0, 0], f"a  {data_named(table)}, {style.seeds(history)}")
    for text, dashes in (("clean", "--"), ("attacked", "-"), ("normalised inputs attacked", ":")):
        grid[0, 0].plot([], [], color=style.GUIDE, ls=dashes, label=text)
    panels.above(made, grid[0, 0])
    return made, pd.concat(drawn, ignore_index=True)


def _measured(table: pd.DataFrame, case: str) -> pd.DataFrame:
    rows = table[(table["record"] == "robust_accuracy") & (table["case"] == case)]
    return rows[rows["step"] > 0]


def centroid_images(table: pd.DataFrame, cases: tuple[str, str]) -> FigureAndData:
    """Training images and their centroids at the end of two cases, in two blocks side by side."""
    rows = _jacobians_statistics.last_images(table)
    rows = rows[rows["seed"] == rows["seed"].min()]
    statistics.single(rows, ["case", "point"])
    points = sorted(rows["point"].unique())
    high = -(-len(points) // 2)
    made, grid = style.figure(2 * WIDE, high, height=1.28)
    for axes in grid.flat:
        axes.set_axis_off()
    for place, point in enumerate(points):
        block, row = divmod(place, high)
        trio = grid[row, WIDE * block : WIDE * (block + 1)]
        own = rows[rows["point"] == point].set_index("case")
        first = own.loc[cases[0]]
        _image(
            trio[0],
            first["input"],
            first["shape"],
            f"image {point:.0f}, label {first['label']:.0f}",
        )
        for axes, case in zip(trio[1:], cases, strict=True):
            text = f"cosine {own.at[case, 'alignment']:.2f}"
            _image(axes, own.at[case, "centroid"], own.at[case, "shape"], text)
        if row == 0:
            for axes, text in zip(trio, ("", *(SEEN[case] for case in cases)), strict=True):
                axes.set_title(text)
    made.suptitle(
        f"{data_named(rows)}, step {rows['step'].max():,.0f}", x=0.01, ha="left", fontsize=8.5
    )
    columns = ["case", "seed", "step", "point", "label", "shape", "input", "centroid", "alignment"]
    return made, rows[columns].reset_index(drop=True)


def _image(axes: Axes, entries: str, shape: str, text: str) -> None:
    """Entries in their shape, ``3x32x32`` or one square, from their least to their largest."""
    values = np.array(json.loads(entries))
    sizes = [int(size) for size in shape.split("x")]
    if len(sizes) == 1:
        side = int(np.sqrt(sizes[0]))
        sizes = [1, side, side]
    picture = values.reshape(sizes).transpose(1, 2, 0)
    span = picture.max() - picture.min()
    picture = (picture - picture.min()) / (span if span > 0 else 1)
    axes.imshow(picture if sizes[0] > 1 else picture[..., 0], cmap="gray", vmin=0, vmax=1)
    axes.set_axis_on()
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.set_xlabel(text, fontsize=6.5)
