"""The job of the claims: what is judged from what is made, and how it fails."""

import functools
from math import nan
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from grokatlas.code.code_digest import code
from grokatlas.errors import UserError
from grokatlas.results import files, freshness, hashing, layout
from grokatlas.rules import claims
from tests.unit import small_tree
from tests.unit.claims.claim_g4 import CLAIM, replace_function, weights
from tests.unit.rules.test_rules import SPEC


@pytest.fixture
def planned(here) -> Path:
    """A claims job of two claims on two tables, of which one is made; the job file."""
    there = table("two_weights", weights(1.0, 2 / 3))
    missing = layout.table_stem("quick", "geometry", "three_weights")
    other = CLAIM | {"id": "G5", "figure": "fig2", "expected": [1, 2]}
    other |= {key: ["three_weights"] for key in ("experiments", "read")}
    spec = {"scale": "quick", "papers": {"geometry": [CLAIM, other]}}
    job = {
        "kind": "claims",
        "spec": spec,
        "code": code(["grokatlas.claims.judging"]),
        "digest": "d" * 64,
        "inputs": [str(there), str(missing)],
    }
    file = layout.spec_path("claims", layout.claims_stem("quick"))
    small_tree.write(file, job)
    return file


def table(experiment: str, frame: pd.DataFrame) -> Path:
    stem = layout.table_stem("quick", "geometry", experiment)
    (file,) = layout.outputs("table", stem)
    files.write_parquet(file, frame)
    job = {"kind": "table", "spec": {"experiment": experiment}, "code": {}, "digest": "t" * 64}
    outputs = {file.name: hashing.file_sha256(file)}
    small_tree.write(layout.spec_path("table", stem), job)
    git = {"commit": small_tree.COMMIT, "dirty": False}
    small_tree.write(layout.manifest_of("table", stem), {**job, "outputs": outputs, "git": git})
    return stem


def unsealed(job_file: Path) -> dict:
    """The content of a job file, to be changed and written anew."""
    return {key: value for key, value in files.read_sealed(job_file).items() if key != "seal"}


def manifest() -> dict:
    return files.read_json(layout.manifest_of("claims", layout.claims_stem("quick")))


def judged(job_file: Path) -> pd.DataFrame:
    claims.execute(job_file, layout.target_of(job_file), partial=True)
    return pd.read_csv(files.verified(Path("results/quick/claims.csv"))).set_index("id")


def test_a_claim_is_judged_by_the_table_that_it_reads_where_its_figure_lacks_another(planned):
    job = unsealed(planned)
    job["spec"]["papers"]["geometry"][0]["experiments"] = ["two_weights", "three_weights"]
    small_tree.write(planned, job)
    assert judged(planned).loc["G4", "verdict"] == "seen at quick scale"


def test_what_is_not_made_is_not_run_and_the_rest_is_judged(planned):
    rows = judged(planned)
    assert rows.loc["G4", "verdict"] == "seen at quick scale"
    assert rows.loc["G4", "code"] == "current"
    assert rows.loc["G4", "commit"] == small_tree.COMMIT[:12]
    assert rows.loc["G5", "verdict"] == "not run at this scale"
    assert rows.loc["G5", "reason"] == "its tables are not made"


def test_a_member_that_diverged_is_a_missing_seed(planned):
    diverged = weights(1.0, 2 / 3)
    gone = (diverged["run"] == "run1") & (diverged["step"] > 0)
    table("two_weights", diverged.assign(train_loss=np.where(gone, nan, 0.5)))
    row = judged(planned).loc["G4"]
    assert (row["count"], row["value"]) == (1, 0)
    assert row["reason"].endswith("; 1 of 2 members diverged and left out")


