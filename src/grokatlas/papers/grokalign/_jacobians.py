"""Figures of Jacobians and centroids that `grokalign` and its workshop version share."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Points, Tables
from grokatlas.papers.grokalign import _jacobians_statistics, _theorems_statistics
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

SEEN = {"weight_decay": "weight decay", "grokalign": "GrokAlign"}
DASHES = {"train": "-", "test": "--"}
GINI = {"embedding": ("embedding", (0, (5, 1, 1, 1))), "logits": ("unembedded MLP", ":")}


def data_named(rows: pd.DataFrame) -> str:
    """The data that a run was trained on, for the face of a figure."""
    one = rows.iloc[0]
    if one["task.name"] == "modular_addition":
        return f"addition modulo {one['task.modulus']:.0f}"
    name, points = one["task.name"].replace("_", " "), one["task.train_points"]
    if not one.get("task.per_class"):
        return f"{name}, {points:,.0f} points"
    classes = sum(column.startswith("task.classes.") for column in rows)
    per_class = f"{points:,.0f} points of each class"
    return f"{name}, {points * classes:,.0f} points" if classes else f"{name}, {per_class}"


def rank_one(tables: list[pd.DataFrame], cases: dict[str, dict[str, str]]) -> FigureAndData:
    """PC1 of Jacobians against the step, a row for each table and a panel for each loss.

    Tables differ in the scale of their initial weights; `cases` is loss -> key of a colour -> case.
    """
    made, grid = style.figure(len(cases), len(tables), sharey=True, height=2.1)
    drawn = []
    letters = iter("abcdefgh")
    for line, table in zip(grid, tables, strict=True):
        history = table[table["record"] == "history"]
        for axes, (loss, methods) in zip(line, cases.items(), strict=True):
            own = history[history["case"].isin(methods.values())]
            scale = " to ".join(f"{value:g}" for value in sorted(set(own["model.init_scale"])))
            for key, case in methods.items():
                rows = own[own["case"] == case]
                part = _over_steps(axes, rows, "jacobian_pc1", key)
                drawn.append(part.assign(case=case, init_scale=scale))
            axes.set(ylim=(0, 1.02), xlabel="step")
            style.letter(axes, f"{next(letters)}  {loss}, initial scale {scale}")
        line[0].set_ylabel(r"PC1, $\sigma_1^2 / \sum_i \sigma_i^2$")
    grid[0, 0].legend(loc="upper left")
    named = f"{data_named(tables[0])}, {style.seeds(pd.concat(tables))}"
    made.suptitle(named, x=0.99, ha="right", fontsize=8)
    return made, pd.concat(drawn, ignore_index=True)


def kernel(table: pd.DataFrame, digitised_points: Points) -> FigureAndData:
    """The tangent kernel, inner product and alignment of a probe; feature learning as a band."""
    history = table[table["record"] == "history"]
    made, grid = style.figure(3)
    columns = {
        "ntk_mean": "mean of the tangent kernel",
        "probe_inner_product": r"$\langle x, \mu_x \rangle$",
        "probe_alignment": r"cosine of $x$ and $\mu_x$",
    }
    read = (
        ("tangent kernel", "mean"),
        ("inner product", "first point"),
        ("alignment", "first point"),
    )
    drawn = []
    for axes, (column, text), point, letter in zip(
        grid[0], columns.items(), read, "abc", strict=True
    ):
        drawn.append(_over_steps(axes, history, column, "zero_loss", label=None))
        drawn.append(marks.published(axes, digitised_points, *point, style.GUIDE))
        axes.set(xlabel="step", ylabel=text)
        style.letter(axes, letter)
    predicted = [
        part.assign(predicted=_theorems_statistics.predicted_product(part))
        for _, part in history.sort_values("step").groupby("seed")
    ]
    line = style.Look(color=style.COLOURS["test"], ls="--", lw=1.6, label="theorem 9")
    rows = pd.concat(predicted).query("step > 0")
    drawn.append(marks.spread(grid[0, 1], rows, "predicted", **line))
    if digitised_points:
        marks.published_key(grid[0, 1])
    grid[0, 1].legend(loc="best")
    first, last = _jacobians_statistics.learning(history)
    for axes in grid[0, :2] if np.isfinite(first) else []:
        axes.axvspan(first, last, color=style.COLOURS["l2"], alpha=0.15, lw=0)
    drawn.append(coloured_by_norm(made, grid[0, 2], history))
    style.letter(grid[0, 0], f"a  {data_named(history)}, {style.seeds(history)}")
    band = pd.DataFrame({"series": "band", "step": [first, last]})
    return made, pd.concat([*drawn, band], ignore_index=True)


def coloured_by_norm(
    made: Figure, axes: Axes, history: pd.DataFrame, **shades: Any
) -> pd.DataFrame:
    """Alignments of the first seed's probe, coloured by the norm of its centroid, on `shades`."""
    rows = history[history["seed"] == history["seed"].min()]
    rows = rows[rows["step"] > 0]
    mark = {"c": rows["probe_norm"], "s": 7, "cmap": "viridis", "zorder": 3}
    points = axes.scatter(rows["step"], rows["probe_alignment"], **mark, **shades)
    made.colorbar(points, ax=axes, label=r"$|\mu_x|$", pad=0.02)
    return rows[["step", "seed", "probe_alignment", "probe_norm"]].assign(series="probe")


