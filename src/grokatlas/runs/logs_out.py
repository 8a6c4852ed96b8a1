"""Logs of runs for other programs: a csv or an event file a member, and what columns mean."""

import collections
import fnmatch
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.declare import signatures
from grokatlas.engine import members as run_members
from grokatlas.errors import UserError
from grokatlas.results import files, foreign, layout
from grokatlas.runs.run import RunEntry

DICTIONARY = "datapackage.json"  # Frictionless Data: https://datapackage.org/standard/table-schema
NAME = "runs"  # of the package of all logs
STEP = {"name": "step", "type": "integer", "description": "parameter updates", "unit": "updates"}

Listed = list[tuple[RunEntry, list[int]]]


def write(listed: Listed, csv: Path | None, tensorboard: Path | None) -> str:
    """Write the logs of some members, and say how many.

    Args:
        listed: runs, each with the members that are asked for; one without a history is left out.
        csv: folder of ``<run>-<member>.csv``, ``step`` first, and of a `DICTIONARY` of columns.
        tensorboard: folder of a folder ``<run>-<member>`` each, with event files.

    Raises:
        UserError: the library of event files is missing, or a file cannot be read or written.
    """
    packages: list[dict[str, Any]] = []
    written = 0
    known = collections.Counter(run.id for run, _ in listed)
    if twice := [run for run, count in known.items() if count > 1]:
        problem = f"is listed in {known[twice[0]]} versions, which would have one name"
        raise UserError(f"run {twice[0]}", f"{problem}; choose one by --state or a condition")
    if csv:
        _refuse_other(csv / DICTIONARY)
    for run, members in listed:
        history = next((h for h in map(_history, run.places.values()) if h.is_file()), None)
        if history is None:
            continue
        table = files.read_parquet(history)
        for member in members:
            rows = table[table["member"] == member].drop(columns="member")
            rows = rows[["step", *(name for name in rows if name != "step")]]
            name = f"{run.id}-{member}"
            if csv:
                files.write_csv(csv / f"{name}.csv", rows)
                packages.append(_package(name, run, member, list(rows)))
            if tensorboard:
                _write_events(tensorboard / name, rows)
            written += 1
    if csv and packages:
        files.write_json(csv / DICTIONARY, {"name": NAME, "resources": packages})
    return (
        f"{written} members written to {' and '.join(map(str, filter(None, [csv, tensorboard])))}"
    )


def _refuse_other(dictionary: Path) -> None:
    """Refuse a folder whose dictionary describes other files than logs of runs."""
    if dictionary.exists():
        content = files.read_json(dictionary)
        if not isinstance(content, dict) or content.get("name") != NAME:
            problem = "describes other files than logs of runs, and would be replaced"
            raise UserError(str(dictionary), f"{problem}; give another folder")


def _history(folder: Path) -> Path:
    return layout.outputs("run", folder)[0]


def _package(name: str, run: RunEntry, member: int, columns: list[str]) -> dict[str, Any]:
    """A csv as a resource of Frictionless Data, with the member's own values."""
    values = dict(sorted(run_members.of(run.spec)[member].items()))
    source = " ".join(foreign.origin({"spec": run.spec})[:1])
    return {
        "name": name,
        "path": f"{name}.csv",
        "type": "table",
        "format": "csv",
        "mediatype": "text/csv",
        "schema": {"fields": [_field(column, run.spec) for column in columns]},
        "member": values,
        **({"description": source} if source else {}),
    }


def _field(column: str, spec: dict[str, Any]) -> dict[str, str]:
    """A column of the table's schema, as the docstring of its observable defines it."""
    if column == "step":
        return STEP
    field = {"name": column, "type": "number"}
    for entry in spec.get("observables", []):
        if not registry.exists("observables", entry["name"]):
            continue  # of a study whose runs are in the same store
        patterns, _ = signatures.logged([entry])
        if any(fnmatch.fnmatchcase(column, pattern) for pattern in patterns):
            summary = signatures.signature("observables", entry["name"]).summary
            field["description"] = f"{entry['name']}: {summary}"
    return field | ({"unit": "share"} if column.endswith("accuracy") else {})


def _write_events(folder: Path, rows: Any) -> None:
    """Write the event file of a member, one event a step; TensorBoard keeps float32."""
    try:
        from tensorboard.compat.proto import event_pb2, summary_pb2
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    except ImportError:
        problem = "event files need a library; pip install 'grokatlas[tensorboard]'"
        raise UserError("--tensorboard", problem) from None
    if folder.exists():
        problem = "is there already, and event files of two times do not mix; give another folder"
        raise UserError(str(folder), problem)
    writer = EventFileWriter(str(folder))
    for row in rows.to_dict("records"):
        step = int(row.pop("step"))
        values = [summary_pb2.Summary.Value(tag=k, simple_value=v) for k, v in row.items()]
        writer.add_event(event_pb2.Event(step=step, summary=summary_pb2.Summary(value=values)))
    writer.close()
