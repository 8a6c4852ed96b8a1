"""From a claim's values to its verdict, and from the tables of a scale to ``claims.csv``."""

from math import inf, nan

import pandas as pd
import pytest

from grokatlas.claims import judging, statistics, verdicts
from grokatlas.claims.view import ClaimView
from grokatlas.errors import UserError
from tests import cases
from tests.unit.claims.claim_g4 import CLAIM, replace_function, weights


@cases.listed("values", "judged", "seeds", "verdict", "reason")
def test_values_give_a_verdict(values, judged, seeds, verdict, reason):
    found, why = verdicts.judge(values, [1, 3], judged, seeds)
    assert found == verdict
    assert why.startswith(reason)


@pytest.mark.parametrize("judged", ["each", "mean", "median"])
@pytest.mark.parametrize(("values", "seeds"), [([2.0, nan], 1), ([2.0], 2), ([2.0, nan, 2.0], 2)])
def test_missing_seeds_are_never_reproduced(values, judged, seeds):
    found, why = verdicts.judge(values, [1, 3], judged, seeds)
    assert found == "partly"
    assert "seeds missing" in why


@pytest.mark.parametrize(
    ("expected", "met"), [([None, 2], True), ([2, None], True), ([3, None], False)]
)
def test_an_interval_may_be_open(expected, met):
    assert (verdicts.judge([2.0], expected, "each", 1)[0] == "reproduced") is met


@cases.listed("found", "scale", "rejects", "told")
def test_small_runs_and_rejected_interpretations_have_verdicts_of_their_own(
    found, scale, rejects, told
):
    assert verdicts.named(found, scale, rejects) == told
    assert told in verdicts.possible(scale)


def test_the_mean_of_values_that_are_infinite_on_both_sides_is_no_number():
    found, why = verdicts.judge([inf, -inf, 2.0], [1, 3], "mean", 3)
    assert found == "not reproduced"
    assert why == "the mean is outside the interval; 1 of 3 in the interval"


@pytest.mark.parametrize(
    ("published", "spread"),
    [("x7.56 ± 0.82 fewer", 0.82), ("7.56 ± 0.82.", 0.82), ("2 ±1e-3", 1e-3), ("7", None)],
)
def test_a_printed_deviation_is_read(published, spread):
    claim = CLAIM | {"published": published}
    row = judging.row("geometry", claim, {"two_weights": weights(5.0, 6.0)}, "paper")
    assert row["spread"] == spread


def test_a_rejected_interpretation_is_named_in_the_reason():
    claim = CLAIM | {"rejects": "weight decay of 0.1"}
    row = judging.row("geometry", claim, {"two_weights": weights(5.0, 6.0)}, "paper")
    assert row["verdict"] == "interpretation rejected"
    assert row["reason"].startswith("weight decay of 0.1; 0 of 2 in the interval")


def test_a_rejected_interpretation_that_meets_its_interval_is_not_decisive_and_in_no_tally():
    claim = CLAIM | {"rejects": "weight decay of 0.1"}
    row = judging.row("geometry", claim, {"two_weights": weights(1.0, 2 / 3)}, "paper")
    assert row["verdict"] == "not decisive"
    assert row["reason"].startswith("weight decay of 0.1; 2 of 2 in the interval")
    told = verdicts.tally(["reproduced", row["verdict"], "partly", "reproduced"])
    assert told == "2 reproduced, 1 partly; not counted: 1 not decisive"
    assert verdicts.tally([row["verdict"]]) == "not counted: 1 not decisive"


def test_a_claim_whose_interval_was_set_afterwards_says_so_and_is_counted():
    tables = {"two_weights": weights(1.0, 2 / 3)}
    row = judging.row("geometry", CLAIM | {"afterwards": True}, tables, "paper")
    assert ClaimView({"afterwards": row["afterwards"]}).afterwards == "set afterwards"
    assert judging.row("geometry", CLAIM, tables, "paper")["afterwards"] == ""
    given = ["reproduced", "reproduced", "partly", "partly"]
    assert verdicts.tally(given, given[1:]) == "2 reproduced (1 set afterwards), 2 partly"


