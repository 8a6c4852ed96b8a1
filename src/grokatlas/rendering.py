"""From a figure's function to its files: style, footer, metadata, reproducible bytes."""

import importlib
import os
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd

from grokatlas import store
from grokatlas.errors import UserError
from grokatlas.plots import style

EPOCH = "946684800"  # 2000-01-01: a fixed date makes the same figure the same bytes


def render(
    spec: dict[str, Any], tables: dict[str, pd.DataFrame], files: list[Path], origin: str
) -> None:
    """Draw one figure and write it.

    Args:
        spec: names ``paper``, ``figure`` and ``scale``.
        tables: the figure's tables by experiment.
        files: where to write pdf, png and csv, by suffix.
        origin: digest, commit and runs, kept in the metadata of pdf and png.

    Raises:
        UserError: the tables lack what the figure draws.
    """
    mpl.use("agg")
    os.environ["SOURCE_DATE_EPOCH"] = EPOCH
    name = f"{spec['paper']}/{spec['figure']}"
    draw = importlib.import_module(f"grokatlas.papers.{spec['paper']}.{spec['figure']}").draw
    with mpl.rc_context(style.RC):
        try:
            figure, drawn = draw(tables)
        except (KeyError, ValueError, IndexError) as error:
            problem = f"cannot be drawn from its tables: {type(error).__name__} {error}"
            raise UserError(f"figure {name}", problem) from error
        style.footer(figure, f"Grokking Atlas  {name}  ·  {spec['scale']} scale")
        title = {"Title": f"Grokking Atlas {name} ({spec['scale']} scale)"}
        for file in sorted(files, key=lambda file: file.suffix, reverse=True):  # png before pdf
            with store.atomic(file) as temporary:
                if file.suffix == ".csv":
                    drawn.to_csv(temporary, index=False, lineterminator="\n")
                elif file.suffix == ".pdf":
                    keep = title | {"Subject": origin}
                    figure.savefig(temporary, format="pdf", metadata=keep)
                else:
                    keep = title | {"Description": origin}
                    figure.savefig(temporary, format="png", metadata=keep)
                    figure.set_layout_engine("none")  # the pdf is laid out as the png is
