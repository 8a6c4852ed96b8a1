"""Every recorded figure shows what it showed: see `pictures.py`."""

import numpy as np
import pytest

from tests.figures import pictures


@pytest.mark.parametrize(("paper", "figure"), pictures.PICTURES)
def test_a_recorded_figure_shows_what_it_showed(paper, figure):
    found, known = pictures.rows(paper, figure), pictures.read(paper)
    known = known[known["figure"] == figure].reset_index(drop=True)
    told = f"if it is meant: python -m tests.figures.pictures {paper}/{figure}"
    words = [list(map(tuple, each[pictures.KEYS].to_numpy())) for each in (found, known)]
    assert words[0] == words[1], told
    sizes = found[["points", "x", "y", "xy"]].abs().max(axis=1).to_numpy()[:, None]
    far = ~np.isclose(found[pictures.NUMBERS], known[pictures.NUMBERS], 1e-5, 1e-9 * sizes)
    assert found[far.any(axis=1)].to_dict("records") == [], told


def test_no_figure_that_is_not_recorded_has_rows():
    for paper in {paper for paper, _ in pictures.PICTURES}:
        figures = {figure for name, figure in pictures.PICTURES if name == paper}
        assert set(pictures.read(paper)["figure"]) == figures
