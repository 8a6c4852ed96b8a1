"""Negative controls: a claim that its control meets too is not decisive."""

import math

import pytest

from grokatlas.claims import controls, judging, verdicts
from grokatlas.claims.view import ClaimView
from grokatlas.errors import UserError
from tests.unit.claims.test_interpretations import NAMED, table

TABLES = {"two": table(drawn=10, other=20, near=12)}
UNDER = {("toy", "T1", "rough"): {"verdict": verdicts.REJECTED, "value": 20.5}}
UNDER |= {("toy", "T1", "fine"): {"verdict": verdicts.NOT_DECISIVE, "value": 11.5}}


def checked(control, expected=(5.0, 15.0), tables=TABLES, **changed):
    claim = NAMED | {"fails_with": control, "expected": list(expected)} | changed
    row = judging.row("toy", claim, tables, "paper")
    return controls.checked("toy", claim, row, tables, UNDER)


@pytest.mark.parametrize(
    ("control", "words", "value"),
    [
        ({"case": "other"}, "case other", 20.5),
        ("halved", "halved", 5.25),
        ("rough", "rough", 20.5),
    ],
)
def test_a_control_that_misses_leaves_the_verdict_and_is_told(control, words, value):
    row = checked(control, (9.0, 15.0))
    assert (row["verdict"], row["value"]) == (verdicts.REPRODUCED, 10.5)
    assert (row["control"], row["control_verdict"]) == (words, verdicts.MISSED)
    assert row["control_value"] == value
    told = ClaimView({key: str(each) for key, each in row.items()} | {"unit": "steps"})
    assert told.control == f"fails with {words}: {value} steps"


@pytest.mark.parametrize(
    ("control", "words"), [({"case": "near"}, "case near"), ("halved", "halved"), ("fine", "fine")]
)
def test_a_claim_that_its_control_meets_too_is_not_decisive(control, words):
    row = checked(control, (5.0, 15.0))
    assert row["verdict"] == verdicts.NOT_DECISIVE
    assert row["reason"] == f"its control meets it too ({words}); 2 of 2 in the interval"
    view = ClaimView({key: str(each) for key, each in row.items()})
    assert view.control.startswith(f"does not fail with {words}: ")


def test_a_control_that_meets_half_of_it_does_not_fail():
    assert checked("halved", (5.5, 15.0))["control_verdict"] == verdicts.PARTLY
    assert checked("halved", (5.5, 15.0))["verdict"] == verdicts.NOT_DECISIVE


def test_a_miss_remains_a_miss_whatever_its_control_does():
    row = checked("halved", (5.0, 6.0))
    assert row["verdict"] == verdicts.MISSED
    assert row["control_verdict"] == verdicts.REPRODUCED


@pytest.mark.parametrize("control", [{"case": "nowhere"}, "not_made"])
def test_a_control_that_cannot_be_judged_says_so(control):
    row = checked(control)
    assert (row["verdict"], row["control_verdict"]) == (verdicts.REPRODUCED, verdicts.NOT_RUN)
    view = ClaimView({key: str(each) for key, each in row.items()})
    assert view.control == f"control not judged: {controls.in_words(control)}"


@pytest.mark.parametrize(("changed", "scale"), [({"fails_with": None}, "paper"), ({}, "quick")])
def test_without_a_control_or_a_number_the_row_is_as_it_was(changed, scale):
    claim = NAMED | {"fails_with": "halved", "scales": ["paper"]} | changed
    row = judging.row("toy", claim, TABLES, scale)
    assert controls.checked("toy", claim, row, TABLES, UNDER) is row


def test_the_interpretation_of_a_claim_that_another_paper_counts_is_that_papers():
    row = checked("rough", same_as="toy/T1", id="S1")
    assert (row["verdict"], row["control_value"]) == (verdicts.REPRODUCED, 20.5)


def test_a_control_that_fails_is_told_in_one_line():
    with pytest.raises(UserError, match=r"claim T1 of toy: broken cannot be comp.*KeyError"):
        checked("broken")


def test_a_number_that_is_never_reached_fails():
    frame = table(drawn=10, other=math.inf)
    row = checked({"case": "other"}, tables={"two": frame})
    assert (row["control_verdict"], row["control_value"]) == (verdicts.MISSED, math.inf)
    view = ClaimView({key: str(each) for key, each in row.items()} | {"unit": "steps"})
    assert view.control == "fails with case other: never"


def test_a_number_that_is_an_end_of_its_interval_has_no_more_digits():
    row = {"value": str(1 / 3), "expected_low": str(1 / 3), "expected_high": "1"}
    assert ClaimView(row, digits=4).value == "0.3333"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.44001, "1.44001"), (1.4400, "1.44"), (1.43, "1.43"), (0.9599, "0.9599"), (1004.4, "1,004")],
)
def test_a_number_is_shown_on_the_side_of_the_interval_on_which_it_is(value, shown):
    row = {"value": str(value), "expected_low": "0.96", "expected_high": "1.44"}
    assert ClaimView(row, digits=3).value == shown
