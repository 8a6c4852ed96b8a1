"""Claims that an interpretation concerns, and what is judged; of the papers here too."""

import pytest

from grokatlas.declare import interpretations, versions
from grokatlas.declare.claim_models import Claim
from grokatlas.declare.interpretations import Instead, Interpretation
from grokatlas.declare.models import Deviation, Figure, Paper
from grokatlas.plan import graph
from grokatlas.results import layout
from tests.checkout import declared_papers, declared_plan


def claim(name: str, figure: str = "fig1", value: str = "time", **keywords) -> Claim:
    told = {"id": name, "statement": "it is so", "place": "text", "source": "text"}
    told |= {"published": "5", "expected": [0, 1], "scales": ["quick", "paper"]}
    return Claim(figure=figure, value=value, keywords=keywords, **told)


def paper(*claims: Claim, **interpretations: Interpretation) -> dict[str, Paper]:
    """A paper with two experiments of two cases each, of which a figure draws both."""
    cases = {"drawn": {}, "other": {}, "third": {}}
    figures = {
        "fig1": Figure(experiments=["one", "two"], caption=""),
        "fig2": Figure(experiments=["one"], caption=""),
    }
    deviation = {"paper": "not stated", "ours": "it", "why": "so"}
    told = [
        Deviation(where=where, interpretations=named, **deviation)
        for where, named in (("figure 1, batch", ["rough"]), ("everywhere", ["rough", "fine"]))
    ]
    made = Paper.model_validate(
        {
            "source": {"title": "A title"},
            "experiments": {key: {"cases": cases} for key in ("one", "two")},
            "figures": {key: value.model_dump() for key, value in figures.items()},
        }
    )
    changed = {"claims": list(claims), "interpretations": interpretations, "deviations": told}
    return {"toy": made.model_copy(update=changed)}


ROUGH = Interpretation(
    about="rough",
    figures=["fig1"],
    instead={"one": Instead(cases={"drawn": "other"})},
    rejects=True,
)


def found(papers, skipped=()) -> dict[str, interpretations.Judgement]:
    return {each.claim: each for each in interpretations.judgements(papers, "toy", set(skipped))}


def test_a_claim_that_names_a_case_is_judged_where_another_stands_in():
    papers = paper(claim("T1", case="drawn"), claim("T2", case="third"), claim("T3"), rough=ROUGH)
    judged = found(papers)
    assert set(judged) == {"T1", "T3"}  # whether T3 reads the case is seen from the tables
    assert judged["T1"].instead == {"one": {"table": "one", "cases": {"drawn": "other"}}}
    assert judged["T1"].keywords == {"case": "drawn"}
    assert judged["T1"].rejects == "rough"
    assert set(found(papers, {"T1"})) == {"T3"}


def test_a_claim_on_another_figure_or_experiment_is_not_concerned():
    papers = paper(
        claim("T1", "fig2", case="drawn"), claim("T2", experiment="two", case="drawn"), rough=ROUGH
    )
    assert found(papers) == {}
    assert set(found(paper(claim("T2", experiment="one", case="drawn"), rough=ROUGH))) == {"T2"}


def test_a_whole_table_stands_in():
    interpretation = Interpretation(
        about="x", figures=["fig1"], instead={"one": Instead(of="else/two")}
    )
    other = claim("T2", experiment="two", case="drawn")
    judged = found(paper(claim("T1", experiment="one", case="drawn"), other, rough=interpretation))
    assert judged["T1"].instead == {"one": {"table": "else/two", "cases": None}}
    assert set(judged) == {"T1"}


def test_keywords_concern_the_claims_that_have_others():
    interpretation = Interpretation(about="x", figures=["fig1"], keywords={"step": 9})
    claims = claim("T1", step=5), claim("T2", step=9), claim("T3", other=5), claim("T4", step=7)
    judged = found(paper(*claims, rough=interpretation))
    assert {each.claim: each.keywords for each in judged.values()} == {
        "T1": {"step": 9},
        "T4": {"step": 9},
    }


def test_keywords_and_tables_of_one_interpretation_concern_the_claims_of_both():
    instead = {"one": Instead(cases={"drawn": "other"})}
    both = Interpretation(about="x", figures=["fig1"], keywords={"step": 9}, instead=instead)
    claims = claim("T1", step=5, case="third"), claim("T2", case="drawn"), claim("T3", case="third")
    assert set(found(paper(*claims, both=both))) == {"T1", "T2"}


