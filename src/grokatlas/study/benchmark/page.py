"""The table of all rows as a page, and the words of its cells."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
import pandas as pd

from grokatlas.errors import UserError
from grokatlas.study import shipped
from grokatlas.study.benchmark import protocol
from grokatlas.study.benchmark.entry import PAPER_NAME, experiment
from grokatlas.study.benchmark.protocol import Protocol

END = "<!-- end of rows -->"
TEMPLATE = Path(__file__).parent / "page.html.jinja"


def text(out: Path, cells: pd.DataFrame, rows: pd.DataFrame, rules: Protocol, scale: str) -> str:
    """The page, or the Markdown file `out` with the table between its marks.

    Args:
        out: where it will be.
        cells: from `judging.compared`.
        rows: behind them; ``run`` names the runs, and ``place`` the folder of an entry.
        rules: for titles and numbers.
        scale: of the rows.
    """
    ours = rules.read(shipped.part(protocol.FOLDER) / "methods.yaml")
    by = {(c.task, c.method, c.unit): c for c in cells.itertuples()}
    methods = [*cells["method"].unique()]
    places = rows.groupby("method")["place"].first() if "place" in rows else {}
    entries = {name: place for name, place in dict(places).items() if isinstance(place, str)}

    def curves_of(task: str, method: str) -> str | None:
        """The address of the curves of a cell: in the entry's pages, or of a recorded picture."""
        name = experiment(task, method)
        if method in entries and out.suffix == ".html":
            folder = Path(entries[method]) / "results" / scale / "atlas"
            folder = folder if folder.is_absolute() else Path(os.path.relpath(folder, out.parent))
            return f"{quote((folder / f'paper-{PAPER_NAME}.html').as_posix())}#{name}"
        file = pictures(out, scale) / f"{name}.png"
        return file.relative_to(out.parent).as_posix() if file.is_file() else None

    content: dict[str, Any] = {
        "tasks": {name: rules.tasks[name].title for name in cells["task"].unique()},
        "methods": {name: ours[name].title if name in ours else name for name in methods},
        "sources": {name: method.source for name, method in ours.items()},
        "runs": rows.groupby(["task", "method"])["run"].unique().map(sorted).to_dict(),
        "curves_of": curves_of,
        "cells": by,
        "rules": rules,
        "scale": scale,
        "units": [*cells["unit"].unique()],
        "whole": out.suffix == ".html",
        **{each.__name__: each for each in (interval, rank, reached, knob)},
    }
    template = jinja2.Template(
        TEMPLATE.read_text(encoding="utf-8"),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    body = template.render(content)
    if content["whole"]:
        return body
    head, rest = around(out, scale)
    return f"{head}{begin(scale)}\n\n{body}\n{END}{rest}"


def begin(scale: str) -> str:
    """The mark in a Markdown file after which the table of a scale is; `END` is the other one."""
    return f"<!-- rows at scale {scale}: made by `grokatlas benchmark page` -->"


def around(out: Path, scale: str) -> tuple[str, str]:
    """A Markdown file's text before and after the table of a scale.

    Raises:
        UserError: it has no marks.
    """
    before = out.read_text(encoding="utf-8") if out.is_file() else ""
    head, mark, rest = before.partition(begin(scale))
    _, end, after = rest.partition(END)
    if not mark or not end:
        problem = f"has no marks {begin(scale)} and {END}; give a file that ends in .html"
        raise UserError(str(out), problem)
    return head, after


def pictures(out: Path, scale: str) -> Path:
    """The folder of the pictures to which a page's cells lead, beside it."""
    return out.parent / out.stem / scale


def interval(cell: Any) -> str:
    """The quotient with its interval: ``0.31 (0.28 to 0.35)``."""
    return f"{_number(cell.quotient)} ({_number(cell.low)} to {_number(cell.high)})"


def rank(cell: Any) -> str:
    """The rank with its interval: ``2 (1 to 4) of 13``."""
    return f"{cell.rank} ({cell.first} to {cell.last}) of {cell.of}"


def reached(cell: Any) -> str:
    """The number of judged seeds on which the method generalised: ``7 of 8``."""
    return f"{cell.reached} of {cell.seeds}"


def knob(cell: Any) -> str:
    """The chosen value, and that it is the end of its grid."""
    return f"{cell.value:.3g}{', an end' if cell.edge else ''}"


def _number(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"