def inhibited(table: pd.DataFrame, cases: dict[str, str]) -> FigureAndData:
    """Accuracies, norms and alignments of centroids of cases, each with a colour's key."""
    history = table[table["record"] == "history"]
    made, grid = style.figure(3)
    drawn = []
    for case, key in cases.items():
        rows = history[history["case"] == case]
        for part in DASHES:
            label = case if part == "train" else None
            seen = _over_steps(grid[0, 0], rows, f"{part}_accuracy", key, part, label)
            drawn.append(seen.assign(case=case))
        for axes, column in zip(grid[0, 1:], ("norm_mean", "alignment_mean"), strict=True):
            drawn.append(_over_steps(axes, rows, f"centroid_{column}", key).assign(case=case))
    grid[0, 0].set(ylabel="accuracy", ylim=(0, 1.04))
    grid[0, 1].set(ylabel="mean norm of centroids", yscale="log")
    grid[0, 2].set(ylabel="mean alignment of centroids")
    for axes, letter in zip(grid[0], "abc", strict=True):
        axes.set_xlabel("step")
        style.letter(axes, letter)
    style.letter(grid[0, 0], f"a  {data_named(history)}, {style.seeds(history)}")
    _legend(made, grid[0, 0])
    return made, pd.concat(drawn, ignore_index=True)


def transformers(tables: Tables, rows_of: dict[str, str], shown: tuple[str, ...]) -> FigureAndData:
    """Accuracies, alignments and Gini coefficients of transformers, a row for each experiment.

    Panels of one kind alone are drawn side by side.

    Args:
        tables: of the experiments.
        rows_of: title of a row of panels -> its experiment, with a case for each key of `SEEN`.
        shown: ``accuracy``, ``alignment`` or ``gini``, from left to right.
    """
    alone, letters = len(shown) == 1, iter("abcdefgh")
    made, grid = style.figure(*((len(rows_of), 1) if alone else (len(shown), len(rows_of))), 2.2)
    drawn = []
    for line, (title, experiment) in zip(grid.T if alone else grid, rows_of.items(), strict=True):
        history = statistics.record(tables[experiment], "history")
        named, data = f"{title}, {style.seeds(history)}", data_named(history)
        texts = iter((f"{named}, {data}",) if alone else (named, data, ""))
        for axes, panel in zip(line, shown, strict=True):
            for case in SEEN:
                rows = history[history["case"] == case]
                parts = _DRAWN[panel](axes, rows, case)
                drawn += [part.assign(experiment=experiment, case=case) for part in parts]
            axes.set_xlabel("step")
            style.letter(axes, f"{next(letters)}  {next(texts)}".rstrip())
    if "accuracy" in shown:
        _legend(made, grid[0, 0])
    else:
        lines = [grid[0, 0].plot([], [], color=style.COLOURS[key])[0] for key in SEEN]
        panels.legend(made, lines, SEEN.values(), loc="outside upper right", ncols=len(lines))
    return made, pd.concat(drawn, ignore_index=True)


def _accuracies(axes: Axes, rows: pd.DataFrame, key: str) -> list[pd.DataFrame]:
    axes.set(ylabel="accuracy", ylim=(0, 1.04))
    labels = {"train": SEEN[key], "test": None}
    return [
        _over_steps(axes, rows, f"{part}_accuracy", key, part, label)
        for part, label in labels.items()
    ]


