"""The tidy table of an experiment: histories and measures joined, each row with its whole spec."""

import json
from typing import Any

import pandas as pd

from grokatlas.engine import members


def cell_rows(
    cell: dict[str, Any], spec: dict[str, Any], records: dict[str, pd.DataFrame]
) -> pd.DataFrame:
    """The rows of one cell.

    Args:
        cell: its ``case`` and ``run``.
        spec: the run's spec.
        records: ``history`` and each measure by name, with a column ``member``.

    Returns:
        the records one below the other; ``record`` says which, and the columns ``case``, ``run``,
        ``seed`` and the dotted keys of the spec hold the member's values.
    """
    described = pd.DataFrame([_described(cell, spec, member) for member in members.of(spec)])
    described["member"] = range(len(described))
    parts = []
    for name, frame in records.items():
        joined = described.merge(frame, on="member", how="inner")
        joined.insert(0, "record", name)
        parts.append(joined)
    return pd.concat(parts, ignore_index=True)


def join(parts: list[pd.DataFrame], spec: dict[str, Any]) -> pd.DataFrame:
    """The table of an experiment from the rows of its cells.

    A spec column whose values differ in type from cell to cell becomes text, so that the table can
    be stored.
    """
    table = pd.concat(parts, ignore_index=True)
    for place, key in enumerate(("paper", "experiment", "scale")):
        table.insert(place, key, spec[key])
    for column in table.columns[table.dtypes == "object"]:
        kinds = {type(value) for value in table[column].dropna()}
        if len(kinds) > 1:
            table[column] = [v if pd.isna(v) else json.dumps(v) for v in table[column]]
    return table


def _described(cell: dict[str, Any], spec: dict[str, Any], member: dict[str, Any]) -> dict:  # type: ignore[type-arg]
    blocks = {key: value for key, value in spec.items() if key != "ensemble"}
    row = {"case": cell["case"], "run": cell["run"]}
    for path, value in member.items():
        row |= _flat(path, value)
    return row | _flat("", blocks)


def _flat(path: str, value: Any) -> dict[str, Any]:
    """Nested dicts and lists as dotted columns: ``penalties.0.weight``."""
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = (  # type: ignore[assignment]
            (str(index), entry) for index, entry in enumerate(value)
        )
    else:
        return {path: value}
    flat: dict[str, Any] = {}
    for key, inner in items:
        flat |= _flat(f"{path}.{key}" if path else key, inner)
    return flat
