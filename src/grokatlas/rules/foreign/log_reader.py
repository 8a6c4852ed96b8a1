"""Logs of other hands as a history: ``member``, ``step`` and the columns that are named.

Nothing is repaired: what a history cannot be is an error that names the file, the member and the
step.
"""

import functools
import itertools
from pathlib import Path
from typing import Any

import pandas as pd

from grokatlas.errors import UserError, nearest, shown
from grokatlas.results.foreign import ACCURACY, TAKEN
from grokatlas.results.placeholders import filled
from grokatlas.rules.foreign import log_formats

ROUNDED = 1e-9  # of a step, which may be a product that was rounded: 0.29 epochs of 100 updates
LONGEST = 2**53  # above it a float64 holds only some of the whole numbers
SPARSE = ("wandb", "tensorboard")  # formats whose columns need not be logged at the same steps

Member = dict[str, Any]


def history(
    block: dict[str, Any], file: str, members: list[Member], axes: dict[str, list[Any]]
) -> pd.DataFrame:
    """The history of a run.

    Args:
        block: `import` or `script` of its spec.
        file: the log, with axes in braces.
        members: the values of each member.
        axes: of the ensemble, with all their values.

    Returns:
        one row for each member and logged step: ``member`` and ``step`` (int64), then the columns
        (float64).

    Raises:
        UserError: a file, a row or a column is missing, a value is not finite, an accuracy is no
            share; steps are not whole, sorted and each there once; or a member is logged at steps
            of its own, or has columns of its own.
    """

    @functools.cache
    def read(name: str) -> pd.DataFrame:
        return _selected(log_formats.read(Path(name), block), name, block.get("where", {}))

    parts = []
    for number, member in enumerate(members):
        name = filled(file, member)
        of_member = {k: v for k, v in member.items() if k in (block.get("columns") or {}).values()}
        names = ", ".join(f"{axis} {value}" for axis, value in member.items())
        rows = _rows(read(name), name, block, member)
        if block["format"] in SPARSE:
            rows = rows.dropna(subset=[*of_member])
        for axis in of_member:
            _check_declared(rows[axis], axis, axes[axis], name)
            rows = rows[_equal(rows[axis], member[axis])]
            if rows.empty:
                raise UserError(name, f"has no row of the member with {names}")
        part = _numbers(rows.drop(columns=[*of_member]), f"{name} ({names})", block)
        parts.append(part)
        check_columns(parts, f"{name} ({names})")
        check_steps(parts, f"{name} ({names})")
        part.insert(0, "member", number)
    return pd.concat(parts, ignore_index=True)


def _selected(table: pd.DataFrame, name: str, where: dict[str, Any]) -> pd.DataFrame:
    """The rows that have these values."""
    for column, value in where.items():
        _check_column(table, column, name)
        chosen = table[_equal(table[column], value)]
        if chosen.empty:
            there = ", ".join(map(shown, table[column].unique()[:10].tolist()))
            raise UserError(name, f"no row has {column} {shown(value)}; it has {there}")
        table = chosen
    return table


def _rows(table: pd.DataFrame, name: str, block: dict[str, Any], member: Member) -> pd.DataFrame:
    """The columns that are named, by their names here."""
    if "columns" in block:
        columns = {filled(theirs, member): ours for theirs, ours in block["columns"].items()}
    else:
        numbers = _numeric(table.drop(columns=[*block.get("where", {})]))
        columns = {column: column for column in numbers}
    for theirs in columns:
        _check_column(table, theirs, name)
    rows = table[[*columns]].rename(columns=columns)
    if "step" not in rows:
        known = ", ".join(map(str, table.columns))
        problem = f"no column is called step (it has {known})"
        raise UserError(name, f"{problem}; name it in columns, as {{epoch: step}}")
    if "columns" not in block and (taken := [each for each in rows if each in (*TAKEN, *member)]):
        problem = f"{taken[0]} is a column of its table already; name what you need in `columns`"
        raise UserError(name, problem)
    for factor in block.get("factors", {}):
        if factor not in rows:
            raise UserError(name, f"factors: no column {factor!r}; {nearest(factor, [*rows])}")
    return rows


def _numeric(table: pd.DataFrame) -> list[str]:
    """The columns in which there is a number; a word beside it is refused, not left out."""
    numeric = table.select_dtypes("number")
    columns = ((column, cells.dropna()) for column, cells in table.items())
    return [c for c, cells in columns if c in numeric or any(map(_is_number, cells))]


