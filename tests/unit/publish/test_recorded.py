"""What docs keep of results: taken from a tree, never worse than what was kept."""

import pytest

from grokatlas.publish import recorded
from grokatlas.results import files, hashing, layout
from grokatlas.rules import atlas
from tests.unit import small_tree

CLAIM = {"paper": "atlas", "id": "T1", "verdict": "reproduced", "reason": "", "value": "1.0"}


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """An empty folder of pages, in a tree of one figure at every scale; claims are to be judged."""
    monkeypatch.chdir(tmp_path)
    for scale in ("quick", "paper"):
        small_tree.make(scale)
        papers = {"atlas": {"figures": {"fig1": {}, "fig2": {}}}}
        folder = layout.atlas_folder(scale)
        small_tree.write(layout.spec_path("atlas", folder), {"spec": {"papers": papers}})
        claimed(scale, CLAIM)
    monkeypatch.setattr(
        atlas, "atlas_job_file", lambda scale: layout.spec_path("atlas", layout.atlas_folder(scale))
    )
    monkeypatch.setattr(atlas, "from_what_is_there", lambda job_file: job_file)
    return tmp_path / "docs" / "papers"


def claimed(scale: str, *rows: dict[str, str]) -> None:
    """Judge claims of a scale like this."""
    stem = layout.claims_stem(scale)
    (file,) = layout.outputs("claims", stem)
    recorded._write(file, tuple(rows[0]), list(rows))
    outputs = {file.name: hashing.file_sha256(file)}
    small_tree.write(layout.manifest_of("claims", stem), {"outputs": outputs})


def test_a_figure_is_taken_with_its_origin(pages):
    told = recorded.take("quick", pages)
    (row,) = recorded.read(pages / "figures.csv")
    assert (row["paper"], row["figure"], row["scale"]) == ("atlas", "fig1", "quick")
    assert row["machine"] == "Toy CPU"
    assert row["commit"] == small_tree.COMMIT[:12]
    assert row["runs"] == "1"
    assert told == ["atlas/fig1: Toy CPU", "1 reproduced"]
    made = layout.outputs("figure", layout.figure_stem("quick", "atlas", "fig1"))
    assert (pages / "atlas" / "fig1.png").read_bytes() == made[1].read_bytes()


def test_a_figure_of_some_of_the_seeds_is_taken_as_such(pages):
    stem = layout.figure_stem("quick", "atlas", "fig1")
    for kind in (layout.manifest_of, layout.spec_path):
        content = files.read_json(kind("figure", stem))
        content.pop("seal")
        spec = content["spec"] | {"so_far": "3 of 10 seeds"}
        small_tree.write(kind("figure", stem), content | {"spec": spec})
    recorded.take("quick", pages)
    assert recorded.read(pages / "figures.csv")[0]["so_far"] == "3 of 10 seeds"
    recorded.take("paper", pages)
    assert recorded.read(pages / "figures.csv")[0]["so_far"] == ""


def test_a_smaller_scale_never_replaces_a_larger_one(pages):
    recorded.take("paper", pages)
    claimed("quick", CLAIM | {"verdict": "not reproduced"})
    recorded.take("quick", pages)
    assert recorded.read(pages / "figures.csv")[0]["scale"] == "paper"
    (claim,) = recorded.read(pages / "claims.csv")
    assert (claim["scale"], claim["verdict"]) == ("paper", "reproduced")


def test_what_a_larger_scale_did_not_run_is_kept(pages):
    recorded.take("quick", pages)
    claimed("paper", CLAIM | {"verdict": "not run at this scale"}, CLAIM | {"id": "T2"})
    recorded.take("paper", pages)
    rows = {row["id"]: row for row in recorded.read(pages / "claims.csv")}
    assert (rows["T1"]["scale"], rows["T1"]["verdict"]) == ("quick", "reproduced")
    assert rows["T2"]["scale"] == "paper"


def test_a_claim_that_is_not_declared_any_more_is_dropped(pages):
    recorded.take("paper", pages)
    claimed("paper", CLAIM | {"id": "T2"})
    recorded.take("paper", pages)
    assert [row["id"] for row in recorded.read(pages / "claims.csv")] == ["T2"]


def test_a_claim_first_not_run_is_taken_when_it_is(pages):
    claimed("paper", CLAIM | {"verdict": "not run at this scale"})
    recorded.take("paper", pages)
    recorded.take("quick", pages)
    assert recorded.read(pages / "claims.csv")[0]["scale"] == "quick"


def test_a_claim_that_was_not_run_has_the_interval_of_today(pages):
    open_claim = CLAIM | {"verdict": "not run at this scale", "expected_high": "9.2"}
    claimed("quick", open_claim)
    recorded.take("quick", pages)
    claimed("quick", open_claim | {"expected_high": "1"})
    recorded.take("quick", pages)
    assert recorded.read(pages / "claims.csv")[0]["expected_high"] == "1"
