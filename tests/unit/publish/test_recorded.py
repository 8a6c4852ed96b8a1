"""What the repository keeps of results: taken from a tree, never worse than what was kept."""

import pandas as pd
import pytest

from grokatlas.errors import UserError
from grokatlas.export import evidence
from grokatlas.plan.jobs import Job, Plan
from grokatlas.publish import experiments, groks, recorded
from grokatlas.results import csv_file, files, hashing, layout, revision
from grokatlas.rules import atlas
from tests.unit import small_tree

CLAIM = {"paper": "atlas", "id": "T1", "verdict": "reproduced", "reason": "", "value": "1.0"}
OTHER = hashing.Digests("other", "other")
JUDGED = {"expected_low": "0", "expected_high": "2"}
CLEAN = {"git": {"commit": small_tree.COMMIT, "dirty": False}}


@pytest.fixture
def pages(here, monkeypatch):
    """An empty folder of pages, in a tree of one figure at every scale; claims are to be judged."""
    plans = {}
    for scale in ("quick", "paper"):
        made = small_tree.make(scale)
        plans[scale] = plan(scale, made)
        papers = {"atlas": {"figures": {name: {"experiments": ["toys"]} for name in FIGURES}}}
        folder = layout.atlas_folder(scale)
        content = {"spec": {"papers": papers, "scale": scale}}
        small_tree.write(layout.spec_path("atlas", folder), content)
        claimed(scale, CLAIM)
    monkeypatch.setattr(
        atlas, "atlas_job_file", lambda scale: layout.spec_path("atlas", layout.atlas_folder(scale))
    )
    monkeypatch.setattr(atlas, "from_what_is_there", lambda job_file: job_file)
    monkeypatch.setattr(experiments, "plan_of_all", plans.__getitem__)
    monkeypatch.setattr(revision, "facts", lambda *_: CLEAN)
    monkeypatch.setattr(groks, "of_plan", grokking)
    return here / "docs" / "papers"


FIGURES = ("fig1", "fig2")


def grokking(plan: Plan, tables: set) -> list[dict[str, str]]:
    """A row for each table, which here is no parquet file."""
    named = {"paper": "atlas", "experiment": "toys", "scale": plan.scale, "setting": "plain"}
    return [named for _ in tables]


def test_what_groks_is_taken_by_scale_and_renewed(pages):
    def scales() -> list[str]:
        return [row["scale"] for row in csv_file.read(evidence.FOLDER / groks.FILE)]

    take("quick", pages)
    assert scales() == ["quick"]
    take("paper", pages)
    take("quick", pages)
    assert scales() == ["paper", "quick"]


def plan(scale: str, made) -> Plan:
    """A plan of one table, up to date, and of two figures of it, of which the first is drawn."""
    table = job("table", made["table"])
    figures = {("atlas", "fig1"): job("figure", made["figure"], table)}
    absent = layout.figure_stem(scale, "atlas", "fig2")
    figures["atlas", "fig2"] = Job("figure", absent, {}, {}, (table,))
    return Plan(scale, tables={("atlas", "toys"): table}, figures=figures)


def job(kind: str, target, *inputs: Job) -> Job:
    """The job that a result's job file tells of."""
    content = files.read_json(layout.spec_path(kind, target))
    made = Job(kind, target, content["spec"], content["code"], inputs)
    vars(made)["digests"] = hashing.Digests(content["digest"], "")
    return made


def claimed(scale: str, *rows: dict[str, str], rough: str = "", state: str = "judged") -> None:
    """Judge claims of a scale from the one table; one also under a rough interpretation."""
    stem = layout.claims_stem(scale)
    told = {"interpretation": "rough", "state": state, "verdict": rough, "value": "3.0"}
    under = [rows[0] | told] * bool(rough)
    both = [[row | JUDGED for row in rows], under]
    made = layout.outputs("claims", stem)
    for file, content in zip(made, both, strict=True):
        pd.DataFrame(content).to_csv(file, index=False)
    outputs = {file.name: hashing.file_sha256(file) for file in made}
    small_tree.write(layout.manifest_of("claims", stem), {"outputs": outputs})
    claims = [{"id": row["id"], "experiments": ["toys"], "read": ["toys"]} for row in rows]
    instead = {"toys": {"table": "toys", "cases": {"drawn": "other"}}}
    interpretation = {
        "claim": rows[0]["id"],
        "interpretation": "rough",
        "same_as": "",
        "instead": instead,
    }
    spec = {"papers": {"atlas": claims}, "interpretations": {"atlas": [interpretation]}}
    small_tree.write(layout.spec_path("claims", stem), {"spec": spec})


def take(scale: str, pages, *experiments: str) -> list[str]:
    return list(recorded.take(scale, list(experiments), pages))


def rows(name: str) -> list[dict[str, str]]:
    return csv_file.read(evidence.FOLDER / name)


