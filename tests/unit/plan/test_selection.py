"""A selection of papers says what is made: claims and pages are of all papers that are here."""

import csv
import shutil
from pathlib import Path

import pytest

from grokatlas.audit.stale import find
from grokatlas.audit.tree import Tree
from grokatlas.audit.verify import verify
from grokatlas.errors import UserError
from grokatlas.plan import declared_jobs
from grokatlas.plan.jobs import Plan
from grokatlas.plan.project import Project
from grokatlas.results import files, layout
from grokatlas.rules import claims
from tests.checkout import CONFIG, ROOT
from tests.unit import audit_tree

CLAIMS, PAGES = "results/quick/claims", "results/quick/atlas"
CLAIM = """\
{figure}:
  claims:
    - {{id: {id}, statement: they come to rest, source: derived, published: "1", scales: [{scale}],
       value: {value}, expected: [null, 1e-3]}}
"""


@pytest.fixture
def warned(tmp_path, monkeypatch) -> list[str]:
    """A checkout of two papers with a claim each; what its plans warn of."""
    shutil.copytree(CONFIG, tmp_path / "config", ignore=lambda *_: {"papers", "schema"})
    shutil.copytree(ROOT / "tests/workflow/papers", tmp_path / "config/papers")
    for paper, figure, id_, value, scale in (
        ("geometry", "fig1", "G4", "distance_at_rest", "quick"),
        ("beyond_l2", "fig1", "N1", "spread_of_sparse_times", "paper"),
    ):
        text = CLAIM.format(figure=figure, id=id_, value=value, scale=scale)
        (tmp_path / "config/papers" / paper / "claims.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    return []


def plan(warned: list[str], papers: str | list[str]) -> Plan:
    return Project(Path("config"), {"papers": papers}, warn=warned.append).at("quick")


def make(plan: Plan) -> None:
    """Make all that a plan makes."""
    for job in plan.jobs:
        if plan.state(job) != "up to date":
            audit_tree.make(job)


def of(plan: Plan):
    """Claims and pages of a plan."""
    return plan.claims["quick"], plan.atlas["quick"]


def test_in_an_empty_tree_claims_and_pages_are_those_of_the_selected_papers(warned):
    for job in of(plan(warned, ["geometry"])):
        assert list(job.spec["papers"]) == ["geometry"]


def test_after_all_was_made_a_selection_makes_nothing(warned):
    everything = plan(warned, "all")
    make(everything)
    some = plan(warned, ["geometry"])
    assert {name for name, _ in some.tables} == {"geometry"}
    assert [job.digest for job in of(some)] == [job.digest for job in of(everything)]
    assert set(some.states().values()) == {"up to date"}


def test_a_selection_adds_to_what_was_made_of_others_and_asks_for_none_of_it(warned):
    make(plan(warned, ["geometry"]))
    other = plan(warned, ["beyond_l2"])
    judged, pages = of(other)
    assert list(judged.spec["papers"]) == list(pages.spec["papers"]) == ["beyond_l2", "geometry"]
    assert "results/quick/tables/geometry/two_weights" in map(
        str, (j.target for j in judged.inputs)
    )
    asked = [file.as_posix() for job in (judged, pages) for file, _ in other.inputs(job)]
    assert asked
    assert not any("geometry" in file for file in asked)


def test_what_earlier_code_made_of_others_stays_with_that_mark(warned):
    make(plan(warned, "all"))
    stem = layout.table_stem("quick", "geometry", "two_weights")
    audit_tree.edited(layout.manifest_of("table", stem), seal=True, digest="0" * 64)
    (judged, _), (own, _) = (of(plan(warned, papers)) for papers in (["beyond_l2"], "all"))
    assert judged.spec["earlier"] == {stem.as_posix(): "0" * 64}
    assert "earlier" not in own.spec
    audit_tree.edited(layout.manifest_of("table", stem), seal=True, spec={"other": "spec"})
    assert "earlier" not in of(plan(warned, ["beyond_l2"]))[0].spec


def test_a_claim_that_fails_on_what_earlier_code_made_of_others_stops_nothing(warned):
    make(plan(warned, "all"))
    stem = layout.table_stem("quick", "geometry", "two_weights")
    own, _ = of(plan(warned, "all"))
    files.write_json(own.spec_path, files.sealed(own.content))
    with pytest.raises(UserError, match="G4 of geometry: distance_at_rest cannot be computed"):
        claims.execute(own.spec_path, own.target)
    audit_tree.edited(layout.manifest_of("table", stem), seal=True, digest="0" * 64)
    job, _ = of(plan(warned, ["beyond_l2"]))
    files.write_json(job.spec_path, files.sealed(job.content))
    claims.execute(job.spec_path, job.target)
    rows = csv.DictReader(job.outputs[0].read_text(encoding="utf-8").splitlines())
    reasons = {row["id"]: row["reason"] for row in rows}
    assert "distance_at_rest cannot be computed" in reasons["G4"]
    assert job.state() == "up to date"


def test_a_mistake_in_a_paper_that_is_not_selected_is_a_warning(warned):
    make(plan(warned, "all"))
    Path("config/papers/geometry/claims.yaml").write_text("fig1: {clams: []}\n")
    for job in of(plan(warned, ["beyond_l2"])):
        assert list(job.spec["papers"]) == ["beyond_l2"]
    (line,) = {*warned}
    assert "geometry/claims.yaml: fig1" in line
    assert line.endswith("claims and pages of papers that are not selected are left out")


@pytest.mark.parametrize(
    "selections", [[["geometry"]], ["all", ["geometry"]], [["geometry"], "all"]]
)
def test_claims_and_pages_of_any_selection_verify(warned, selections):
    for papers in selections:
        make(plan(warned, papers))
    assert verify(Tree(layout.RESULTS), declared_jobs.jobs()).ok


def test_what_is_stale_is_what_the_next_call_makes_again(warned):
    make(plan(warned, ["geometry"]))
    found = find(Tree(layout.RESULTS), declared_jobs.jobs(next_call=True))
    assert found.again == [CLAIMS, PAGES]
    assert [group.cause.text for group in found.groups] == [
        "papers beyond_l2 were absent, now present"
    ]
    make(plan(warned, "all"))
    make(plan(warned, ["geometry"]))
    assert find(Tree(layout.RESULTS), declared_jobs.jobs(next_call=True)).again == []
