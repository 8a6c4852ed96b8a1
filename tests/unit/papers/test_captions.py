"""Captions against what is drawn."""

import pytest

from grokatlas.declare import versions
from tests.checkout import declared_papers


@pytest.mark.parametrize("paper", declared_papers().values(), ids=declared_papers())
def test_captions_speak_of_read_marks_only_where_there_are_digitised_points(paper):
    said = {name for name, figure in paper.figures.items() if "read off" in figure.caption}
    assert said <= {name for name in paper.figures if versions.digitised_points(paper, name)}