@pytest.fixture
def read_otherwise(planned) -> Path:
    """The same job with G4 under two interpretations, of which one has its table; the job file."""
    other = table("two_weights_again", weights(1.0, 0.6667))
    job = unsealed(planned)
    told = {"claim": "G4", "keywords": {}, "same_as": "", "not_judged": ""}
    told |= {"rejects": "an interpretation"}
    absent = {"two_weights": {"table": "nowhere/two_weights", "cases": None}}
    made = {"two_weights": {"table": "two_weights_again", "cases": None}}
    claim = {"interpretation": "third", "same_as": "G5", "instead": {}}
    job["spec"]["interpretations"] = {
        "geometry": [
            told | {"interpretation": "first", "instead": made},
            told | {"interpretation": "second", "instead": absent},
            told | claim,
            told | claim | {"interpretation": "fourth", "claim": "G5", "same_as": "G4"},
        ]
    }
    small_tree.write(planned, job | {"inputs": [*job["inputs"], str(other)]})
    return planned


@pytest.mark.parametrize(("scale", "told"), [("paper", "not decisive"), ("quick", "")])
def test_the_job_judges_controls_at_paper_scale(read_otherwise, monkeypatch, scale, told):
    job = unsealed(read_otherwise)
    job["spec"]["papers"]["geometry"][0] |= {"fails_with": "first"}
    job["spec"]["scale"] = scale
    small_tree.write(read_otherwise, job)
    for name in ("table_stem", "table_stems"):  # the tables of the job are those of quick scale
        stem = functools.partial(_of_quick, getattr(layout, name))
        monkeypatch.setattr(layout, name, stem)
    row = judged(read_otherwise).loc["G4"]
    assert row["verdict"] == (told or "seen at quick scale")
    assert row["control"] == "first" if told else pd.isna(row["control"])


def _of_quick(stem, scale, *named):
    return stem("quick", *named)


def test_an_interpretation_of_tables_that_a_claim_does_not_read_has_no_row_for_it(read_otherwise):
    job = unsealed(read_otherwise)
    first, *others = job["spec"]["interpretations"]["geometry"]
    made = first["instead"]["two_weights"]
    unread = first | {"interpretation": "fifth", "instead": {"three_weights": made}}
    job["spec"]["interpretations"]["geometry"] = [first, *others, unread]
    small_tree.write(read_otherwise, job)
    judged(read_otherwise)
    rows = pd.read_csv(files.verified(Path("results/quick/claims.interpretations.csv")))
    assert list(rows["interpretation"]) == ["first", "second", "third", "fourth"]


def test_claims_under_interpretations_are_judged_from_what_is_there(read_otherwise):
    old = Path("results/quick/claims.readings.csv")
    old.write_text("of version 0.2\n")
    judged(read_otherwise)
    assert not old.exists()
    file = Path("results/quick/claims.interpretations.csv")
    rows = pd.read_csv(files.verified(file)).set_index("interpretation")
    assert list(rows["state"]) == ["judged", "absent", "absent", "judged"]
    first = rows.loc["first"]
    assert (first["id"], first["verdict"]) == ("G4", "seen at quick scale")
    assert (first["commit"], first["code"]) == (small_tree.COMMIT[:12], "current")
    assert rows.loc["third", "same_as"] == "G5"
    fourth = rows.loc["fourth"]  # the number of G4, by the interval of G5
    assert (fourth["id"], fourth["verdict"]) == ("G5", "not seen at quick scale")
    assert fourth["commit"] == small_tree.COMMIT[:12]
    assert manifest()["outputs"] == {
        name: hashing.file_sha256(Path("results/quick") / name)
        for name in ("claims.csv", "claims.interpretations.csv")
    }


def test_the_forecast_of_an_interpretation_is_that_of_its_runs_which_are_not_made(read_otherwise):
    run, other = layout.run_folder("0" * 12), layout.run_folder("1" * 12)
    cells = [{"case": "a", "run": run.name}, {"case": "b", "run": other.name}]
    for folder, steps in ((run, 1000), (other, 2000)):
        spec = {**SPEC, "train": {**SPEC["train"], "steps": steps}}
        small_tree.write(layout.spec_path("run", folder), {"spec": spec})
    stem = layout.table_stem("quick", "nowhere", "two_weights")
    small_tree.write(layout.spec_path("table", stem), {"spec": {"cells": cells}})

    def forecast() -> float:
        judged(read_otherwise)
        rows = pd.read_csv("results/quick/claims.interpretations.csv").set_index("interpretation")
        return rows.loc["second", "forecast_seconds"]

    both = forecast()
    small_tree.write(layout.manifest_of("run", run), {})
    assert 0 < forecast() < both
    assert forecast() == pytest.approx(2 / 3 * both, rel=0.05)