def _is_number(cell: Any) -> bool:
    """True for a number, also one that is not finite, and for the text of one."""
    try:
        float(cell)
    except (ValueError, TypeError):
        return False
    return not isinstance(cell, bool)


def _check_column(table: pd.DataFrame, column: str, name: str) -> None:
    known = [str(each) for each in table.columns]
    if column not in table:
        raise UserError(name, f"no column {column!r}; {nearest(column, known)}")
    if known.count(column) > 1:
        raise UserError(name, f"{column} is the name of two columns; rename one in the log")


def _check_declared(values: pd.Series, axis: str, declared: list[Any], name: str) -> None:
    """A file holds no member that the ensemble lacks."""
    others = values[~pd.concat([_equal(values, each) for each in declared], axis=1).any(axis=1)]
    if not others.empty:
        problem = f"has {axis} {others.iloc[0]}, which ensemble lacks"
        raise UserError(name, f"{problem}; add it there, or choose rows by `where`")


def _equal(column: pd.Series, value: Any) -> pd.Series:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return pd.to_numeric(column, errors="coerce") == value
    return column.astype(str) == str(value)


def _numbers(rows: pd.DataFrame, place: str, block: dict[str, Any]) -> pd.DataFrame:
    """Finite numbers, times their factors; shares where an accuracy is one."""
    made, sparse = {}, block["format"] in SPARSE
    for column in ["step", *(each for each in rows if each != "step")]:
        values = pd.to_numeric(rows[column], errors="coerce").astype("float64")
        bad = ~(values.abs() < float("inf")) & ~(sparse & rows[column].isna())
        if rows[column].dtype in ("bool", "object"):
            bad |= rows[column].map(lambda cell: isinstance(cell, bool))
        if bad.any():
            at = "" if column == "step" else f" at step {rows.loc[bad, 'step'].iloc[0]}"
            what = shown(rows.loc[bad, column].iloc[0])
            problem = f"{column}{at} is {what}, not a finite number; end the log before it"
            raise UserError(place, f"{problem}, or name `columns` without it")
        made[column] = values * block.get("factors", {}).get(column, 1.0)
        outside = (made[column] < 0) | (made[column] > 1)
        if ACCURACY.fullmatch(column) and outside.any():
            problem = f"{column} is {made[column][outside].iloc[0]:g}, and an accuracy here is a"
            todo = f"share from 0 to 1; if it is in percent, write factors: {{{column}: 0.01}}"
            raise UserError(place, f"{problem} {todo}")
    frame = pd.DataFrame(made).dropna().reset_index(drop=True)
    if frame.empty:
        raise UserError(place, f"no step has all of {', '.join(made)}; name fewer columns")
    nearest_whole = frame["step"].round()
    near = (frame["step"] - nearest_whole).abs() <= ROUNDED * nearest_whole.clip(1, 1e7)
    whole = near & (nearest_whole >= 0) & (nearest_whole < LONGEST)
    if not whole.all():
        value = frame["step"][~whole].iloc[0]
        problem = f"step {value:g} is no whole number from 0 to 2^53"
        raise UserError(place, f"{problem}; of epochs, write factors: {{step: batches of one}}")
    return frame.assign(step=nearest_whole.astype("int64"))


def check_columns(parts: list[pd.DataFrame], place: str) -> None:
    """Require of the last part, which is at this place, the columns of the first."""
    differ = sorted({*parts[0]}.symmetric_difference(parts[-1]) - {"member"})
    if differ:
        problem = f"{differ[0]} is a column of some members alone"
        raise UserError(place, f"{problem}; name what all of them have in `columns`")


def check_steps(parts: list[pd.DataFrame], place: str) -> None:
    """Require of the last part rising steps, those of the first as long as both are logged."""
    steps = parts[-1]["step"]
    for before, step in itertools.pairwise(steps):
        if step == before:
            problem = f"step {step} is there twice; is another member in the same rows?"
            raise UserError(place, f"{problem} Name what tells them apart in `columns` or `where`")
        if step < before:
            raise UserError(place, f"step {step} comes after step {before}; sort the log by step")
    common = min(len(steps), len(parts[0]))
    differ = steps.iloc[:common].to_numpy() != parts[0]["step"].iloc[:common].to_numpy()
    if differ.any():
        own, first = steps.iloc[differ.argmax()], parts[0]["step"].iloc[differ.argmax()]
        problem = f"is logged at step {own} where the first member is at {first}"
        raise UserError(place, f"{problem}; give members with steps of their own a case each")
