"""From a figure's function to its files: style, footer, metadata, reproducible bytes."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from grokatlas import registry
from grokatlas.claims import divergence
from grokatlas.claims.published import asked_for
from grokatlas.errors import UserError
from grokatlas.plots import defaults, panels
from grokatlas.results import files as store
from grokatlas.results import layout

# signs that LaTeX's standard fonts lack
SYMBOLS = str.maketrans({"±": r"$\pm$", "<": r"$<$", ">": r"$>$", "|": r"$|$"})


def render(
    spec: dict[str, Any], tables: dict[str, pd.DataFrame], files: list[Path], origin: str
) -> None:
    """Draw one figure, or set one table of a paper, and write it.

    Args:
        spec: names ``paper``, ``figure`` and ``scale``, the ``module`` of the figure's function,
            what the paper prints there (``published``), points of its curves (``readings``), and of
            how many values its tables are (``so_far``), where they leave out some. The figure says
            that, and so does the column ``so_far`` of its csv.
        tables: the figure's tables by experiment.
        files: where to write, by suffix: pdf, png and csv, or md, tex and csv.
        origin: digest, commit and runs, kept in the metadata of pdf and png, in a comment of md
            and tex.

    Raises:
        UserError: the tables lack what the figure draws.
    """
    name = f"{spec['paper']}/{spec['figure']}"
    note = "  ·  ".join([f"Grokking Atlas  {name}", f"{spec['scale']} scale", *_unseen(spec)])
    module = importlib.import_module(spec["module"])
    some = spec.get("so_far", "")
    for told in filter(None, [some, divergence.note(tables.values())]):
        note += f"  ·  {told}"
    tables = {key: divergence.finite(table) for key, table in tables.items()}
    if layout.is_published_table(spec["figure"]):
        shown, data = _made(module.tabulate, tables, spec, name)
        _set(shown, data.assign(so_far=some) if some else data, note, files, origin)
        return
    with defaults.drawing():
        figure, drawn = _made(module.draw, tables, spec, name)
        panels.finish(figure, note)
        title = {"Title": f"Grokking Atlas {name} ({spec['scale']} scale)"}
        for file in files:
            if file.suffix == ".csv":
                store.write_csv(file, drawn.assign(so_far=some) if some else drawn)
                continue
            with store.atomic(file) as temporary:
                if file.suffix == ".pdf":
                    keep = title | {"Subject": origin}
                    figure.savefig(temporary, format="pdf", metadata=keep)
                else:
                    keep = title | {"Description": origin}
                    figure.savefig(temporary, format="png", metadata=keep)


def _unseen(spec: dict[str, Any]) -> list[str]:
    """What the figure does not show at its scale (``quick_note``), if it says so."""
    return [spec["quick_note"]] if "quick_note" in spec else []


def _made(
    function: Callable[..., Any],
    tables: dict[str, pd.DataFrame],
    spec: dict[str, Any],
    name: str,
) -> Any:
    """What a figure's function makes of its tables, and of what is published if it asks for it."""
    try:
        made = function(tables, **asked_for(function, spec["published"], spec["readings"]))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        problem = f"cannot be drawn from its tables: {type(error).__name__} {error}"
        raise UserError(f"figure {name}", problem) from error
    is_table = layout.is_published_table(spec["figure"])
    kinds = (pd.DataFrame if is_table else Figure, pd.DataFrame)
    given = made if isinstance(made, tuple) else (made,)
    if len(given) != 2 or not all(map(isinstance, given, kinds)):
        where = f"{registry.shown(registry.source_file(spec['module']))}: {function.__name__}"
        kinds_given = ", ".join(type(each).__name__ for each in given)
        wanted = ", ".join(kind.__name__ for kind in kinds)
        raise UserError(f"figure {name}", f"{where} returns {kinds_given}; return ({wanted})")
    return made


def _set(
    shown: pd.DataFrame, data: pd.DataFrame, note: str, files: list[Path], origin: str
) -> None:
    """Write a published table: its cells as text in Markdown and LaTeX, its numbers as csv."""
    for file in files:
        if file.suffix == ".csv":
            store.write_csv(file, data)
            continue
        with store.atomic(file) as temporary:
            if file.suffix == ".md":
                cells = shown.map(_in_a_row).rename(columns=_in_a_row)
                body = cells.to_markdown(index=False, disable_numparse=True)
                temporary.write_text(f"{body}\n\n{note}\n\n<!-- {origin} -->\n", encoding="utf-8")
            else:
                body = shown.to_latex(index=False, escape=True).translate(SYMBOLS)
                temporary.write_text(f"% {note}\n% {origin}\n{body}", encoding="utf-8")


def _in_a_row(text: str) -> str:
    """A cell as Markdown: what would end it, escaped."""
    return " ".join(text.split("\n")).replace("|", "\\|")
