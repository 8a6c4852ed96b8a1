"""Every claim names what fails it: how many do not, and which controls meet, may only fall."""

import csv

import pytest

from grokatlas.claims.verdicts import MISSED, NOT_DECISIVE
from grokatlas.declare import versions
from grokatlas.publish import recorded
from tests.checkout import ROOT, declared_papers

PAPERS = declared_papers()

# claims without `fails_with`; a number here may only fall
WITHOUT_CONTROL = {
    "beyond_l2": 21,
    "geometry": 11,
    "grokalign": 15,
    "jacobian_alignment": 3,
    "plates": 9,
    "two_timescales": 4,
}
# claims that a neighbouring setting meets as well, so that they decide nothing and count as nothing
MET = {"A5", "A5b", "A30k", "N43", "P22c", "P31", "P31b", "P32", "P32b", "P52", "P88"}


@pytest.mark.parametrize("name", PAPERS)
def test_claims_without_a_control_only_become_fewer(name):
    without = [
        claim.id
        for claim in PAPERS[name].claims
        if not (claim.fails_with or claim.rejects or versions.same_claim(PAPERS, name, claim))
    ]
    known = WITHOUT_CONTROL[name]
    assert len(without) <= known, f"give the new claim of {name} a `fails_with`: {without}"
    assert len(without) == known, f"write {len(without)} for {name} in WITHOUT_CONTROL"


def test_a_recorded_claim_that_its_control_meets_is_known_and_not_decisive():
    with (ROOT / "recorded" / recorded.CLAIMS).open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row.get("control")]
    claims = {(name, claim.id): claim for name in PAPERS for claim in PAPERS[name].claims}
    own = [
        row
        for row in rows
        if not versions.same_claim(PAPERS, row["paper"], claims[row["paper"], row["id"]])
    ]
    assert {row["id"] for row in own if row["control_verdict"] != MISSED} == MET
    assert {row["id"] for row in own if row["verdict"] == NOT_DECISIVE} == MET
