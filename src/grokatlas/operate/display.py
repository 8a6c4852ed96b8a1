"""``grokatlas status``: the table of runs, once as plain text or live at a terminal."""

import contextlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from grokatlas.operate import slurm
from grokatlas.operate.status import Board, Row
from grokatlas.text import duration

if TYPE_CHECKING:
    from rich.console import Console, Group

HEAD = ("state", "run", "of", "step", "rate", "left", "where", "")
COLOURS = {"running": "cyan", "failed": "red", "waiting": "dim", "done": "green"}
PERIOD = 2.0  # seconds between two looks
PERIOD_OF_SLURM = 30.0  # seconds between two questions to it


def main(scale: str | None, once: bool) -> None:
    """Print the table once, or keep it up to date on a terminal."""
    if once or not sys.stdout.isatty():
        print(text(scale))
    else:
        watch(scale)


def text(scale: str | None) -> str:
    """A summary and one line for each run, in columns.

    Args:
        scale: the configured one if None.
    """
    board = Board(scale)
    rows = board.rows()
    cells = [HEAD, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]
    return "\n".join([*_summary(board, rows, slurm.workflow_or_none(Path())), *lines])


def watch(scale: str | None, console: "Console | None" = None) -> None:
    """The same table at a terminal, renewed until every run is done or Ctrl-C is pressed.

    Args:
        scale: the configured one if None.
        console: where to write; standard output if None.
    """
    from rich.live import Live

    board = Board(scale)
    rows, jobs = board.rows(), slurm.workflow_or_none(Path())
    asked = time.monotonic()
    with (
        contextlib.suppress(KeyboardInterrupt),
        Live(_table(board, rows, jobs), console=console, auto_refresh=False) as live,
    ):
        while any(row.state != "done" for row in rows):
            time.sleep(PERIOD)
            rows = board.rows()
            if time.monotonic() - asked > PERIOD_OF_SLURM:
                jobs, asked = slurm.workflow_or_none(Path()), time.monotonic()
            live.update(_table(board, rows, jobs), refresh=True)


def _cells(row: Row) -> tuple[str, ...]:
    step = "" if row.step is None else f"{row.step}/{row.steps}"
    rate = "" if row.rate is None else f"{row.rate:.3g}/s"
    left = "" if row.left is None else duration(row.left)
    return (row.state, row.run, row.name, step, rate, left, row.where, row.note)


def _summary(board: Board, rows: list[Row], jobs: str) -> list[str]:
    """The lines above the table: the number of runs, and the jobs that the workflow is in."""
    return [board.summary(rows), *([f"the workflow is in jobs {jobs}"] if jobs else [])]


def _table(board: Board, rows: list[Row], jobs: str) -> "Group":
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for name in HEAD:
        right = name in ("step", "rate", "left")
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, _cells(row)), style=COLOURS[row.state])
    return Group(*map(Text, _summary(board, rows, jobs)), table)
