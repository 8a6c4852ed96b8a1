"""A csv file that is damaged is one line, not rows that lack something."""

import pytest

from grokatlas.errors import UserError
from grokatlas.results import csv_file


def test_rows_by_their_columns(tmp_path):
    file = tmp_path / "a.csv"
    assert csv_file.read(file, "a") == []
    file.write_text('a,b\n1,"x, y"\n')
    assert csv_file.read(file, "a") == [{"a": "1", "b": "x, y"}]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a,b\n1\n", "row 1 has more or fewer cells than the title"),
        (b"a,b\n1,2\n1,2,3\n", "row 2 has more or fewer cells than the title"),
        (b"b\n1\n", "has no column a"),
        (b"", "has no column a"),
        (b"a,b\n1,\xff\n", "cannot be read as a csv: 'utf-8' codec"),
    ],
)
def test_damage_is_one_line(tmp_path, content, problem):
    file = tmp_path / "a.csv"
    file.write_bytes(content)
    with pytest.raises(UserError, match=rf"a\.csv: {problem}.*; bring the file back"):
        csv_file.read(file, "a")
