"""Curves against steps, one colour for each setting: a figure that is declared and has no code.

Trials are drawn so as well (`grokatlas try`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from grokatlas.errors import UserError, nearest
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

FIRST = ("loss", "accuracy", "error", "squared_error")  # what is drawn first
PANELS = 4  # where no columns are named
ENTRIES = 20  # of an array that are drawn
DIVERGED = 1e3  # times its first value: what ends above diverged, and may leave its panel
SETTING, GROUP = "setting", "group"  # columns: what a row's run has of its own; see `_rows`
SIDES = {"train": ":", "test": "-"}
BLOCKS = (
    *("task", "model", "loss", "optimizer", "dynamics", "penalties"),
    *("gradients", "updates", "inputs", "train", "start"),
)
NAMED = 10  # settings that a legend names
Panel = tuple[str, list[tuple[str, str]]]  # its quantity; columns with the line of each


def draw(
    tables: Mapping[str, pd.DataFrame], published: Mapping[str, Any] | None = None
) -> FigureAndData:
    """One panel for each quantity: median and range over seeds, or each of a few.

    From where a seed has ended, by its stop or as it diverged, each other one is a thin line: a
    median of those that are left may rise where none of them does.

    Args:
        tables: by experiment.
        published: the block ``draw`` of the figure under that name, if it has one: ``columns``,
            ``cases``, ``x`` and ``y`` (`grokatlas.declare.drawing`).

    Raises:
        UserError: nothing is logged, or no table has a column that is named.
    """
    asked = (published or {}).get("draw", {})
    x = asked.get("x", "log")
    rows = _rows(tables, asked.get("cases"))
    rows = rows[rows["step"] > 0] if x == "log" else rows
    rows = rows.assign(**{SETTING: _settings(rows)})
    columns = asked.get("columns")
    history = rows[rows["record"] == "history"].drop(columns=[SETTING, GROUP])
    logged = [*history.dropna(axis="columns", how="all")]
    shown = named(columns, rows) if columns else quantities(logged)
    made, grid = style.figure(min(len(shown), 2), (len(shown) + 1) // 2, height=3)
    colours = _colours(rows)
    drawn = []
    for axes, (quantity, lines) in zip(grid.flat, shown, strict=False):
        for column, line in lines:
            drawn += _lines(axes, _of_one_record(rows, column), column, line, colours)
        _finish(axes, quantity, lines, x, asked.get("y"))
    for axes in grid.flat[len(shown) :]:
        axes.set_axis_off()
    _legend(made, colours)
    return made, pd.concat(drawn, ignore_index=True)


def quantities(columns: list[str]) -> list[Panel]:
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
        pairs = {name: [(name, solid)] for name in logged if "." not in name}
    if not pairs:
        for name in logged:
            array = name.rstrip("0123456789.")
            if array != name and len(pairs.setdefault(array, [])) < ENTRIES:
                pairs[array].append((name, solid))
    if not pairs:
        raise UserError("curves", "its runs log no number, so that there is nothing to draw")
    order = [name for name in FIRST if name in pairs]
    order += [name for name in pairs if name not in order]
    return [(name, pairs[name]) for name in order[:PANELS]]


def named(columns: list[str], rows: pd.DataFrame) -> list[Panel]:
    """The panels of columns that are named: those of training and test data share one.

    Raises:
        UserError: there is no such column of numbers.
    """
    there = [*rows.drop(columns=[SETTING, GROUP])]
    numbers = rows[there[there.index("step") + 1 :]].select_dtypes("number")
    pairs: dict[str, list[tuple[str, str]]] = {}
    for column in columns:
        if column not in numbers:
            raise UserError("draw.columns", f"no column {column!r}; {nearest(column, [*numbers])}")
        side, _, quantity = column.partition("_")
        name, line = (quantity, SIDES[side]) if side in SIDES else (column, SIDES["test"])
        pairs.setdefault(name or column, []).append((column, line))
    return [*pairs.items()]


def _rows(tables: Mapping[str, pd.DataFrame], cases: list[str] | None) -> pd.DataFrame:
    """The rows that have a step, of all cases or of some in their order.

    A column ``case`` names them as a figure does: ``experiment/case`` of several experiments, the
    experiment where it has no cases. `GROUP` is the same, but one for all points of a sweep.
    """
    parts = []
    for name, table in tables.items():
        rows = table.dropna(subset=["step"])
        before = f"{name}/" if len(tables) > 1 else ""
        named = [f"{before}{case}" if case else name for case in rows["case"]]
        group = [name if "=" in case else case for case in named]
        parts.append(rows.assign(**{"case": named, GROUP: group}))
    joined = pd.concat(parts, ignore_index=True)
    if cases is None:
        return joined
    return pd.concat([joined[joined["case"] == case] for case in cases], ignore_index=True)


def _settings(rows: pd.DataFrame) -> list[str]:
    """The setting of each row's run: its case, and the values in which runs of a case differ."""
    settings = [column for column in rows if column.partition(".")[0] in BLOCKS]
    differ = rows.groupby(GROUP)[settings].nunique(dropna=False).max() > 1
    parts = [[*rows[GROUP]]] if rows[GROUP].nunique() > 1 else []
    parts += [[f"{path} {_number(v)}" for v in rows[path]] for path in settings if differ[path]]
    texts = [", ".join(values) for values in zip(*parts, strict=True)] or ["all"] * len(rows)
    return texts if len({*texts}) >= rows["case"].nunique() else [*rows["case"]]


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _of_one_record(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The rows that have a column: of the history, else of the first measure that has it."""
    there = rows.dropna(subset=[column])
    records = [*there["record"].unique()]
    return there[there["record"] == ("history" if "history" in records else (records or [""])[0])]


def _lines(
    axes: Axes, rows: pd.DataFrame, column: str, line: str, colours: dict[str, Any]
) -> list[pd.DataFrame]:
    """Draw a column, one line for each setting; what each shows."""
    drawn = []
    for setting, part in rows.groupby(SETTING, sort=False):
        keywords = {"color": colours[str(setting)], "ls": line}
        for rows_of_line, width in _while_all_last(part, column):
            frame = marks.spread(axes, rows_of_line, column, **keywords, **width)
            drawn.append(frame.assign(case=part["case"].iloc[0], setting=setting))
    return drawn


def _while_all_last(rows: pd.DataFrame, column: str) -> Iterator[tuple[pd.DataFrame, Any]]:
    """The rows up to where the first seed ends; then those of each other one, a thin line."""
    known = rows.dropna(subset=[column])
    end = known.groupby("seed")["step"].max().min()
    after = known[known["step"] > end]
    if marks.few(known) or after.empty:
        yield rows, {}
        return
    yield known[known["step"] <= end], {}
    for seed in after["seed"].unique():
        own = known[(known["seed"] == seed) & (known["step"] >= end)]
        yield own, {"lw": marks.THIN * mpl.rcParams["lines.linewidth"]}


def _colours(rows: pd.DataFrame) -> dict[str, Any]:
    """A colour for each setting; of many, darker is later in the list."""
    settings = [*rows[SETTING].unique()]
    if len(settings) <= len(style.MEMBERS):
        return dict(zip(settings, style.MEMBERS, strict=False))
    return dict(zip(settings, style.sequence(range(len(settings))).values(), strict=True))


def _legend(made: Any, colours: dict[str, Any]) -> None:
    """The settings above all panels, the first of many; nothing where there is one."""
    if len(colours) < 2:
        return
    keys = [Line2D([], [], color=colours[each], label=each) for each in [*colours][:NAMED]]
    title = f"{NAMED} of {len(colours)}" if len(colours) > NAMED else None
    panels.legend(made, handles=keys, loc="outside upper left", ncols=3, fontsize=6, title=title)


def _end_where_diverged(axes: Axes) -> None:
    """End an ordinate that a diverged run would stretch until nothing else can be seen."""
    lines = [np.asarray(line.get_xydata(), float) for line in axes.lines]
    lines = [line[np.isfinite(line[:, 1]) & (line[:, 1] > 0)] for line in lines]
    lines = [line for line in lines if len(line)]
    first = min((line[0, 0] for line in lines), default=0)
    begun = [line[:, 1] for line in lines if line[0, 0] == first]
    sound = [values.max() for values in begun if values[-1] <= DIVERGED * values[0]]
    end = DIVERGED * max(sound, default=np.inf)
    if any((line[:, 1] > end).any() for line in lines):
        axes.autoscale(False, "y")  # of such values it overflows
        panels.limits(axes, "y", min(line[:, 1].min() for line in lines) / 2, end)


def _finish(axes: Axes, quantity: str, lines: list[tuple[str, str]], x: str, y: str | None) -> None:
    """Scales and words of a panel; its ordinate is logarithmic where that can show all of it."""
    is_array = "." in lines[0][0]
    is_signed = any((np.asarray(line.get_ydata(), float) < 0).any() for line in axes.lines)
    as_it_is = is_array or is_signed or "accuracy" in quantity
    axes.set_xscale(x)
    scale = y or ("linear" if as_it_is else "log")
    if scale == "log":
        _end_where_diverged(axes)
    axes.set_yscale(scale)
    axes.set(xlabel="step", ylabel=quantity.replace("_", " "))
    if x == "log":
        axes.xaxis.set_minor_formatter(NullFormatter())  # the labels of one decade overlap
    if is_array:
        style.letter(axes, f"{quantity}: first entries")
        return
    sides = {"-": "solid", ":": "dotted"}
    words = [f"{column.partition('_')[0]} {sides[line]}" for column, line in lines]
    words = [word for word, (column, _) in zip(words, lines, strict=True) if column != quantity]
    style.letter(axes, ": ".join(filter(None, [quantity.replace("_", " "), ", ".join(words)])))
