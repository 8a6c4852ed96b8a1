"""From a figure's function to its files: style, footer, metadata, reproducible bytes."""

import importlib
from pathlib import Path
from typing import Any

import pandas as pd

from grokatlas import registry
from grokatlas.claims import divergence
from grokatlas.claims.published import asked_for
from grokatlas.errors import UserError
from grokatlas.plots import defaults, panels
from grokatlas.results import files as store
from grokatlas.results import layout
from grokatlas.rules import undrawn

# signs that LaTeX's standard fonts lack
SYMBOLS = str.maketrans({"±": r"$\pm$", "<": r"$<$", ">": r"$>$", "|": r"$|$"})


def render(
    spec: dict[str, Any], tables: dict[str, pd.DataFrame], files: list[Path], origin: str
) -> None:
    """Draw one figure, or set one table of a paper, and write it.

    Args:
        spec: as for `made`. The csv has ``so_far`` as a column.
        tables: the figure's tables by experiment.
        files: where to write, by suffix: pdf, png and csv, or md, tex and csv.
        origin: digest, commit and runs, kept in the metadata of pdf and png, in a comment of md
            and tex.
    """
    shown, data, note = made(spec, tables)
    data = data.assign(so_far=spec["so_far"]) if spec.get("so_far") else data
    if layout.is_published_table(spec["figure"]):
        _set(shown, data, note, files, origin)
        return
    title = {"Title": f"Grokking Atlas {_name(spec)} ({spec['scale']} scale)"}
    with defaults.drawing():
        for file in files:
            if file.suffix == ".csv":
                store.write_csv(file, data)
                continue
            with store.atomic(file) as temporary:
                if file.suffix == ".pdf":
                    keep = title | {"Subject": origin}
                    shown.savefig(temporary, format="pdf", metadata=keep)
                else:
                    keep = title | {"Description": origin}
                    shown.savefig(temporary, format="png", metadata=keep)


def made(spec: dict[str, Any], tables: dict[str, pd.DataFrame]) -> tuple[Any, pd.DataFrame, str]:
    """The figure or table that a figure's function makes of its tables, signed.

    Args:
        spec: names ``paper``, ``figure`` and ``scale``, the ``module`` of the figure's function,
            what the paper prints there (``published``), points of its curves
            (``digitised_points``), and, if there is any, what the figure does not show at its scale
            (``quick_note``), of how many values its tables are (``so_far``), and cases that it
            leaves out on purpose (``undrawn``).
        tables: the figure's tables by experiment.

    Returns:
        the figure, or a table's cells as text; the data that it shows; its note, which names other
        cases that it leaves out.

    Raises:
        UserError: the tables lack what the figure draws; or, in a study, it leaves out a case.
    """
    name, is_table = _name(spec), layout.is_published_table(spec["figure"])
    module = importlib.import_module(spec["module"])
    function = module.tabulate if is_table else module.draw
    given = asked_for(function, spec["published"], spec["digitised_points"])
    parts = [f"Grokking Atlas  {name}", f"{spec['scale']} scale", spec.get("quick_note", "")]
    parts += [spec.get("so_far", ""), divergence.note(tables.values())]
    tables = {key: divergence.finite(table) for key, table in tables.items()}
    with defaults.drawing():
        try:
            drawn = function(tables, **given)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            problem = f"cannot be drawn from its tables: {type(error).__name__} {error}"
            raise UserError(f"figure {name}", problem) from error
        shown, data = _checked(drawn, spec, function.__name__)
        missing = undrawn.cases(
            lambda some: function(some, **given)[1], tables, data, spec.get("undrawn", [])
        )
        if missing and registry.study():
            problem = f"does not show {', '.join(missing)}, which its tables have"
            todo = f"draw it, or write undrawn: [{', '.join(missing)}] at the figure in paper.yaml"
            raise UserError(f"figure {name}", f"{problem}; {todo}")
        parts.append(f"not drawn: {', '.join(missing)}" if missing else "")
        note = "  ·  ".join(filter(None, parts))
        if not is_table:
            panels.finish(shown, note)
    return shown, data, note


def _checked(drawn: Any, spec: dict[str, Any], function: str) -> tuple[Any, pd.DataFrame]:
    """The figure, or a table's cells, and the data that a figure's function returned."""
    from matplotlib.figure import Figure  # after `plots.defaults`, which shields it from settings

    kinds = (pd.DataFrame if layout.is_published_table(spec["figure"]) else Figure, pd.DataFrame)
    given = drawn if isinstance(drawn, tuple) else (drawn,)
    if len(given) == 2 and all(map(isinstance, given, kinds)):
        return given
    where = f"{registry.shown(registry.source_file(spec['module']))}: {function}"
    returned = ", ".join(type(each).__name__ for each in given)
    wanted = ", ".join(kind.__name__ for kind in kinds)
    raise UserError(f"figure {_name(spec)}", f"{where} returns {returned}; return ({wanted})")


def _name(spec: dict[str, Any]) -> str:
    return f"{spec['paper']}/{spec['figure']}"


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