def test_a_figure_is_taken_with_its_origin_and_its_evidence(pages):
    lines = take("quick", pages)
    (row,) = rows("figures.csv")
    assert (row["paper"], row["figure"], row["scale"]) == ("atlas", "fig1", "quick")
    assert row["machine"] == "Toy CPU"
    assert row["commit"] == small_tree.COMMIT[:12]
    assert (row["runs"], row["kept"]) == ("1", "yes")
    assert evidence.path("quick", "atlas", "toys").is_file()
    assert lines[0].startswith("atlas/toys: ")
    last = "atlas/fig2: not drawn from these tables yet; run `snakemake`"
    assert lines[1:] == ["atlas/fig1: Toy CPU", last, "1 reproduced"]
    made = layout.outputs("figure", layout.figure_stem("quick", "atlas", "fig1"))
    assert (pages / "atlas" / "fig1.png").read_bytes() == made[1].read_bytes()
    assert rows("claims.csv")[0]["kept"] == "yes"


def test_a_figure_of_some_of_the_seeds_is_taken_as_such(pages):
    stem = layout.figure_stem("quick", "atlas", "fig1")
    for kind in (layout.manifest_of, layout.spec_path):
        content = files.read_json(kind("figure", stem))
        content.pop("seal")
        spec = content["spec"] | {"so_far": "3 of 10 seeds"}
        small_tree.write(kind("figure", stem), content | {"spec": spec})
    take("quick", pages)
    assert rows("figures.csv")[0]["so_far"] == "3 of 10 seeds"
    take("paper", pages)
    assert rows("figures.csv")[0]["so_far"] == ""


def test_a_smaller_scale_never_replaces_a_larger_one(pages):
    take("paper", pages)
    claimed("quick", CLAIM | {"verdict": "not reproduced"})
    take("quick", pages)
    assert rows("figures.csv")[0]["scale"] == "paper"
    (claim,) = rows("claims.csv")
    assert (claim["scale"], claim["verdict"]) == ("paper", "reproduced")


def test_what_a_larger_scale_did_not_run_is_kept(pages):
    take("quick", pages)
    claimed("paper", CLAIM | {"verdict": "not run at this scale"}, CLAIM | {"id": "T2"})
    take("paper", pages)
    found = {row["id"]: row for row in rows("claims.csv")}
    assert (found["T1"]["scale"], found["T1"]["verdict"]) == ("quick", "reproduced")
    assert found["T2"]["scale"] == "paper"


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda text: text[:-20], "row 1 has more or fewer cells than the title"),
        (lambda text: text.replace(b"verdict", b"verdikt", 1), "has no column verdict"),
        (lambda text: text + b"\xff", "cannot be read as a csv"),
    ],
)
def test_verdicts_are_not_taken_beside_damaged_ones(pages, damage, problem):
    take("quick", pages)
    file = evidence.FOLDER / "claims.csv"
    before = damage(file.read_bytes())
    file.write_bytes(before)
    with pytest.raises(UserError, match=rf"claims\.csv: {problem}.*; bring the file back"):
        take("quick", pages)
    assert file.read_bytes() == before


def test_a_claim_that_is_not_declared_any_more_is_dropped(pages):
    take("paper", pages)
    claimed("paper", CLAIM | {"id": "T2"})
    take("paper", pages)
    assert [row["id"] for row in rows("claims.csv")] == ["T2"]


def test_a_claim_first_not_run_is_taken_when_it_is(pages):
    claimed("paper", CLAIM | {"verdict": "not run at this scale"})
    take("paper", pages)
    take("quick", pages)
    assert rows("claims.csv")[0]["scale"] == "quick"


def test_a_claim_under_another_interpretation_is_taken_where_it_was_judged(pages):
    claimed("quick", CLAIM, rough="not run at this scale")
    take("quick", pages)
    assert rows("claims.interpretations.csv") == []
    claimed("paper", CLAIM, rough="interpretation rejected")
    take("paper", pages)
    (row,) = rows("claims.interpretations.csv")
    expected = {
        "paper": "atlas",
        "id": "T1",
        "interpretation": "rough",
        "verdict": "interpretation rejected",
    }
    expected |= JUDGED | {"scale": "paper", "value": "3.0", "kept": "yes"}
    assert row.items() >= expected.items()
    claimed("quick", CLAIM, rough="seen at quick scale")
    take("quick", pages)
    assert rows("claims.interpretations.csv") == [row]
    claimed("paper", CLAIM, rough="not run at this scale", state="absent")
    take("paper", pages)
    assert rows("claims.interpretations.csv") == [row]
    claimed("paper", CLAIM, rough="not run at this scale", state="undefined")
    take("paper", pages)
    assert rows("claims.interpretations.csv") == []
    claimed("paper", CLAIM, rough="interpretation rejected")
    take("paper", pages)
    claimed("paper", CLAIM)  # the interpretation is declared no more
    take("paper", pages)
    assert rows("claims.interpretations.csv") == []


def remake(scale: str) -> None:
    """Make the table's run from changed files, as the record of it tells."""
    for file in layout.RESULTS.glob("runs/*/manifest.json"):
        dirty = {"git": {"commit": small_tree.COMMIT, "dirty": True}}
        small_tree.write(file, {**files.read_json(file), **dirty})


