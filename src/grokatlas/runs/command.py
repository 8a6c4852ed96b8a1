"""``grokatlas runs`` and ``status``: a table for people, or JSON for programs."""

import contextlib
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grokatlas import text as words
from grokatlas.cluster import slurm
from grokatlas.engine import members as run_members
from grokatlas.errors import UserError, check_known
from grokatlas.plan import remaining
from grokatlas.results import files, layout
from grokatlas.run_store import command as run_store
from grokatlas.runs import conditions as asked
from grokatlas.runs import logs_out, reader
from grokatlas.runs.run import DIGITS, RENAMED, STATES, RunEntry

FIXED = ("id", "state", "where", "experiment", "paper", "scale", "case")  # columns without asking
MOST = 6  # values in a cell of the table
ORDER = ("running", "failed", "damaged", "stale", "waiting", "up to date")  # of `status`
COLOURS = {"running": "cyan", "failed": "red", "damaged": "red", "up to date": "green"}
PERIOD = 2.0  # seconds between two looks, at least
LEAST = 16  # columns of a terminal that a run's use is given
SHARE = 5  # times as long as a look takes


def main(
    given: list[str],
    scale: str | None,
    state: str | None,
    show: str | None,
    as_json: bool,
    results: Path,
    store: Path | None,
    csv: Path | None = None,
    tensorboard: Path | None = None,
) -> Iterator[str]:
    """Find runs.

    Args:
        given: conditions, all of which must hold for one member of a run.
        scale: at which it is declared; any if None.
        state: states, separated by commas; if None, all but waiting.
        show: further fields, separated by commas.
        as_json: print a list of objects in place of the table.
        results: the tree.
        store: the run store; the configured one, if there is any, if None.
        csv: where the logs of these members go as csv files.
        tensorboard: where they go as event files.
    """
    conditions = [asked.parse(text) for text in given]
    states = _states(state, conditions)
    fields = [each.strip() for each in show.split(",")] if show else []
    runs = reader.every(results, _store(store))
    if runs:
        asked.check(conditions, fields, runs)
    if scale is not None:
        runs = [run for run in runs if any(use.scale == scale for use in run.uses)]
        for run in runs:
            run.uses.sort(key=lambda use: use.scale != scale)
    chosen = [(run, asked.matching(run, conditions)) for run in runs]
    chosen = [(run, members) for run, members in chosen if members]
    listed = [(run, members) for run, members in chosen if run.state in states]
    columns = list(dict.fromkeys([*(condition.name for condition in conditions), *fields]))
    if as_json:
        if csv or tensorboard:
            problem = "prints and writes nothing else; call again without it to write logs"
            raise UserError("--json", problem)
        yield files.json_text([_plain(*each, columns) for each in listed]).rstrip("\n")
        return
    yield from _table(listed, [name for name in columns if name not in FIXED])
    yield _summary(len(listed), runs, [run for run, _ in chosen], states)
    if csv or tensorboard:
        yield logs_out.write(listed, csv, tensorboard)


def status(scale: str | None, once: bool, as_json: bool = False) -> None:
    """Print the runs that the figures of a scale need, again and again at a terminal."""
    want = remaining.at(scale)
    if as_json:
        objects = [_plain(run, [*range(len(run.members))], []) for run in _needed(want)]
        print(files.json_text(objects).rstrip("\n"))
        return
    if once or not sys.stdout.isatty():
        print("\n".join(_status(want)[0]))
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with (
        contextlib.suppress(KeyboardInterrupt),
        Live(auto_refresh=False, console=Console()) as live,
    ):
        while True:
            began = time.monotonic()
            lines, complete = _status(want, live.console.width)
            lines[0] += "; Ctrl-C leaves"
            text = Text("\n".join(lines), no_wrap=True, overflow="ellipsis")
            for state, colour in COLOURS.items():
                text.highlight_words([f"  {state}  "], colour)
            live.update(text, refresh=True)
            if complete:
                return
            time.sleep(max(PERIOD, SHARE * (time.monotonic() - began)))


def _needed(want: remaining.Remaining) -> list[RunEntry]:
    """The runs that figures need, those that run first."""
    jobs = {job.target.as_posix(): job for job in want.jobs}
    every = reader.every(layout.RESULTS, None, jobs)
    runs = [run for run in every if layout.run_folder(run.id).as_posix() in jobs]
    return sorted(runs, key=lambda run: ORDER.index(run.state))


def _status(want: remaining.Remaining, width: int | None = None) -> tuple[list[str], bool]:
    """The lines of `status`, for a terminal of a width, and whether every run is up to date."""
    runs = _needed(want)
    states = [run.state for run in runs]
    counts = ", ".join(f"{states.count(state)} {state}" for state in ORDER)
    lines = [f"{len(runs)} runs at scale {want.plan.scale}: {counts}"]
    if working := slurm.workflow_or_none(Path()):
        lines.append(f"the workflow is in jobs {working}")
    lines += _table([(run, [*range(len(run.members))]) for run in runs], [], True, width)
    return lines, all(state == "up to date" for state in states)


