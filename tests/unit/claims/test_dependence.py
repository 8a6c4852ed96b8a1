"""The sentence that tells what a conclusion depends on."""

import pytest

from grokatlas.claims import dependence, verdicts
from grokatlas.claims.dependence import Under

MET, PARTLY, MISSED = verdicts.REPRODUCED, verdicts.PARTLY, verdicts.MISSED
REJECTED, NOT_RUN = verdicts.REJECTED, verdicts.NOT_RUN


def under(*told: tuple[str, str]) -> list[Under]:
    """Interpretations with their verdicts and choices: ``("partly", "batch, Adam")``."""
    return [Under(verdict, tuple(choices.split(", "))) for verdict, choices in told]


@pytest.mark.parametrize(
    ("drawn", "others", "kind", "sentence"),
    [
        (MET, [(MET, "a"), (MET, "b")], "ALL", "holds under all 3 interpretations that were run"),
        (MET, [(MET, "a")], "ALL", "holds under both interpretations that were run"),
        (
            MET,
            [(MET, "a"), (NOT_RUN, "b")],
            "ALL",
            "holds under both interpretations that were run",
        ),
        (
            MISSED,
            [(REJECTED, "a")],
            "NONE",
            "holds under none of the 2 interpretations that were run",
        ),
        (PARTLY, [(PARTLY, "a")], "PART", "holds in part under both interpretations that were run"),
        (MET, [(REJECTED, "batch, Adam")], "DEPENDS", "depends on: batch or Adam"),
        (MET, [(PARTLY, "Adam")], "DEPENDS", "depends on: Adam"),
        (MET, [(MISSED, "net, batch, Adam")], "DEPENDS", "depends on: net, batch or Adam"),
        (MISSED, [(MET, "Adam"), (REJECTED, "batch")], "DEPENDS", "depends on: Adam"),
        (
            MET,
            [(MISSED, "batch, Adam"), (REJECTED, "penalty, Adam")],
            "DEPENDS",
            "depends on: Adam",
        ),
        (MET, [(MISSED, "batch"), (MISSED, "Adam")], "DEPENDS", "depends on: batch; Adam"),
        (MET, [(NOT_RUN, "a")], "ALONE", "the drawn interpretation alone was run"),
        (NOT_RUN, [(MET, "a")], "OPEN", "not judged as drawn"),
        (NOT_RUN, [(NOT_RUN, "a")], "OPEN", "judged under no interpretation"),
        (
            verdicts.SEEN,
            [(verdicts.SEEN, "a")],
            "ALL",
            "holds under both interpretations that were run",
        ),
        (verdicts.SEEN, [(verdicts.NOT_SEEN, "a")], "DEPENDS", "depends on: a"),
    ],
)
def test_a_row_of_verdicts_is_one_sentence(drawn, others, kind, sentence):
    assert dependence.told(drawn, under(*others)) == (getattr(dependence, kind), sentence)


def test_what_has_no_meaning_under_an_interpretation_is_not_called_unrun():
    undefined = Under(NOT_RUN, ("a",), undefined=True)
    sentence = "the drawn interpretation alone can be judged"
    assert dependence.told(MET, [undefined]) == (dependence.ALONE, sentence)
    absent = Under(NOT_RUN, ("b",))
    assert dependence.told(MET, [undefined, absent])[1] == "the drawn interpretation alone was run"


def test_every_verdict_but_not_run_has_an_outcome():
    assert set(dependence.OUTCOMES) == set(verdicts.VERDICTS) - {NOT_RUN}
