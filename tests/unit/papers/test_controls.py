"""Every claim names what fails it: how many do not may only fall, and no recorded control meets."""

import csv

import pytest

from grokatlas.claims.verdicts import MISSED, NOT_DECISIVE
from grokatlas.declare import versions
from grokatlas.publish import recorded
from tests.checkout import ROOT, declared_papers

PAPERS = declared_papers()

# claims without `fails_with`; a number here may only fall
WITHOUT_CONTROL = {
    "beyond_l2": 24,
    "geometry": 11,
    "grokalign": 17,
    "jacobian_alignment": 3,
    "plates": 10,
    "two_timescales": 4,
}


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


def test_no_recorded_claim_is_met_by_its_control():
    with (ROOT / "recorded" / recorded.CLAIMS).open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row.get("control")]
    assert {row["id"] for row in rows if row["control_verdict"] != MISSED} == set()
    assert NOT_DECISIVE not in {row["verdict"] for row in rows}