def _states(given: str | None, conditions: list[asked.Condition]) -> list[str]:
    """The states that are asked for."""
    if given is None:
        own = any(condition.name == "state" for condition in conditions)
        return [name for name in STATES if own or name != "waiting"]
    listed = [name.strip() for name in given.split(",")]
    for name in listed:
        if name in RENAMED:
            raise UserError(f"--state {given}", f"{name!r} is called {RENAMED[name]!r}")
        check_known(f"--state {given}", "no state", name, STATES)
    return listed


def _store(given: Path | None) -> Path | None:
    """The run store, if there is one; one that is configured and not there is told and left out."""
    try:
        return run_store.root(given) if given or run_store.named(given) else None
    except UserError as error:
        if given is not None:
            raise
        print(f"{error}; only results are searched", file=sys.stderr)
        return None


def _plain(run: RunEntry, members: list[int], columns: list[str]) -> dict[str, Any]:
    """A run as plain data."""
    values = run_members.of(run.spec) if run.spec else []
    facts = ("device", "host", "commit", "made", "seconds")
    return {
        "id": run.id,
        "digest": run.digest or None,
        "state": run.state,
        "note": run.note,
        "of": [
            {"scale": u.scale, "paper": u.paper, "experiment": u.experiment, "case": u.label}
            for u in run.uses
        ],
        "where": {place: str(folder) for place, folder in run.places.items()},
        "fields": {name: _of_members(run, name, members) for name in columns},
        "members": len(run.members) if run.spec else None,
        "matching": [
            {"member": m, **(dict(sorted(values[m].items())) if values else {})} for m in members
        ],
        **{name: (run.of(name) or [None])[-1] for name in facts},
        "spec": run.spec,
    }


def _of_members(run: RunEntry, name: str, members: list[int]) -> list[Any]:
    """The values of a field for some members, each once."""
    by_text = {repr(value): value for m in members for value in run.of(name, m)}
    return list(by_text.values())


def _table(
    listed: list[tuple[RunEntry, list[int]]],
    columns: list[str],
    every_note: bool = False,
    width: int | None = None,
) -> Iterator[str]:
    """One line for each run, below a title; every note, or those of runs that are not finished.

    For a terminal of a width, uses are cut such that notes get as much room as they.
    """
    varied = any(len(members) < len(run.members) for run, members in listed)
    rows = [("id", "of", "state", *columns, *(["members"] if varied else []), "where", "")]
    for run, members in listed:
        cells = [_cell(name, _of_members(run, name, members)) for name in columns]
        cells += [_which(run, members)] if varied else []
        note = run.note if every_note or run.state not in ("up to date", "undeclared") else ""
        rows.append((run.id, _of(run), run.state, *cells, ", ".join(run.places), note))
    if width is not None and listed:
        *widths, notes = (max(map(len, column)) for column in zip(*rows, strict=True))
        room = width - sum(widths) + widths[1] - 2 * len(widths)  # for uses and notes
        uses = max(LEAST, room - min(notes, room // 2))
        rows = [(row[0], _cut(row[1], uses), *row[2:]) for row in rows]
    yield from run_store.aligned(rows if listed else [])


def _cut(text: str, width: int) -> str:
    """A text of at most a width: its middle is left out, as the end of a use names it."""
    half = (width - 1) // 2
    return text if len(text) <= width else f"{text[: width - 1 - half]}…{text[-half:]}"


def _of(run: RunEntry) -> str:
    """The first cell that a run is in, and how many others there are."""
    first, *more = [*map(str, run.uses)] or [""]
    return f"{first} +{len(more)}" if more else first


def _cell(name: str, values: list[Any]) -> str:
    """Some values of a field."""
    digits = 12 if name in DIGITS else None
    texts = [asked.shown(value)[:digits] for value in values]
    more = f", ... ({len(texts)})" if len(texts) > MOST else ""
    return ", ".join(texts[: MOST - 2 if more else None]) + more


def _which(run: RunEntry, members: list[int]) -> str:
    """The members that match: ``all 3``, or ``2 of 3: 0, 2``."""
    count = len(run.members)
    if len(members) == count:
        return f"all {count}" if count > 1 else "1"
    more = ", ..." if len(members) > MOST else ""
    return f"{len(members)} of {count}: {', '.join(map(str, members[:MOST]))}{more}"


def _summary(shown: int, runs: list[RunEntry], chosen: list[RunEntry], states: list[str]) -> str:
    """The last line: how many there are, and how many are left out."""
    if not runs:
        return "no runs: nothing is planned or made here; go to a checkout, or give --results"
    others = [run.state for run in chosen if run.state not in states]
    left = [name for name in STATES if name in others]
    counts = ", ".join(f"{others.count(name)} {name}" for name in left)
    rest = f"; left out: {counts} (--state {shlex.quote(','.join(left))})" if left else ""
    return f"{words.count(shown, 'run')} of {len(runs):,}{rest}"
