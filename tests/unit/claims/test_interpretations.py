"""A claim under another interpretation: its function and interval on the cases that stand in."""

import numpy as np
import pandas as pd
import pytest

from grokatlas.claims import interpretations, judging, verdicts
from grokatlas.claims.interpretations import Otherwise
from grokatlas.errors import UserError
from tests.unit.claims.claim_g4 import CLAIM

SHARED = {"module": "tests.unit.claims.small_claims", "seeds": 2, "expected": [5.0, 15.0]}
NAMED = CLAIM | SHARED | {"id": "T1", "value": "last_value", "keywords": {"case": "drawn"}}
FIXED = CLAIM | SHARED | {"id": "T2", "value": "last_of_drawn", "keywords": {}}
RATIO = CLAIM | SHARED | {"id": "T3", "value": "ratio", "keywords": {}, "expected": [0.1, 10]}
BOTH = {"drawn": "other"}


def table(**values: float) -> pd.DataFrame:
    """Two seeds of a history by case; the last values are those given."""
    rows = [
        {"record": "history", "run": f"{case}0", "member": seed, "seed": seed, "case": case}
        | {"step": step, "size": value + seed + (step < 10) * 99.0, "weight": 0.1}
        for case, value in values.items()
        for seed in (0, 1)
        for step in (0, 10)
    ]
    return pd.DataFrame(rows)


def judgement(**changed) -> dict:
    told = {"interpretation": "rough", "keywords": {"case": "drawn"}, "same_as": ""}
    return told | {"not_judged": "", "rejects": None} | changed


def judged(claim, otherwise, **changed) -> dict | None:
    told = judgement(**{"keywords": claim["keywords"], **changed})
    return interpretations.row("toy", claim, told, otherwise, "paper")


def within(frame: pd.DataFrame, cases: dict[str, str] | None = None) -> Otherwise:
    """Cases that stand in for others of the same table."""
    return Otherwise({"two": frame}, {"two": frame}, {"two": cases or BOTH})


@pytest.mark.parametrize("claim", [NAMED, FIXED], ids=["names its case", "names none"])
def test_a_case_stands_in_under_the_name_of_the_drawn_one(claim):
    frame = table(drawn=10, other=20, third=0)
    drawn = judging.row("toy", claim, {"two": frame}, "paper")
    row = judged(claim, within(frame))
    assert (drawn["verdict"], drawn["value"]) == (verdicts.REPRODUCED, 10.5)
    assert (row["state"], row["verdict"], row["value"]) == ("judged", verdicts.MISSED, 20.5)
    assert (row["lowest"], row["highest"], row["count"]) == (20, 21, 2)
    assert row["runs"] == "other0"
    assert (row["paper"], row["id"], row["interpretation"]) == ("toy", claim["id"], "rough")


def test_a_miss_rejects_an_interpretation_that_is_tested_and_the_drawn_one_is_not_named():
    claim = NAMED | {"rejects": "what is drawn"}
    row = judged(claim, within(table(drawn=10, other=20)), rejects="a rough step")
    assert row["verdict"] == verdicts.REJECTED
    assert row["reason"] == "a rough step; 0 of 2 in the interval"
    assert judged(claim, within(table(drawn=10, other=20)))["verdict"] == verdicts.MISSED


def test_a_claim_that_does_not_read_the_case_has_nothing_to_do_with_it():
    frame = table(drawn=10, other=20, third=7)
    assert judged(NAMED | {"keywords": {"case": "third"}}, within(frame)) is None


def test_a_claim_on_both_interpretations_cannot_be_judged_under_one():
    row = judged(RATIO, within(table(drawn=10, other=20)))
    assert (row["state"], row["reason"]) == ("undefined", "it compares both interpretations")
    assert row["verdict"] == verdicts.NOT_RUN


def test_a_claim_that_needs_a_case_without_stand_in_cannot_be_judged():
    claim = RATIO | {"keywords": {"over": "third"}, "value": "ratio_over"}
    row = judged(claim, within(table(drawn=10, other=20, third=5)))
    assert row["state"] == "undefined"
    assert row["verdict"] == verdicts.NOT_RUN
    other = judged(claim, within(table(drawn=10, other=20, third=5), BOTH | {"third": "third"}))
    assert (other["state"], other["value"]) == ("judged", pytest.approx(3.75))


