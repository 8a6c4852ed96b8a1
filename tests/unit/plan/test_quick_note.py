"""What a figure does not show at a small size is in its job there, and in no other."""

import pytest

from grokatlas.plan.graph import make_plan
from grokatlas.plan.project import Project
from tests.checkout import CONFIG


@pytest.fixture(scope="module")
def papers():
    return Project(CONFIG, {}, warn=print).papers


@pytest.mark.parametrize("scale", ["smoke", "quick", "paper"])
def test_a_figure_is_told_what_it_does_not_show_at_a_small_scale(papers, scale):
    figures = make_plan(papers, scale).figures
    told = {key for key, job in figures.items() if "quick_note" in job.spec}
    noted = {
        (name, figure)
        for name, paper in papers.items()
        for figure, entry in paper.figures.items()
        if entry.quick_note
    }
    assert ("grokalign", "fig2") in noted
    assert told == (set() if scale == "paper" else noted)


def test_a_version_of_a_figure_says_what_that_one_does(papers):
    figures = make_plan(papers, "quick").figures
    version, its = figures["jacobian_alignment", "fig9"], figures["grokalign", "fig2"]
    assert version.spec["quick_note"] == its.spec["quick_note"]
