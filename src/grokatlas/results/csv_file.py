"""Rows of a csv file, every cell as its text."""

import csv
from pathlib import Path

from grokatlas.errors import UserError

AGAIN = "bring the file back (git checkout), or make it again"


def read(file: Path, *columns: str) -> list[dict[str, str]]:
    """The rows by their columns' names; none where there is no file.

    Args:
        file: may be absent.
        columns: that it must have, and maybe others.

    Raises:
        UserError: a column is missing, or a row is shorter or longer than the title.
    """
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream)
            names, rows = reader.fieldnames or [], list(reader)
    except FileNotFoundError:
        return []
    except (OSError, ValueError, csv.Error) as error:
        text = getattr(error, "strerror", None) or str(error)
        raise UserError(str(file), f"cannot be read as a csv: {text}; {AGAIN}") from None
    if missing := [each for each in columns if each not in names]:
        raise UserError(str(file), f"has no column {missing[0]}; {AGAIN}")
    for number, row in enumerate(rows, 1):
        if None in row or None in row.values():
            raise UserError(
                str(file), f"row {number} has more or fewer cells than the title; {AGAIN}"
            )
    return rows