def test_a_row_tells_number_spread_and_runs():
    row = judging.row("geometry", CLAIM, {"two_weights": weights(1.0, 2 / 3 + 0.5)}, "paper")
    assert row["verdict"] == "partly"
    assert row["lowest"] == 0
    assert row["highest"] == pytest.approx(0.5)
    assert row["value"] == pytest.approx(0.25)
    assert row["count"] == 2
    assert row["runs"] == "run0 run1"


def test_a_claim_from_some_of_the_seeds_is_judged_and_says_so():
    table = {"two_weights": weights(1.0, 2 / 3)}
    whole = judging.row("geometry", CLAIM, table, "paper")
    some = judging.row("geometry", CLAIM | {"so_far": "2 of 10 seeds"}, table, "paper")
    assert some == whole | {"reason": f"{whole['reason']}; so far 2 of 10 seeds"}
    assert some["verdict"] == "reproduced"


def test_a_claim_is_not_judged_at_a_scale_it_does_not_name():
    row = judging.row("geometry", CLAIM | {"scales": ["paper"]}, {}, "quick")
    assert row["verdict"] == "not run at this scale"
    assert row["reason"] == "judged at paper scale"


def test_small_runs_have_fewer_seeds_than_a_claim_asks_for(monkeypatch):
    monkeypatch.setattr(judging, "_values", lambda *_, **__: ([1.0], ""))
    claim = CLAIM | {"scales": ["quick", "paper"], "expected": [0.5, 2.0], "seeds": 3}
    claim |= {"published_cells": {}, "digitised_points": [], "rejects": None, "judged": "each"}
    tables = {"two_weights": pd.DataFrame({"record": ["history"], "run": ["a"]})}
    verdict = {s: judging.row("geometry", claim, tables, s)["verdict"] for s in ("quick", "paper")}
    assert verdict == {"quick": "seen at quick scale", "paper": "partly"}


def test_a_failing_function_is_told_in_one_line():
    with pytest.raises(UserError, match="claim G4 of geometry: distance_at_rest cannot be comp"):
        judging.row("geometry", CLAIM, {"two_weights": pd.DataFrame({"record": []})}, "quick")


def test_a_keyword_whose_value_no_table_has_is_told_with_those_that_there_are(monkeypatch):
    replace_function(monkeypatch, lambda tables, weight: [])
    tables = {"two_weights": weights(1.0, 2 / 3)}
    asked = {"published_cells": {}, "digitised_points": []}
    for weight, told in ((0.5, "; no row has weight: 0.5 (there are 0.0, 1.0)"), (1.0, "")):
        claim = CLAIM | asked | {"keywords": {"weight": weight}}
        row = judging.row("geometry", claim, tables, "paper")
        assert row["verdict"] == "not run at this scale"
        assert row["reason"] == f"the tables do not hold it{told}"


def history(accuracy: dict[int, list[float]]) -> pd.DataFrame:
    rows = [
        {"record": "history", "seed": seed, "step": step * 10, "accuracy": value, "case": "a"}
        for seed, values in accuracy.items()
        for step, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


def test_statistics_are_one_number_a_seed():
    rows = statistics.history(history({1: [0.1, 0.9, 0.2], 0: [0.1, 0.2, 0.3]}), case="a")
    assert statistics.first(rows, "accuracy", 0.9) == [inf, 10]
    assert statistics.first(rows, "accuracy", 0.15, below=True) == [0, 0]
    assert statistics.lasting(rows, "accuracy", 0.2) == [10, 10]
    assert statistics.lasting(rows, "accuracy", 0.3) == [20, inf]
    assert statistics.lasting(rows, "accuracy", 0.1) == [0, 0]
    diverged = statistics.history(history({0: [0.1, 0.9, nan]}), case="a")
    assert statistics.lasting(diverged, "accuracy", 0.2) == [inf]
    assert statistics.last(rows, "accuracy") == [0.3, 0.2]
    assert statistics.at(rows, "accuracy", 15) == [0.2, 0.9]


def test_a_slope_is_an_exponent():
    x = pd.Series([1.0, 10.0, 100.0, -1.0, 5.0])
    assert statistics.slope(x, 3 * x.abs() ** -2) == pytest.approx(-2)
    assert pd.isna(statistics.slope(x[:1], x[:1]))
