"""Files of logs, in four formats, as a data frame with a row for each of their rows."""

import collections
import functools
import json
import math
import re
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from grokatlas.errors import UserError
from grokatlas.results.placeholders import pattern


def read(path: Path, block: dict[str, Any]) -> pd.DataFrame:
    """A log as it is, one row for each of its rows.

    Args:
        path: of a file, or of a folder with event files.
        block: `import` or `script` of a spec, of which ``format`` and ``columns`` are read.

    Raises:
        UserError: the file is missing, is not of this format, is damaged or has no row.
    """
    kind, wanted = block["format"], block.get("columns") or {"step": ""}
    named = pattern((*wanted,))
    if not path.exists():
        raise UserError(str(path), "no such file; give its path from where snakemake runs")
    try:
        if kind == "tensorboard":
            table = _read_events(path, named if "columns" in block else re.compile(".*"))
        elif kind == "jsonl":
            lines = path.read_text(encoding="utf-8").split("\n")
            parsed = functools.partial(json.loads, object_pairs_hook=_object)
            objects = [parsed(line) for line in lines if line.strip()]
            objects = [each for each in objects if any(map(named.fullmatch, each))]
            if twice := [each for each in objects if isinstance(each, _Twice)]:
                raise ValueError(f"a line has the key {twice[0].key} twice")
            table = pd.DataFrame(objects)
        else:
            table = _read_csv(path)
    except (ValueError, TypeError, OSError, RecursionError) as error:
        text = str(error).partition("\n")[0]
        raise UserError(str(path), f"cannot be read as {kind}: {text}") from None
    if table.empty:
        of = f" with any of {', '.join(wanted)}" if kind == "jsonl" else ""
        raise UserError(str(path), f"has no row{of}; give a log with a row for each logged step")
    return table


class _Twice(dict[str, Any]):
    """An object of a JSON line that has a key twice."""

    key = ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a JSON line; a `_Twice` where a key is there twice."""
    made = dict(pairs)
    if len(made) < len(pairs):
        counts = collections.Counter(key for key, _ in pairs)
        made = _Twice(made)
        made.key = counts.most_common(1)[0][0]
    return made


def _read_csv(path: Path) -> pd.DataFrame:
    """A csv by its title, in which a name may be there twice; only an empty cell is absent."""
    as_text = {"keep_default_na": False, "na_values": [""], "low_memory": False}
    title = pd.read_csv(path, header=None, nrows=1, dtype=str, **as_text).iloc[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            table = pd.read_csv(path, index_col=False, **as_text)
        except pd.errors.ParserWarning:
            raise ValueError("rows have more fields than the title; name them there") from None
    return table.set_axis(title.where(title.notna(), table.columns), axis="columns")


def _read_events(path: Path, named: re.Pattern[str]) -> pd.DataFrame:
    """The scalars of TensorBoard's event files, a column each, by ``step``.

    One that is not named and is logged twice at a step is left out: an epoch number may be.
    """
    try:
        from tensorboard.backend.event_processing import event_accumulator
    except ImportError:
        problem = "event files need a library; pip install 'grokatlas[tensorboard]'"
        raise UserError(str(path), problem) from None
    _check_whole(path)
    kept = {event_accumulator.SCALARS: 0, event_accumulator.TENSORS: 0}  # 0: all of them
    events = event_accumulator.EventAccumulator(str(path), size_guidance=kept).Reload()
    series = []
    for tag in events.Tags()["scalars"]:
        logged = events.Scalars(tag)
        steps = [each.step for each in logged]
        twice = sorted(step for step, count in collections.Counter(steps).items() if count > 1)
        if twice and not named.fullmatch(tag):
            continue
        if twice:
            raise UserError(str(path), f"{tag} is logged twice at step {twice[0]}; keep one writer")
        values = [v if math.isfinite(v) else str(v) for v in (each.value for each in logged)]
        series.append(pd.Series(values, index=steps, name=tag))  # what is absent is NaN
    if not series:
        raise UserError(str(path), "holds no event file with scalars")
    return pd.concat(series, axis=1).sort_index().rename_axis("step").reset_index()


def _check_whole(path: Path) -> None:
    """Refuse a damaged event file, of which TensorBoard reads what is before the damage."""
    from tensorboard.compat.tensorflow_stub import errors, pywrap_tensorflow

    for file in sorted(path.glob("*tfevents*")) if path.is_dir() else [path]:
        reader = pywrap_tensorflow.PyRecordReader_New(str(file).encode(), 0, b"", None)
        records = 0
        try:
            while True:
                reader.GetNext()
                records += 1
        except errors.OutOfRangeError:
            continue
        except errors.DataLossError as error:
            problem = f"is damaged after {records} records ({error.message})"
            raise UserError(str(file), f"{problem}; copy it again, or import a csv of it") from None
