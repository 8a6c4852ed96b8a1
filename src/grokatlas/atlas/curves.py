"""A figure's data as curves to look at closely: which column is what, thinned, coloured."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from grokatlas.plots import marks, style

MOST_POINTS = 20_000  # rows of a figure, all curves together
MOST_NUMBERS = 250_000  # rows times columns: a page has to open
FEWEST_POINTS = 5  # of the longest curve: fewer are no curve
MOST_VALUES = 40  # of a column that distinguishes curves
MOST_NUMERIC_VALUES = 12  # of such a column of numbers
LONGEST_VALUE = 60  # characters; longer texts are data, such as a polygon

ABSCISSAE = ("step", "time", "tau", "slow_time", "t")
SEEDS = ("seed", "member")
BAND = ("low", "high")
NO_ORDINATE = (*BAND, "seeds", "count")
FIRST_SHOWN = ("accuracy", "error", "loss", "mse")  # of series that share an axis badly


@dataclass(frozen=True)
class Layout:
    """The parts of a figure's columns: abscissa, ordinates, and groups, the seed last."""

    x: str
    y: tuple[str, ...]
    groups: tuple[str, ...]


def layout(frame: pd.DataFrame) -> Layout | None:
    """Infer abscissa, ordinates and groups; None where the data are no curves.

    The abscissa is the column of time, else a dotted hyperparameter. Columns of text or truth
    values with few values distinguish curves, and so do seeds and dotted hyperparameters; other
    numbers with few values only if points would coincide without them.
    """
    numeric = [c for c in frame if _is_numeric(frame[c]) and frame[c].notna().any()]
    groups = [c for c in frame if c not in numeric and _tells_apart(frame[c])]
    few = [c for c in numeric if frame[c].nunique() <= MOST_NUMERIC_VALUES]
    groups += [c for c in few if c in SEEDS]
    x = _abscissa(frame, numeric)
    if x is None:
        return None
    rows = frame[frame[x].notna()]
    groups += [c for c in few if "." in c and c != x and not _member_of_family(c, numeric)]
    for column in few:
        if column in groups or column == x or column in NO_ORDINATE:
            continue
        left = rows.duplicated([*groups, x]).sum()
        if left and rows.duplicated([*groups, column, x]).sum() < left / 2:
            groups.append(column)
    taken = (x, *groups, *SEEDS, *NO_ORDINATE)
    y = [c for c in numeric if c not in taken and rows[c].nunique() > 1]
    rows = rows.dropna(how="all", subset=y)
    groups = [c for c in groups if rows[c].nunique(dropna=False) > 1]
    sizes = rows.groupby(groups, dropna=False)[x].nunique() if groups else [rows[x].nunique()]
    if not y or max(sizes, default=0) < FEWEST_POINTS:
        return None
    return Layout(x, tuple(y), tuple(sorted(groups, key=_rank)))