def _alignments(axes: Axes, rows: pd.DataFrame, key: str) -> list[pd.DataFrame]:
    """The mean over training points as a line, the range over them as a band."""
    axes.set(ylabel="alignment of centroids", ylim=(-1, 1))
    names = [f"centroid_alignment_{name}" for name in ("mean", "min", "max")]
    rows = rows[rows["step"] > 0]
    parts = marks.lines(rows, names, "step")
    colour = style.COLOURS[key]
    marks.draw_lines(axes, parts, names[0], "step", color=colour, label=SEEN[key])
    for part in parts:
        bounds = (part[name] for name in names[1:])
        axes.fill_between(part["step"], *bounds, color=colour, alpha=0.15 / len(parts), lw=0)
    axes.set_xscale("log")
    return [rows.groupby("step")[names].median().reset_index().assign(series="alignment")]


def _gini(axes: Axes, rows: pd.DataFrame, key: str) -> list[pd.DataFrame]:
    axes.set(ylabel="Gini coefficient", ylim=(0, 1))
    drawn = []
    rows = rows[rows["step"] > 0]
    for name, (text, dashes) in GINI.items():
        line = style.Look(color=style.COLOURS[key], ls=dashes)
        drawn.append(marks.spread(axes, rows, f"fourier_gini_{name}", **line))
        if key == "weight_decay":
            axes.plot([], [], color=style.GUIDE, ls=dashes, label=text)
    axes.set_xscale("log")
    axes.legend(loc="best", handlelength=2.6)
    return drawn


_DRAWN = {"accuracy": _accuracies, "alignment": _alignments, "gini": _gini}


def scales(table: pd.DataFrame, cases: dict[str, str]) -> FigureAndData:
    """First rates of features and extreme alignments; `cases` is case -> the path of its scale."""
    drawn = [_jacobians_statistics.over_scales(table, *item) for item in cases.items()]
    made, grid = style.figure(2)
    alignments = pd.concat(drawn)["alignment"]
    shades = {"vmin": alignments.min(), "vmax": alignments.max()}
    looks = zip("o^", style.MEMBERS, strict=False)
    for case, rows, (marker, colour) in zip(cases, list(drawn), looks, strict=True):
        seen = grid[0, 0].scatter(
            rows["reciprocal_norm"],
            rows["rate"].abs(),
            c=rows["alignment"],
            marker=marker,
            cmap="viridis",
            s=18,
            **shades,
        )
        look = {"marker": marker, "ms": 4, "label": f"scaled {case}"}
        grid[0, 0].plot([], [], color=style.GUIDE, ls="none", **look)
        line = marks.spread(grid[0, 1], rows, "alignment", "scale", color=colour, **look)
        drawn.append(line.assign(case=case))
    made.colorbar(seen, ax=grid[0, 0], label="extreme alignment", pad=0.02)
    grid[0, 0].set(xscale="log", yscale="log", xlabel=r"mean of $1 / |\mu_x|$ at the start")
    grid[0, 0].set_ylabel(r"$|d \langle x, \mu_x \rangle / d$step$|$ at the start")
    grid[0, 0].legend()
    shown = sorted(drawn[0]["scale"].unique())
    grid[0, 1].set(xscale="log", xlabel="scale", ylabel="extreme alignment")
    grid[0, 1].set_xticks(shown, [f"{scale:g}" for scale in shown])
    grid[0, 1].set_xticks([], minor=True)
    grid[0, 1].legend()
    style.letter(grid[0, 0], f"a  {data_named(table)}, {style.seeds(table)}")
    style.letter(grid[0, 1], "b")
    return made, pd.concat(drawn, ignore_index=True)


def _over_steps(
    axes: Axes,
    rows: pd.DataFrame,
    column: str,
    key: str,
    part: str = "train",
    label: str | None = "",
) -> pd.DataFrame:
    """Median and range over seeds against a logarithmic step, in a method's colour."""
    label = SEEN.get(key, key) if label == "" else label
    keywords = style.Look(color=style.COLOURS[key], ls=DASHES[part], label=label)
    drawn = marks.spread(axes, rows[rows["step"] > 0], column, **keywords)
    axes.set_xscale("log")
    return drawn


def _legend(made: Figure, axes: Axes) -> None:
    """Methods by their colours and parts by their dashes, above all panels."""
    for part, dashes in DASHES.items():
        axes.plot([], [], color=style.GUIDE, ls=dashes, label=part)
    panels.above(made, axes)