def test_what_cannot_be_recorded_leaves_no_picture_and_no_verdict(pages):
    remake("paper")
    lines = take("paper", pages)
    assert lines[0].startswith("atlas/toys: not recorded: results/runs/")
    assert "files that differ from commit" in lines[0]
    assert rows("figures.csv") == []
    (claim,) = rows("claims.csv")
    assert (claim["verdict"], claim["kept"]) == ("not run at this scale", "")
    assert claim["reason"] == "its tables are not recorded"
    assert not list(evidence.FOLDER.rglob("*.zip"))
    with pytest.raises(UserError, match="files that differ from commit"):
        take("paper", pages, "atlas/toys")


def test_a_stale_table_is_not_recorded(pages):
    vars(experiments.plan_of_all("paper").tables["atlas", "toys"])["digests"] = OTHER
    (line, *_) = take("paper", pages)
    assert "not recorded: atlas/toys: was made by other code or of another spec" in line


def test_an_unknown_experiment_is_an_error(pages):
    with pytest.raises(UserError, match="atlas/toy: is no experiment; did you mean 'atlas/toys'"):
        take("paper", pages, "atlas/toy")


@pytest.mark.parametrize("git", [None, {"commit": small_tree.COMMIT, "dirty": True}])
def test_a_changed_checkout_records_nothing(pages, monkeypatch, git):
    monkeypatch.setattr(revision, "facts", lambda *_: {"git": git})
    with pytest.raises(UserError, match=r"this checkout: .*; commit, then record"):
        take("paper", pages)
    assert not evidence.FOLDER.exists()


def test_what_would_be_made_otherwise_is_told(pages):
    take("paper", pages)
    assert experiments.state() == {"paper/atlas/toys": ""}
    *_, last = experiments.state_as_text(None)
    assert last.startswith("1 experiments, ")
    assert last.endswith("; 0 would be made otherwise now")
    tables = experiments.plan_of_all("paper").tables
    vars(tables["atlas", "toys"])["digests"] = OTHER
    assert experiments.state() == {"paper/atlas/toys": "its code or its spec changed since"}
    tables.clear()
    assert experiments.state() == {"paper/atlas/toys": "no paper declares it any more"}


def test_named_experiments_take_their_own_figures_and_claims_alone(pages):
    take("paper", pages)
    claimed("paper", CLAIM | {"verdict": "partly"})
    plan = experiments.plan_of_all("paper")
    other = Job("table", layout.table_stem("paper", "atlas", "others"), {}, {})
    plan.tables["atlas", "others"] = other
    chosen = recorded.Rows(plan, {other.target}, set())
    assert list(chosen.take_figures(pages)) == []
    assert chosen.take_claims() == "1 reproduced"
    assert recorded.Rows(plan, set(), set()).take_claims() == "1 partly"


def test_what_was_told_of_another_archive_is_no_longer_vouched_for(pages):
    take("paper", pages)
    plan = experiments.plan_of_all("paper")
    table = plan.tables["atlas", "toys"].target
    layout.manifest_of("table", table).unlink()  # the archive was replaced, and this is not here
    again = recorded.Rows(plan, set(), {table})
    assert list(again.take_figures(pages)) == []
    again.take_claims()
    assert [row["kept"] for name in ("figures.csv", "claims.csv") for row in rows(name)] == ["", ""]


def test_an_archive_is_not_replaced_by_a_poorer_one(pages):
    take("paper", pages)
    archive = evidence.path("paper", "atlas", "toys")
    before = archive.read_bytes()
    plan = experiments.plan_of_all("paper")
    (run,) = layout.RESULTS.glob("runs/*")
    made = plan.tables["atlas", "toys"]
    again = Job("table", made.target, {}, {}, (job("run", run),))
    plan.tables["atlas", "toys"] = again
    for file in [layout.manifest_of("table", made.target), *again.outputs]:
        file.unlink()
    plan.look_again([made.target])
    problem = "holds its table, which recording would remove; run `grokatlas restore`"
    with pytest.raises(UserError, match=problem):
        list(experiments.record(plan, ["atlas/toys"], set()))
    assert archive.read_bytes() == before


def test_a_selection_of_papers_drops_no_row(pages):
    plan = experiments.plan_of_all("paper")
    plan.figures["other", "fig1"] = plan.figures["atlas", "fig2"]
    with pytest.raises(UserError, match="papers: leaves out other, whose records would be"):
        take("paper", pages)
    assert not evidence.FOLDER.exists()


def test_a_table_that_is_neither_here_nor_recorded_holds_nothing(pages):
    take("paper", pages)
    plan = experiments.plan_of_all("paper")
    table = plan.tables["atlas", "toys"]
    evidence.path("paper", "atlas", "toys").unlink()
    evidence.write(("paper", "atlas", "toys"), [next(layout.RESULTS.glob("runs/*"))])
    layout.manifest_of("table", table.target).unlink()
    assert list(recorded.Rows(plan, set(), set()).take_figures(pages)) == []