def data(frame: pd.DataFrame) -> dict[str, Any] | None:
    """All that a page needs to draw a figure's curves, as plain data; None where it has none.

    Args:
        frame: the figure's csv.

    Returns:
        ``x`` and ``y`` (choices: label to columns), ``groups`` (values, their colours, and which
        are shown at first), ``curves`` (group values and columns of numbers, null where there is
        none), ``band`` (whether `low` and `high` bound the ordinate ``median`` or ``value``),
        ``points`` and ``of`` (rows kept and rows there).
    """
    columns_as = layout(frame)
    if columns_as is None:
        return None
    rows = frame[frame[columns_as.x].notna()].dropna(how="all", subset=list(columns_as.y))
    if {"median", "seeds"} <= set(rows):  # of few seeds no median is a curve: the range alone
        rows = rows.assign(median=rows["median"].mask(rows["seeds"].between(2, marks.FEWEST - 1)))
    band = [c for c in BAND if c in rows and {"median", "value"} & set(columns_as.y)]
    columns = [columns_as.x, *columns_as.y, *band]
    parts = _parts(rows, columns_as)
    room = min(MOST_POINTS, MOST_NUMBERS // len(columns))
    thinned = [_thinned(part, len(rows), room) for _, part in parts]
    curves = [
        {"group": list(key), "columns": {c: _numbers(part[c]) for c in columns}}
        for (key, _), part in zip(parts, thinned, strict=True)
    ]
    values = {
        group: sorted({key[index] for key, _ in parts}, key=_natural)
        for index, group in enumerate(columns_as.groups)
    }
    return {
        "x": [columns_as.x, *columns_as.y],
        "y": choices(list(columns_as.y)),
        "groups": [
            {
                "name": group,
                "values": values[group],
                "colours": colours(values[group], shared=group == "series"),
                "shown": _shown(values[group]) if group == "series" else values[group],
            }
            for group in columns_as.groups
        ],
        "colours": dict(zip(columns_as.y, colours(list(columns_as.y), shared=True), strict=True)),
        "band": bool(band),
        "curves": curves,
        "points": sum(map(len, thinned)),
        "of": len(rows),
    }


def choices(columns: list[str]) -> list[dict[str, Any]]:
    """The choices of a reader: both of train and test, a column, or all of a family.

    A family's columns differ only by a last number, such as ``singular_values.0``.
    """
    pairs = [
        {"label": f"train and test {rest}", "columns": [f"train_{rest}", f"test_{rest}"]}
        for rest in (c.removeprefix("train_") for c in columns if c.startswith("train_"))
        if f"test_{rest}" in columns
    ]
    members: dict[str, list[str]] = {}
    for column in columns:
        together = _member_of_family(column, columns)
        members.setdefault(f"{_family(column)}.*" if together else column, []).append(column)
    return pairs + [{"label": label, "columns": each} for label, each in members.items()]


def colours(values: list[str], shared: bool = False) -> list[str]:
    """A colour for each value: the project's own where it has one, shades for numbers.

    Args:
        values: of a group, or names of columns.
        shared: let values of one kind share its colour, as all test errors and accuracies do.
    """
    numbers = [_number(value) for value in values if value != ""]
    if len(numbers) > 1 and all(number is not None for number in numbers):
        shades = style.sequence(sorted({n for n in numbers if n is not None}))
        own = [_number(value) for value in values]
        return [style.hexadecimal(shades[n]) if n is not None else "#555555" for n in own]
    named = [_key(value) for value in values]
    named = [key if shared or named.count(key) == 1 else None for key in named]
    taken = {style.COLOURS[key] for key in named if key}
    free = iter([c for c in (*style.MEMBERS, *style.COLOURS.values()) if c not in taken] * 20)
    return [style.COLOURS[key] if key else next(free) for key in named]


def _abscissa(frame: pd.DataFrame, numeric: list[str]) -> str | None:
    """The column of time if there is one, else the first hyperparameter with enough values."""
    enough = [c for c in numeric if frame[c].nunique() >= FEWEST_POINTS]
    named = [name for name in ABSCISSAE if name in enough]
    dotted = [c for c in enough if "." in c and not _member_of_family(c, numeric)]
    return next(iter([*named, *dotted]), None)


def _parts(rows: pd.DataFrame, columns: Layout) -> list[tuple[tuple[str, ...], pd.DataFrame]]:
    """The curves: the group values as text, and the rows by rising abscissa."""
    rows = rows.sort_values(columns.x, kind="stable")
    if not columns.groups:
        return [((), rows)]
    texts = [rows[group].map(_text) for group in columns.groups]
    parts = [(key, part) for key, part in rows.groupby(texts, sort=False)]
    return sorted(parts, key=lambda each: [_natural(value) for value in each[0]])


def _thinned(part: pd.DataFrame, total: int, room: int) -> pd.DataFrame:
    """As much of a curve as its share of the room, evenly, with both its ends."""
    if total <= room:
        return part
    keep = max(2, int(len(part) * room / total))
    return part.iloc[np.unique(np.linspace(0, len(part) - 1, keep).round().astype(int))]


def _numbers(column: pd.Series) -> list[float | None]:
    """Six digits of each; the csv has all."""
    values = column.astype("float64").to_numpy()
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in values]


def _is_numeric(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _tells_apart(column: pd.Series) -> bool:
    texts = column.dropna().map(str)
    return 1 <= texts.nunique() <= MOST_VALUES and texts.str.len().max() <= LONGEST_VALUE


def _family(column: str) -> str | None:
    match = re.fullmatch(r"(.+)\.\d+", column)
    return match[1] if match else None


def _member_of_family(column: str, columns: list[str]) -> bool:
    family = _family(column)
    return family is not None and sum(_family(other) == family for other in columns) > 1


def _rank(group: str) -> tuple[int, str]:
    order = {"series": 0, "panel": 1, "case": 2}
    return (5 if group in SEEDS else order.get(group, 3), group)


def _text(value: Any) -> str:
    """A group's value: whole numbers without point, nothing for a missing one."""
    if pd.isna(value):
        return ""
    if isinstance(value, float):
        return f"{value:.12g}"
    return str(value)


def _natural(text: str) -> tuple[bool, float, list[tuple[str, int]]]:
    """Numbers by size, then texts with the numbers in them by size."""
    number = _number(text)
    words = [(word, int(digits or 0)) for word, digits in re.findall(r"(\D*)(\d*)", text)]
    return (number is None, 0.0 if number is None else number, words)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _key(value: str) -> str | None:
    """The key of the palette that a value names: ``train`` of ``train_accuracy``."""
    words = re.split(r"[^a-z0-9]+", value.lower())
    keys = [key for key in style.COLOURS if key in words or key == value]
    return keys[0] if keys else None


def _shown(series: list[str]) -> list[str]:
    """Series that share an axis well, to begin with: those of the same kind."""
    kinds = [re.split(r"[_.]", name)[-1] for name in series]
    kind = next((first for first in FIRST_SHOWN if first in kinds), None)
    if kind is None:
        return series
    return [name for name, own in zip(series, kinds, strict=True) if own in (kind, "")]
