"""Captions against what is drawn."""

import pytest

from grokatlas.declare import versions
from tests.figures import smoke_tables


@pytest.mark.parametrize("paper", smoke_tables.papers().values(), ids=smoke_tables.papers())
def test_captions_speak_of_read_marks_only_where_there_are_digitised_points(paper):
    said = {name for name, figure in paper.figures.items() if "read off" in figure.caption}
    assert said <= {name for name in paper.figures if versions.digitised_points(paper, name)}
