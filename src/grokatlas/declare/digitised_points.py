"""Numbers that were read off a paper's pictures: `digitised_points.csv` in the folder of a paper.

Each row is a point of a published curve, with how well it could be read and how. Figures draw them
beside their own curves at the published size, and claims measure the distance.
"""

import csv
import io
from pathlib import Path

from grokatlas.declare.models import DIGITISED_POINTS, DigitisedPoint, label
from grokatlas.declare.validation import check_file
from grokatlas.errors import UserError, check_known

OLD_NAME = "readings.csv"
COLUMNS = tuple(DigitisedPoint.model_fields)


def load(folder: Path, paper: str, figures: list[str]) -> list[DigitisedPoint]:
    """The digitised points of a paper; none where it has no such file."""
    if (folder / OLD_NAME).exists():
        problem = f"is named {DIGITISED_POINTS} now; rename the file"
        raise UserError(label(paper, OLD_NAME), problem)
    file = folder / DIGITISED_POINTS
    place = label(paper, DIGITISED_POINTS)
    if not file.exists():
        return []
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(place, f"cannot be read as UTF-8 text ({type(error).__name__})") from None
    rows = csv.reader(io.StringIO(text))
    if tuple(next(rows, ())) != COLUMNS:
        raise UserError(f"{place}: line 1", f"must be the columns {','.join(COLUMNS)}")
    return [_point(f"{place}: line {rows.line_num}", row, figures) for row in rows if row]


def _point(place: str, row: list[str], figures: list[str]) -> DigitisedPoint:
    if len(row) != len(COLUMNS):
        raise UserError(place, f"has {len(row)} values; it must have {len(COLUMNS)}")
    cells = dict(zip(COLUMNS, row, strict=True))
    check_known(f"{place}: figure", "no figure", cells["figure"], figures)
    point: DigitisedPoint = check_file(DigitisedPoint, cells, place)
    return point
