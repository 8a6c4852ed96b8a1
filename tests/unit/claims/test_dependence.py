"""The sentence that tells what a conclusion depends on."""

from grokatlas.claims import dependence, verdicts
from grokatlas.claims.dependence import Under
from tests import cases

MET, PARTLY, MISSED = verdicts.REPRODUCED, verdicts.PARTLY, verdicts.MISSED
REJECTED, NOT_RUN = verdicts.REJECTED, verdicts.NOT_RUN


def under(*told: tuple[str, str]) -> list[Under]:
    """Interpretations with their verdicts and choices: ``("partly", "batch, Adam")``."""
    return [Under(verdict, tuple(choices.split(", "))) for verdict, choices in told]


@cases.listed("drawn", "others", "kind", "sentence")
def test_a_row_of_verdicts_is_one_sentence(drawn, others, kind, sentence):
    assert dependence.sentence(drawn, under(*others)) == (getattr(dependence, kind), sentence)


def test_what_has_no_meaning_under_an_interpretation_is_not_called_unrun():
    undefined = Under(NOT_RUN, ("a",), undefined=True)
    sentence = "the drawn interpretation alone can be judged"
    assert dependence.sentence(MET, [undefined]) == (dependence.ALONE, sentence)
    absent = Under(NOT_RUN, ("b",))
    assert (
        dependence.sentence(MET, [undefined, absent])[1] == "the drawn interpretation alone was run"
    )


def test_every_verdict_but_not_run_has_an_outcome():
    assert set(dependence.OUTCOMES) == set(verdicts.VERDICTS) - {NOT_RUN}
