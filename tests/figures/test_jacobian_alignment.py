"""Figures of `jacobian_alignment`: its own layouts, and runs that it shares with `grokalign`."""

import pytest

from grokatlas.declare import cells, versions
from grokatlas.plan.graph import make_plan
from grokatlas.results import layout
from tests.checkout import declared_papers

OWN = {"xor": {"grokalign"}, "delayed_robustness": {"weight_decay", "grokalign"}}
OWN["delayed_robustness_as_published"] = OWN["delayed_robustness"]


@pytest.fixture(scope="module")
def papers():
    return declared_papers("grokalign", "jacobian_alignment")


def _specs(papers, name, experiment):
    found = cells.resolve(name, papers[name], experiment, "paper")
    return {cell.case: cell.spec for cell in found}


def test_only_the_documents_own_experiments_are_declared_and_differ(papers):
    experiments = papers["jacobian_alignment"].experiments
    assert set(experiments) == set(OWN)
    for experiment in experiments:
        here = _specs(papers, "jacobian_alignment", experiment)
        there = _specs(papers, "grokalign", experiment)
        differing = {case for case, spec in here.items() if spec != there[case]}
        assert differing == OWN[experiment], experiment


def test_all_other_figures_draw_the_tables_of_grokalign(papers):
    for name, figure in papers["jacobian_alignment"].figures.items():
        owners = {layout.owner_of_table("here", each) for each in figure.experiments}
        assert {name for owner, name in owners if owner == "here"} <= set(OWN), name
        assert {owner for owner, _ in owners} <= {"here", "grokalign"}


def test_a_claim_is_counted_with_grokalign_if_it_judges_the_same_tables(papers):
    own = {}
    for claim in papers["jacobian_alignment"].claims:
        same = versions.same_claim(papers, "jacobian_alignment", claim)
        own.setdefault(claim.figure, set()).add(bool(same))
        assert not same or same == f"grokalign/{claim.as_}"
    assert {figure for figure, counted in own.items() if counted == {False}} == {
        "fig3",
        "fig4",
        "table3",
    }
    assert {True} in own.values()
    assert {True, False} not in own.values()


def test_without_grokalign_among_the_papers_nothing_is_counted_elsewhere():
    papers = declared_papers("jacobian_alignment")
    assert list(papers) == ["grokalign", "jacobian_alignment"]
    assert (papers["grokalign"].figures, papers["grokalign"].claims) == ({}, [])
    for claim in papers["jacobian_alignment"].claims:
        assert versions.same_claim(papers, "jacobian_alignment", claim) == ""
    plan = make_plan(papers, "smoke")
    assert {paper for paper, _ in plan.figures} == {"jacobian_alignment"}
    assert set(plan.claims["smoke"].spec["papers"]) == {"jacobian_alignment"}
    assert ("grokalign", "kernel") in plan.tables


def test_its_own_weight_and_network_are_those_of_its_text(papers):
    xor = _specs(papers, "jacobian_alignment", "xor")["grokalign"]
    assert xor["ensemble"]["penalties.0.weight"] == [1e-3]
    convolutions = _specs(papers, "jacobian_alignment", "delayed_robustness")["grokalign"]["model"]
    assert len(convolutions["channels"]) == len(convolutions["strides"]) == 5
