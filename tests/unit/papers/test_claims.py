"""Claims on synthetic tables that meet, miss and lack them, as `claims.yaml` lists them."""

from itertools import chain
from pathlib import Path

import pytest
import yaml

from grokatlas.claims import controls, judging
from grokatlas.claims.verdicts import MISSED, NOT_RUN, REPRODUCED
from grokatlas.declare import versions
from grokatlas.declare.models import Figure
from tests.checkout import declared_papers
from tests.tables import judged
from tests.unit.papers import beyond_l2_networks, beyond_l2_recovery, implicit_bias
from tests.unit.papers import test_claims_causes as causes
from tests.unit.papers import test_claims_geometry as geometry
from tests.unit.papers import test_claims_kinks as kinks
from tests.unit.papers import test_claims_rescaling as rescaling
from tests.unit.papers import test_claims_scaling as scaling
from tests.unit.papers import test_claims_slow_phase as slow_phase
from tests.unit.papers import test_claims_two_timescales as two_timescales

MAKERS = {
    "beyond_l2": (beyond_l2_networks, beyond_l2_recovery, rescaling, scaling),
    "geometry": (geometry,),
    "grokalign": (causes,),
    "two_timescales": (two_timescales, implicit_bias, kinks, slow_phase),
}
LISTED = yaml.safe_load(Path(__file__).with_name("claims.yaml").read_text(encoding="utf-8"))
CASES = [
    pytest.param(paper, maker, claim, *keywords, id=claim)
    for paper, makers in LISTED.items()
    for maker, claims in makers.items()
    for claim, keywords in claims.items()
]
WITH_CONTROL = {"B34c", "B44", "B46", "B47", "B48", "B49", "B50"}
WITH_CONTROL |= {"A32e", "A65", "A65e", "A68", "A69", "A70", "A71"}
WITH_CONTROL |= {"B26", "B27", "B30", "G4"}
ELSEWHERE = {"G10c"}  # tested with its tables


def make(paper, maker, **keywords):
    """A table of a paper's claims by the function of a name."""
    (found,) = (vars(module)[maker] for module in MAKERS[paper] if maker in vars(module))
    return found(**keywords)


@pytest.mark.parametrize(("paper", "maker", "name", "meets", "misses"), CASES)
def test_a_claim_is_met_missed_and_lacked(paper, maker, name, meets, misses):
    met = make(paper, maker, **meets)
    tables = met, make(paper, maker, **misses), met.assign(record="other")
    verdicts = [judged(paper, name, table)["verdict"] for table in tables]
    assert verdicts == [REPRODUCED, MISSED, NOT_RUN]


@pytest.mark.parametrize(
    ("paper", "maker", "name", "meets", "_"), [c for c in CASES if c.id in WITH_CONTROL]
)
def test_the_control_of_a_claim_fails(paper, maker, name, meets, _):
    (claim,) = (each for each in declared_papers()[paper].claims if each.id == name)
    declared = versions.declared_claim(declared_papers(), paper, claim)
    tables = dict.fromkeys(declared["read"], make(paper, maker, **meets))
    row = judging.row(paper, declared, tables, "paper")
    checked = controls.checked(paper, declared, row, tables, {})
    assert (checked["verdict"], checked["control_verdict"]) == (REPRODUCED, MISSED)


@pytest.mark.parametrize("paper", ["beyond_l2", "geometry", "two_timescales"])
def test_every_function_is_tested(paper):
    tested = {*ELSEWHERE, *chain(*LISTED[paper].values())}
    functions = {claim.value for claim in declared_papers()[paper].claims}
    claims = [claim for claim in declared_papers()[paper].claims if claim.id in tested]
    assert functions == {claim.value for claim in claims}


def test_a_claim_reads_the_table_of_its_experiment_and_of_its_control_alone():
    papers = declared_papers()
    claims = {claim.id: claim for name in papers for claim in papers[name].claims}
    owners = {"A16c": "grokalign", "J11b": "jacobian_alignment", "P83": "plates"}
    read = {key: versions.declared_claim(papers, owners[key], claims[key]) for key in owners}
    assert read["A16c"]["read"] == ["transformer_fixed_embedding"]
    assert read["J11b"]["read"] == ["grokalign/transformer_fixed_embedding"]
    assert read["P83"]["read"] == read["P83"]["experiments"]
    by = {"keywords": {"experiment": "one"}, "fails_with": {"experiment": "two"}}
    figures = {"fig1": Figure(experiments=["one", "two", "three"], caption="")}
    paper = papers["plates"].model_copy(update={"figures": figures})
    claim = claims["P83"].model_copy(update=by | {"figure": "fig1"})
    known = versions.declared_claim({"plates": paper}, "plates", claim)
    assert known["read"] == ["one", "two"]
