"""The check of claims on made tables that the tests of a study share."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from grokatlas.declare import strict_yaml
from grokatlas.declare.claim_models import Claim
from grokatlas.study import claim_tests

TABLES = {"rates": pd.DataFrame({"slow": [8.0, 9.0], "quick": [1.0, 8.0]})}


@pytest.fixture(autouse=True)
def _functions(monkeypatch):
    module = SimpleNamespace(
        last=lambda tables, case, experiment="rates": list(tables["rates"][case]),
        emptied=lambda tables: {name: table[:0] for name, table in tables.items()},
        reversed=lambda tables: {name: -table for name, table in tables.items()},
    )
    monkeypatch.setitem(sys.modules, "grokatlas.papers.toy.claims", module)


def claim(fails_with, expected=(5, None)):
    told = {"id": "T1", "statement": "it is slow", "place": "text", "source": "text"}
    told |= {"published": "slow", "figure": "rates", "value": "last", "keywords": {"case": "slow"}}
    return Claim(**told, expected=list(expected), fails_with=fails_with)


def test_a_claim_that_is_met_and_whose_control_is_not_passes():
    claim_tests.check("toy", claim("reversed"), TABLES)
    claim_tests.check("toy", claim({"case": "quick"}, (8.5, None)), {"rates": TABLES["rates"][1:]})


def test_one_seed_that_meets_the_control_is_enough_to_fail():
    with pytest.raises(AssertionError, match=r"8\.0"):
        claim_tests.check("toy", claim({"case": "quick"}), TABLES)


def test_a_claim_that_a_seed_misses_fails():
    with pytest.raises(AssertionError, match=r"9\.0"):
        claim_tests.check("toy", claim("reversed", (None, 8.5)), TABLES)


def test_a_claim_gets_the_tables_that_it_reads():
    one = claim("emptied").model_copy(update={"keywords": {"experiment": "other", "case": "slow"}})
    with pytest.raises(KeyError, match="rates"):
        claim_tests.check("toy", one, TABLES | {"other": TABLES["rates"]})


def test_no_numbers_fail():
    with pytest.raises(AssertionError):
        claim_tests.check("toy", claim("emptied"), TABLES)


def test_the_claims_are_those_of_the_folder(monkeypatch):
    from tests.checkout import ROOT

    monkeypatch.chdir(ROOT / "studies/norm_cap")
    declared = strict_yaml.load(Path("config/papers/norm_cap/claims.yaml"))
    ids = [each["id"] for figure in declared.values() for each in figure["claims"]]
    assert [each.id for each in claim_tests.of("norm_cap")] == ids