def test_what_is_another_claim_under_an_interpretation_has_no_row_of_its_own():
    fine = Interpretation(about="x", figures=["fig1"], claims={"T1": "T2"})
    claims = claim("T1", case="drawn"), claim("T2", value="other", case="drawn")
    papers = paper(*claims, rough=ROUGH, fine=fine)
    judged = [(e.interpretation, e.claim) for e in interpretations.judgements(papers, "toy", set())]
    assert judged == [("rough", "T1"), ("fine", "T1")]


def test_claims_of_another_function_and_chosen_ones():
    interpretation = Interpretation(about="x", figures=["fig1"], claims={"T1": "T2"})
    judged = found(
        paper(claim("T1"), claim("T2", value="other"), claim("T3"), rough=interpretation)
    )
    assert {each.claim: each.same_as for each in judged.values()} == {"T1": "T2"}
    chosen = ROUGH.model_copy(update={"only": {"loss": "ce"}, "not_judged": {"T1": "why"}})
    judged = found(paper(claim("T1", loss="ce"), claim("T2", loss="mse"), rough=chosen))
    assert {each.claim: each.not_judged for each in judged.values()} == {"T1": "why"}


def test_a_choice_is_named_by_the_deviations_or_by_itself():
    papers = paper(claim("T1"), rough=ROUGH, fine=ROUGH.model_copy(update={"choices": ["pace"]}))
    assert interpretations.choices(papers["toy"], "rough") == ["batch", "everywhere"]
    assert interpretations.choices(papers["toy"], "fine") == ["pace"]


@pytest.fixture(scope="module")
def papers():
    return declared_papers()


def test_the_interpretations_of_the_papers_find_their_claims(papers):
    judged = {
        (name, each.interpretation, each.claim): each
        for name, entry in papers.items()
        for each in interpretations.judgements(
            papers, name, {c.id for c in entry.claims if versions.same_claim(papers, name, c)}
        )
    }
    assert judged["beyond_l2", "notebook", "N1"].rejects
    assert judged["beyond_l2", "caption", "N45"].keywords["weight"] == 1e-4
    assert judged["beyond_l2", "minibatches", "N23"].instead["addition_at_one_rate"] == {
        "table": "regularised_addition",
        "cases": {"nuclear": "minibatches"},
    }
    assert judged["grokalign", "at_85_percent", "A16"].same_as == "A16c"
    assert (
        judged["jacobian_alignment", "code_weight", "J8"].instead["xor"]["table"] == "grokalign/xor"
    )
    assert not [key for key in judged if key[0] == "jacobian_alignment" and key[2] == "J1"]
    declared = {(n, key) for n, entry in papers.items() for key in entry.interpretations}
    assert {key[:2] for key in judged} == declared


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_the_claims_job_reads_the_tables_that_stand_in(papers, scale):
    (job,) = declared_plan(scale).claims.values()
    assert {each["interpretation"] for each in job.spec["interpretations"]["geometry"]} == {
        "one_split",
        "slow_first_layer",
    }
    whole = papers["beyond_l2"]  # without the claims on the other table itself
    few = whole.model_copy(update={"claims": [c for c in whole.claims if c.figure == "fig3"]})
    (job,) = graph.make_plan({"beyond_l2": few}, scale).claims.values()
    assert {each.target for each in job.inputs} == {
        layout.table_stem(scale, "beyond_l2", name)
        for name in ("addition_at_one_rate", "regularised_addition")
    }
    alone = graph.make_plan(declared_papers("grokalign"), scale)
    (job,) = alone.claims.values()
    assert layout.table_stem(scale, "jacobian_alignment", "xor") not in {
        each.target for each in job.inputs
    }


def test_a_judgement_says_of_how_many_seeds_the_tables_that_it_reads_are(papers):
    whole = papers["grokalign"]
    figures = {"fig8": whole.figures["fig8"]}
    claims = [each for each in whole.claims if each.figure == "fig8"]
    instead = {"transformer": Instead(cases={"weight_decay": "grokalign"})}
    told = {
        "keywords": Interpretation(about="x", figures=["fig8"], keywords={"case": "weight_decay"}),
        "same": Interpretation(about="x", figures=["fig8"], instead=instead),
        "whole": Interpretation(
            about="x", figures=["fig8"], instead={"transformer": Instead(of="acceleration")}
        ),
    }
    few = whole.model_copy(
        update={"figures": figures, "claims": claims, "interpretations": told, "findings": []}
    )
    (job,) = graph.make_plan({"grokalign": few}, "paper").claims.values()
    shares = {each["so_far"] for each in job.spec["papers"]["grokalign"]}
    listed = job.spec["interpretations"]["grokalign"]
    found = {key: {e.get("so_far") for e in listed if e["interpretation"] == key} for key in told}
    assert found == {"keywords": shares, "same": shares, "whole": {None}}
    assert len(shares) == 1