def test_a_function_that_fails_is_no_error():
    claim = FIXED | {"value": "needs_a_third"}
    frame = table(drawn=10, other=20, third=5)
    assert judging.row("toy", claim, {"two": frame}, "paper")["value"] == 10.5
    row = judged(claim, within(frame))
    told = f"{interpretations.LACKS}: needs_a_third cannot be computed: KeyError 'third'"
    assert (row["state"], row["reason"]) == ("undefined", told)
    with pytest.raises(UserError):
        judging.row("toy", claim, {"two": frame[frame["case"] != "third"]}, "paper")


def test_a_table_of_another_experiment_stands_in():
    own, other = table(drawn=10, third=5), table(drawn=14, third=6)
    row = judged(NAMED, Otherwise({"two": own}, {"two": other}, {"two": None}))
    assert (row["verdict"], row["value"]) == (verdicts.REPRODUCED, 14.5)
    row = judged(NAMED, Otherwise({"two": own}, {"two": other}, {"two": {"drawn": "third"}}))
    assert row["value"] == 6.5


def test_interpretations_that_have_the_same_runs_are_not_two():
    own, other = table(drawn=10, third=5), table(drawn=10, third=5)
    drawn, taken = own.assign(paper="here"), other.assign(paper="there", experiment="two")
    row = judged(NAMED, Otherwise({"two": drawn}, {"two": taken}, {"two": None}))
    assert (row["state"], row["reason"]) == ("undefined", interpretations.SAME)
    changed = taken.assign(weight=0.2)  # what is measured beside it is another matter
    assert (
        judged(NAMED, Otherwise({"two": drawn}, {"two": changed}, {"two": None}))["value"] == 10.5
    )
    third = {"two": {"drawn": "third"}}
    assert judged(NAMED, Otherwise({"two": drawn}, {"two": taken}, third))["value"] == 5.5


def test_a_case_that_is_the_same_in_both_interpretations_is_none_that_is_otherwise():
    own, other = table(drawn=10, third=5), table(drawn=14, third=5)
    tables = Otherwise({"two": own}, {"two": other}, {"two": None})
    assert judged(NAMED, tables)["value"] == 14.5
    assert judged(NAMED | {"keywords": {"case": "third"}}, tables) is None
    over = RATIO | {"keywords": {"over": "third"}, "value": "ratio_over"}
    assert judged(over, tables)["value"] == pytest.approx((14 / 5 + 15 / 6) / 2)


def test_keywords_are_laid_over():
    frame = table(drawn=10, other=20)
    row = judged(NAMED, Otherwise({"two": frame}, {}, {}), keywords={"case": "other"})
    assert row["value"] == 20.5


def test_keywords_may_lead_a_claim_to_a_case_that_is_otherwise():
    claim = NAMED | {"keywords": {"case": "third"}}
    frame = table(drawn=10, other=20, third=30)
    assert judged(claim, within(frame)) is None
    assert judged(claim, within(frame), keywords={"case": "drawn"})["value"] == 20.5


def test_a_keyword_that_its_function_does_not_know_is_no_lack_of_runs():
    frame = table(drawn=10, other=20)
    claim = NAMED | {"value": "at_time", "keywords": {"time": "t1"}}
    row = judged(claim, Otherwise({"two": frame}, {}, {}), keywords={"time": "t9"})
    assert row["state"] == "undefined"
    assert row["reason"] == "at_time cannot be computed: KeyError 't9'"


def test_what_has_no_meaning_says_why_where_it_reads_the_case():
    frame = table(drawn=10, other=20, third=7)
    row = judged(NAMED, within(frame), not_judged="it is timed otherwise")
    assert (row["state"], row["reason"]) == ("undefined", "it is timed otherwise")
    third = NAMED | {"keywords": {"case": "third"}}
    assert judged(third, within(frame), not_judged="it is timed otherwise") is None


