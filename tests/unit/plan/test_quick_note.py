"""What a figure does not show at a small size is in its job there, and in no other."""

import pytest

from tests.checkout import declared_papers, declared_plan


@pytest.mark.parametrize("scale", ["smoke", "quick", "paper"])
def test_a_figure_is_told_what_it_does_not_show_at_a_small_scale(scale):
    figures = declared_plan(scale).figures
    told = {key for key, job in figures.items() if "quick_note" in job.spec}
    noted = {
        (name, figure)
        for name, paper in declared_papers().items()
        for figure, entry in paper.figures.items()
        if entry.quick_note
    }
    assert ("grokalign", "fig2") in noted
    assert told == (set() if scale == "paper" else noted)


def test_a_version_of_a_figure_says_what_that_one_does():
    figures = declared_plan("quick").figures
    version, its = figures["jacobian_alignment", "fig9"], figures["grokalign", "fig2"]
    assert version.spec["quick_note"] == its.spec["quick_note"]
