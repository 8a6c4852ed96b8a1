"""The runs of a trial: what was logged of training and test data, one colour for each setting."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from grokatlas.claims.statistics import Tables
from grokatlas.errors import UserError
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

FIRST = ("loss", "accuracy", "error", "squared_error")  # what is drawn first
PANELS = 4
ENTRIES = 20  # of an array that are drawn
SETTING = "setting"  # the column that says what a row's run has of its own
SIDES = {"train": ":", "test": "-"}
BLOCKS = (
    *("task", "model", "loss", "optimizer", "dynamics", "penalties"),
    *("gradients", "inputs", "train"),
)
NAMED = 10  # settings that a legend names


def draw(tables: Tables) -> FigureAndData:
    """One panel for each quantity: median and range over seeds, or each of a few."""
    (table,) = tables.values()
    rows = table[(table["record"] == "history") & (table["step"] > 0)]
    rows = rows.assign(**{SETTING: _settings(rows)})
    shown = quantities([*rows.columns])
    made, grid = style.figure(min(len(shown), 2), (len(shown) + 1) // 2, height=3)
    colours = _colours(rows)
    drawn = []
    for axes, (quantity, columns) in zip(grid.flat, shown, strict=False):
        for column, line in columns:
            for setting, part in rows.dropna(subset=[column]).groupby("setting", sort=False):
                keywords = {"color": colours[setting], "ls": line}
                frame = marks.spread(axes, part, column, **keywords)
                drawn.append(frame.assign(setting=setting))
        _finish(axes, quantity, columns)
    for axes in grid.flat[len(shown) :]:
        axes.set_axis_off()
    keys = [
        Line2D([], [], color=colours[setting_named], label=setting_named)
        for setting_named in [*colours][:NAMED]
    ]
    more = len(colours) - NAMED
    title = f"{NAMED} of {len(colours)}" if more > 0 else None
    panels.legend(made, handles=keys, loc="outside upper left", ncols=3, fontsize=6, title=title)
    return made, pd.concat(drawn, ignore_index=True)


def quantities(columns: list[str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The name of each panel, and its columns with the line of each.

    Of training and test data, else of what is logged in one number, else the first entries of
    arrays.

    Raises:
        UserError: nothing is logged.
    """
    solid = SIDES["test"]
    pairs: dict[str, list[tuple[str, str]]] = {}
    for column in columns:
        side, _, quantity = column.partition("_")
        if side in SIDES and quantity:
            pairs.setdefault(quantity, []).append((column, SIDES[side]))
    logged = columns[columns.index("step") + 1 :] if "step" in columns else []
    if not pairs:
        pairs = {name: [(name, solid)] for name in logged if "." not in name and name != SETTING}
    if not pairs:
        for name in logged:
            array = name.rstrip("0123456789.")
            if array != name and len(pairs.setdefault(array, [])) < ENTRIES:
                pairs[array].append((name, solid))
    if not pairs:
        raise UserError("trial", "its runs log no number, so that there is nothing to draw")
    order = [name for name in FIRST if name in pairs]
    order += [name for name in pairs if name not in order]
    return [(name, pairs[name]) for name in order[:PANELS]]


def _settings(rows: pd.DataFrame) -> list[str]:
    """The setting of each row's run: its case, and the values in which runs differ."""
    own = [c for c in rows if c.partition(".")[0] in BLOCKS and rows[c].nunique(dropna=False) > 1]
    cases = [] if rows["case"].astype(str).str.contains("=").any() else [*rows["case"].unique()]
    parts = [[str(case) for case in rows["case"]]] if len(cases) > 1 else []
    parts += [[f"{path} {_number(value)}" for value in rows[path]] for path in own]
    return [", ".join(values) for values in zip(*parts, strict=True)] or ["all"] * len(rows)


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _colours(rows: pd.DataFrame) -> dict[str, Any]:
    """A colour for each setting; of many, darker is later in the list."""
    settings = [*rows["setting"].unique()]
    if len(settings) <= len(style.MEMBERS):
        return dict(zip(settings, style.MEMBERS, strict=False))
    return dict(zip(settings, style.sequence(range(len(settings))).values(), strict=True))


def _finish(axes: Axes, quantity: str, columns: list[tuple[str, str]]) -> None:
    axes.set_xscale("log")
    is_array = "." in columns[0][0]
    if not is_array and "accuracy" not in quantity:
        axes.set_yscale("log")
    axes.set(xlabel="step", ylabel=quantity.replace("_", " "))
    if is_array:
        style.letter(axes, f"{quantity}: first entries")
        return
    sides = {"-": "solid", ":": "dotted"}
    lines = [
        f"{column.partition('_')[0]} {sides[line]}"
        for column, line in columns
        if column != quantity
    ]
    style.letter(axes, ": ".join(filter(None, [quantity.replace("_", " "), ", ".join(lines)])))