def test_another_scale_and_missing_tables_are_told():
    told = judgement()
    row = interpretations.row("toy", NAMED | {"scales": ["paper"]}, told, None, "quick")
    assert (row["state"], row["reason"]) == ("other scale", "judged at paper scale")
    row = interpretations.row("toy", NAMED, told, None, "paper")
    assert (row["state"], row["reason"]) == ("absent", "its tables are not made")


def test_seeds_that_diverged_are_missing_under_an_interpretation_too():
    frame = table(drawn=10, other=12).assign(train_loss=0.1)
    gone = (frame["case"] == "other") & (frame["seed"] == 1) & (frame["step"] > 0)
    frame.loc[gone, "train_loss"] = np.nan
    row = judged(NAMED, within(frame))
    assert (row["verdict"], row["count"]) == (verdicts.PARTLY, 1)
    assert "1 of 2 members diverged" in row["reason"]


def test_the_rows_are_written_in_one_order():
    rows = [judged(NAMED, within(table(drawn=10, other=20)))]
    made = interpretations.frame(rows)
    assert tuple(made) == interpretations.COLUMNS
    assert list(interpretations.frame([])) == list(made)
    assert made["count"].dtype == "int64"


def under_a_rule(claim, frame, scale="paper", rejects=None, tested=None, **other) -> dict | None:
    """A claim under an interpretation that measures by the rule of T9: the ratio of both cases."""
    rule = RATIO | {"id": "T9", "expected": [1.1, None], "rejects": tested} | other
    tables = None if frame is None else Otherwise({"two": frame}, {}, {})
    told = judgement(same_as="T9", keywords=claim["keywords"], rejects=rejects)
    return interpretations.from_claim("toy", claim, told, rule, tables, scale)


def test_a_claim_that_another_function_judges_has_its_own_interval_and_seeds():
    frame = table(drawn=21, other=20)  # ratios of 1.05 and 22 over 21
    claim = NAMED | {"expected": [1.001, None]}
    row = under_a_rule(claim, frame)
    assert (row["id"], row["same_as"], row["state"]) == ("T1", "T9", "judged")
    assert (row["verdict"], row["count"], row["highest"]) == (verdicts.REPRODUCED, 2, 1.05)
    assert under_a_rule(claim | {"expected": [1.049, None]}, frame)["verdict"] == verdicts.PARTLY
    mean = claim | {"expected": [1.048, None], "judged": "mean"}
    assert under_a_rule(mean, frame)["verdict"] == verdicts.REPRODUCED
    few = under_a_rule(claim | {"seeds": 3}, frame)
    assert few["verdict"] == verdicts.PARTLY
    assert few["reason"] == "2 of 2 in the interval; 1 of 3 seeds missing"


def test_a_miss_by_another_function_rejects_what_interpretation_or_that_claim_tests():
    frame = table(drawn=10, other=10)
    assert under_a_rule(NAMED, frame)["verdict"] == verdicts.MISSED
    assert under_a_rule(NAMED, frame, rejects="a tenth")["verdict"] == verdicts.REJECTED
    row = under_a_rule(NAMED, frame, tested="a tenth of the way")
    assert row["reason"] == "a tenth of the way; 0 of 2 in the interval"


@pytest.mark.parametrize("scales", [(["paper"], ["quick", "paper"]), (["quick"], ["paper"])])
def test_a_claim_that_another_function_judges_is_judged_at_scales_of_both(scales):
    claim = NAMED | {"scales": scales[0]}
    row = under_a_rule(claim, table(drawn=21, other=20), scale="quick", scales=scales[1])
    assert (row["state"], row["verdict"]) == ("other scale", verdicts.NOT_RUN)
    assert (row["reason"], row["count"]) == ("judged at paper scale", 0)
    assert "value" not in row


def test_a_claim_that_another_function_cannot_judge():
    assert under_a_rule(NAMED, None)["state"] == "absent"
    row = under_a_rule(NAMED, table(drawn=21))
    assert row["state"] == "undefined"
    row = under_a_rule(NAMED, table(drawn=21), value="at_time", keywords={"time": "t9"})
    assert row["reason"] == "at_time cannot be computed: KeyError 't9'"
