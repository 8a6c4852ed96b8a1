"""Figures of `two_timescales` where their tables are not the usual ones; see `test_pictures.py`."""

import numpy as np

from grokatlas.papers.two_timescales import _panels, _theory, fig2
from tests.figures.pictures import tables
from tests.tables import rows


def test_without_digitised_points_nothing_is_called_published():
    figure, _ = fig2.draw(tables("two_timescales", "fig2"), [])
    assert "published" not in {text.get_text() for text in figure.legends[0].texts}


def flows(decays, rate=0.5):
    """w = 3 + exp(-rate t) - 2 lambda t: nearest to 3 at a time as log(1 / lambda)."""
    return rows(
        case="fast",
        seed=[0, 1],
        step=[0, *np.unique(np.geomspace(1, 1000, 200).astype(int)).tolist()],
        optimizer__lr=0.1,
        penalties__0__weight=[decay / 2 for decay in decays],
        parameters__w__0=lambda row: (
            3 + np.exp(-rate * 0.1 * row["step"])
            - 4 * row["penalties.0.weight"] * min(0.1 * row["step"], 50)
        ),
    )  # fmt: skip


def test_a_junction_is_where_the_limit_is_nearest_and_not_told_late_in_a_run():
    found = _theory.junctions(flows((0.0, 0.01, 0.1)))
    early = found[found["lambda"] == 0.1]["junction"]
    # the flow passes 3 where exp(-t / 2) = 0.2 t
    np.testing.assert_allclose(early, 1.92, rtol=0.05)
    assert _theory.junctions(flows((0.0, 1e-9), rate=0.01))["junction"].isna().all()


def test_numbers_in_titles_have_few_digits():
    assert [_panels.tidy(value) for value in (0, 1, 0.3333, 28400)] == ["0", "1", "0.33", "28,400"]
