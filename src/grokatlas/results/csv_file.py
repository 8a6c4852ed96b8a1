"""Rows of a csv file, every cell as its text."""

import csv
from pathlib import Path


def read(file: Path) -> list[dict[str, str]]:
    """The rows by their columns' names; none where there is no file."""
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))
    except FileNotFoundError:
        return []