def test_one_claim_that_fails_leaves_the_others(planned, monkeypatch):
    replace_function(monkeypatch, lambda tables: None.rows)
    rows = judged(planned)
    assert rows.loc["G4", "verdict"] == "not run at this scale"
    assert "cannot be computed: AttributeError" in rows.loc["G4", "reason"]
    assert len(rows) > 1
    with pytest.raises(UserError):
        claims.execute(planned, layout.target_of(planned))


def test_a_function_that_fails_where_a_member_diverged_is_named(planned, monkeypatch):
    diverged = weights(1.0, 2 / 3)
    gone = (diverged["run"] == "run1") & (diverged["step"] > 0)
    table("two_weights", diverged.assign(train_loss=np.where(gone, nan, 0.5)))
    replace_function(monkeypatch, lambda tables: None.rows)
    row = judged(planned).loc["G4"]
    assert row["verdict"] == "not run at this scale"
    assert "cannot be computed: AttributeError" in row["reason"]
    assert row["reason"].endswith("; 1 of 2 members diverged and left out")


def test_a_failed_claim_is_judged_again(planned, monkeypatch):
    job = unsealed(planned)
    job["spec"]["papers"]["geometry"] = job["spec"]["papers"]["geometry"][:1]
    small_tree.write(planned, job | {"inputs": job["inputs"][:1]})
    stem = layout.claims_stem("quick")
    judged(planned)
    tables = [layout.outputs("table", Path(target))[0] for target in job["inputs"][:1]]
    assert freshness.up_to_date("claims", stem, "d" * 64, tables)
    replace_function(monkeypatch, lambda tables: [1 / 0])
    judged(planned)
    assert manifest()["partial"]["failed"] == ["geometry/G4"]
    assert not freshness.up_to_date("claims", stem, "d" * 64, tables)


def test_claims_from_a_part_never_fit_the_plan(planned):
    judged(planned)
    stem = layout.claims_stem("quick")
    assert manifest()["partial"]["absent"]
    assert not freshness.up_to_date("claims", stem, "d" * 64, [])


def test_tables_of_earlier_code_are_marked(planned):
    stem = layout.table_stem("quick", "geometry", "two_weights")
    job = files.read_json(layout.spec_path("table", stem))
    small_tree.write(layout.spec_path("table", stem), job | {"digest": "n" * 64})
    assert judged(planned).loc["G4", "code"] == "earlier"


@pytest.mark.parametrize("harm", ["another spec", "damaged"])
def test_a_table_that_does_not_fit_is_not_judged(planned, harm):
    stem = layout.table_stem("quick", "geometry", "two_weights")
    if harm == "damaged":
        layout.outputs("table", stem)[0].write_bytes(b"PAR1")
    else:
        job = files.read_json(layout.spec_path("table", stem))
        small_tree.write(layout.spec_path("table", stem), job | {"spec": {"experiment": "new"}})
    assert judged(planned).loc["G4", "verdict"] == "not run at this scale"


def test_a_complete_job_refuses_a_missing_table(planned):
    with pytest.raises(UserError, match=r"three_weights"):
        claims.execute(planned, layout.target_of(planned))


@pytest.mark.parametrize(
    ("value", "kind"), [(3.0, "float"), (None, "NoneType"), ("12", "str"), ({0: 1.0}, "dict")]
)
def test_a_claim_that_gives_no_list_says_what_to_return(planned, monkeypatch, value, kind):
    replace_function(monkeypatch, lambda tables: value)
    wanted = f"TypeError {kind} is no list; return a number for each seed"
    assert wanted in judged(planned).loc["G4", "reason"]
