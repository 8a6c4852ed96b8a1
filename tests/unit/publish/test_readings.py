"""What the page of a paper says of other readings, from recorded verdicts."""

from grokatlas.declare.other_readings import OtherReading
from grokatlas.publish import readings
from tests.unit.declare.test_other_readings import ROUGH, claim, paper


def table(papers, **rows: tuple[str, str]) -> list[str]:
    told = {key: {"verdict": verdict, "scale": scale} for key, (verdict, scale) in rows.items()}
    return readings.lines("toy", papers, lambda name, each: told.get(each.id, {}))


def test_a_statement_is_told_with_the_claim_that_says_the_same_of_the_other_case():
    papers = paper(claim("T1", case="drawn"), claim("T2", case="other"), claim("T3"), rough=ROUGH)
    made = table(papers, T1=("reproduced", "paper"), T2=("reading rejected", "paper"))
    told = "`rough`: reading rejected | depends on: batch or everywhere |"
    assert made[-1] == f"| T1 | it is so | reproduced | {told}"
    assert len(made) == len(readings.HEAD) + 1


def test_nothing_is_said_where_one_is_not_recorded_or_of_another_scale():
    papers = paper(claim("T1", case="drawn"), claim("T2", case="other"), rough=ROUGH)
    assert table(papers, T1=("reproduced", "paper")) == []
    assert table(papers, T2=("reproduced", "paper")) == []
    assert table(papers, T1=("reproduced", "paper"), T2=("not run at this scale", "")) == []
    assert table(papers, T1=("reproduced", "paper"), T2=("seen at quick scale", "quick")) == []


def test_a_verdict_by_another_interval_is_not_that_of_the_statement():
    reading = OtherReading(about="x", figures=["fig1"], claims={"T1": "T2"})
    own, other = claim("T1"), claim("T2", value="other")
    told = {"T1": ("reproduced", "paper"), "T2": ("not reproduced", "paper")}
    assert table(paper(own, other, rough=reading), **told)
    for changed in ({"expected": [0.1, 1]}, {"seeds": 2}, {"judged": "mean"}):
        assert table(paper(own, other.model_copy(update=changed), rough=reading), **told) == []
