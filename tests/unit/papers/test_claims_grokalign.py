"""Claims of `grokalign` and `jacobian_alignment` on tables that meet, miss and lack them all."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from grokatlas.claims import judging, verdicts
from grokatlas.declare import checks, versions
from grokatlas.errors import UserError
from grokatlas.papers.grokalign import _jacobians_statistics, _methods_statistics, claims
from grokatlas.results import layout
from tests.checkout import declared_papers
from tests.tiers import every
from tests.unit.papers.grokalign_tables import (
    EVEN,
    FACTORS,
    acceleration,
    bare,
    opposite,
    published,
    transformer,
    two_cases,
    xor,
)
from tests.unit.papers.test_claims import LISTED

APART_CLAIMS = {*itertools.chain(*LISTED["grokalign"].values())}
# functions of claims with a test of their own
APART = {claim.value for claim in declared_papers()["grokalign"].claims if claim.id in APART_CLAIMS}
PAPERS = ("grokalign", "jacobian_alignment")


@pytest.fixture(scope="module")
def papers():
    return declared_papers(*PAPERS)


# of a reading that is tested
TESTED = {verdicts.REJECTED: verdicts.MISSED, verdicts.NOT_DECISIVE: verdicts.REPRODUCED}
WORLDS = {
    verdicts.REPRODUCED: published,
    verdicts.MISSED: opposite,
    verdicts.NOT_RUN: bare,
}


# the claims of a version are those of its paper
@pytest.mark.parametrize(("verdict", "name"), every(2, itertools.product(WORLDS, PAPERS)))
def test_every_claim_is_met_missed_and_lacked(papers, name, verdict):
    tables, found = WORLDS[verdict](), {}
    for claim in papers[name].claims:
        if claim.value in APART:
            continue
        declared = versions.declared_claim(papers, name, claim)
        stems = layout.table_stems("", name, declared["read"])
        # what only interpretations are judged on has no table here
        own = {each: tables[each] for each in stems if each in tables}
        found[claim.id] = judging.row(name, declared, own, "paper")["verdict"]
        if declared["rejects"]:
            found[claim.id] = TESTED.get(found[claim.id], found[claim.id])
    assert found == dict.fromkeys(found, verdict)
    assert len(found) > 80


def test_a_level_that_is_never_reached_is_not_the_same_as_a_missing_seed():
    tables = acceleration(FACTORS)
    steps = tables["acceleration"]
    late = (steps["level"] == 0.85) & steps["case"].isin(["ce_baseline", "ce_grokalign"])
    steps.loc[late & (steps["seed"] == 0) & (steps["case"] == "ce_grokalign"), "step"] = math.nan
    steps.loc[late & (steps["seed"] == 1) & (steps["case"] == "ce_baseline"), "step"] = math.nan
    steps.loc[late & (steps["seed"] == 2), "step"] = math.nan
    tables["acceleration"] = steps[(steps["seed"] != 3) | (steps["case"] != "ce_grokalign")]
    chosen = {"loss": "ce", "method": "grokalign", "series": "time"}
    fewer = _methods_statistics.times_fewer(tables, **chosen)
    assert fewer[:2] == [0, math.inf]
    assert math.isnan(fewer[2])
    assert math.isnan(fewer[3])
    assert fewer[4] == pytest.approx(6.41)
    assert _methods_statistics.times_more(tables, **chosen)[:2] == [math.inf, 0]


def test_an_order_of_methods_needs_more_than_the_noise_of_seeds(monkeypatch):
    def number(*factors):
        monkeypatch.setattr(_methods_statistics, "times_fewer", lambda *_: list(factors))
        return claims.times_fewer_beyond_noise({}, "ce", "grokalign", "steps", 2)

    assert number(1.1, 1.3) == pytest.approx([1.0])
    assert number(1.2, 1.2) == pytest.approx([1.2])
    assert number(1.2) == []
    assert math.isnan(number(1.2, 1.2, math.nan)[0])
    with np.errstate(invalid="ignore"):  # as where claims are judged
        assert math.isnan(number(1.2, math.inf)[0])


def test_each_precision_is_read_from_its_own_cases():
    tables = acceleration(FACTORS, saving=(0.7, 0.95))
    steps = tables["acceleration_float64_loss"]
    slow = (steps["case"] == "ce_grokalign_float64_loss") & (steps["seed"] == 1)
    steps.loc[slow, "step"] *= 2
    chosen = {"loss": "ce", "method": "grokalign"}
    single, double = (
        claims.saving_of_precision(tables, **chosen, variant=variant)
        for variant in ("_float32", "_float64_loss")
    )
    assert single == pytest.approx([0.7] * 10)
    assert double == pytest.approx([0.95, 0.475] + [0.95] * 8)


def test_robustness_and_generalisation_that_never_come_are_infinite():
    late = xor(50, {"weight_decay": math.inf, "grokalign": 110}, EVEN)
    chosen = {"noise": 0.4, "level": 0.99}
    robust = _jacobians_statistics.robust_from({"xor": late}, case="weight_decay", **chosen)
    assert robust == [math.inf] * 3
    assert _jacobians_statistics.robust_from_ratio({"xor": late}, **chosen) == [math.inf] * 3
    lost = late.assign(**{"noisy_accuracy.1": late["noisy_accuracy.1"] * (late["step"] < 1000)})
    robust = _jacobians_statistics.robust_from({"xor": lost}, case="grokalign", **chosen)
    assert robust == [math.inf] * 3
    steps = {"a": math.nan, "b": 100.0, "c": math.nan}
    tables = {"e": transformer(steps, dict.fromkeys("abc", 0.5))}
    assert _jacobians_statistics.generalisation(tables, "e", case="a") == [math.inf] * 3
    assert _jacobians_statistics.generalisation_ratio(tables, "e", case="b", other="a") == [0] * 3
    neither = _jacobians_statistics.generalisation_ratio(tables, "e", case="a", other="c")
    assert all(math.isnan(value) for value in neither)


def test_seeds_are_compared_pair_by_pair():
    attacked = two_cases({"weight_decay": 0.02, "grokalign": 0.14}, EVEN)
    attacked = attacked[(attacked["case"] != "weight_decay") | (attacked["seed"] != 1)]
    chosen = {"experiment": "e", "record": "robust_accuracy", "column": "robust_accuracy"}
    cases = {"case": "grokalign", "other": "weight_decay"}
    ratios = _jacobians_statistics.final_ratio({"e": attacked}, **chosen, **cases)
    assert [ratios[0], ratios[2]] == pytest.approx([7, 7])
    assert math.isnan(ratios[1])


def test_an_end_is_told_beside_an_earlier_step():
    rows = pd.DataFrame({"record": "robust_accuracy", "case": "a", "seed": [0, 0, 0, 1, 1]})
    rows = rows.assign(step=[10, 1000, 8000, 1000, 8000], accuracy=[9, 0.4, 0.1, 0, 0.2])
    chosen = {"experiment": "e", "record": "robust_accuracy", "column": "accuracy", "case": "a"}
    found = _jacobians_statistics.final_over_step({"e": rows}, **chosen, step=1000)
    assert found[0] == pytest.approx(0.25)
    assert math.isnan(found[1])


def test_a_claim_may_name_an_imported_function_and_nothing_else(papers):
    paper = papers["grokalign"]
    claim = next(each for each in paper.claims if each.value == "times_fewer")
    checks.check({"grokalign": paper})  # claims.py imports that function
    for value in ("statistics_methods", "ratios"):
        wrong = claim.model_copy(update={"value": value})
        changed = {"claims": [wrong], "deviations": []}
        with pytest.raises(UserError, match=f"no function '{value}'"):
            checks.check({"grokalign": paper.model_copy(update=changed)})
