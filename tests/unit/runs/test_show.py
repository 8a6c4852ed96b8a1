"""`grokatlas show`: the state of a run is one line, whatever was left of it."""

import json
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.plan import declared_jobs
from grokatlas.results import csv_file, files, hashing, layout
from tests.unit import audit_tree

ROOT = Path(__file__).parents[3]


@pytest.fixture
def run(here, monkeypatch):
    """A finished run."""
    jobs = audit_tree.declared()
    audit_tree.build(jobs)
    monkeypatch.setattr(declared_jobs, "jobs", lambda **_: jobs)
    return next(job for job in jobs.values() if job.kind == "run")


def _shown(run, capsys) -> dict[str, str]:
    assert cli.main(["show", run.target.name]) == 0
    lines = capsys.readouterr().out.partition("{")[0].splitlines()
    return dict(line.partition(": ")[::2] for line in lines)


def test_a_finished_run_has_its_place_and_commit(run, capsys):
    shown = _shown(run, capsys)
    assert shown["of"].startswith("smoke toy/rates")
    assert shown["state"].startswith("up to date; in ")
    assert shown["state"].endswith("on node1, H200")
    assert shown["made"].endswith(f"commit {'c' * 40}")
    assert shown["members"] == "3"


def test_a_log_may_hold_any_bytes(run, capsys):
    for file in (run.manifest, *run.outputs):
        file.unlink()
    (run.target / "log.txt").write_bytes(b"disk \xff full\n")
    assert _shown(run, capsys)["state"] == "failed; disk \ufffd full"


def test_members_that_diverged_are_counted(run, capsys):
    changes = {"members": 3, "diverged": {"2": 40}}
    audit_tree.edited(run.manifest, seal=True, **changes)
    state = _shown(run, capsys)["state"]
    assert state.endswith("; 1 of 3 members diverged (the first at step 40)")


def test_a_name_has_to_mean_one_run(run, capsys):
    assert cli.main(["show", "x"]) == 1
    assert "run x: no run begins so; `grokatlas runs` lists them" in capsys.readouterr().err


def test_a_figure_is_told_with_its_runs_claims_and_what_makes_it(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert cli.main(["show", "geometry/fig1", "--scale", "paper"]) == 0
    lines = dict(line.partition(": ")[::2] for line in capsys.readouterr().out.splitlines())
    assert "figure geometry/fig1 at scale paper" in lines
    assert lines["draws"] == "two_weights"
    assert "G2c" in lines["claims"].split(", ")
    assert [text for key, text in lines.items() if key.startswith("run ")]
    assert lines["made by"].endswith("results/paper/figures/geometry/fig1.pdf")
    assert cli.main(["show", "geometry/fgi1"]) == 1
    assert capsys.readouterr().err.endswith("did you mean 'geometry/fig1'?\n")


def test_what_is_declared_is_found_however_its_yaml_is_written(new_study, capsys):
    papers = Path("config/papers/my_study")
    for name, old, new in (
        ("paper", "  votes:", '# at the margin\n  "votes":'),
        ("experiments", "majority:", '"majority":'),
        ("claims", "- id: S3", '- "id": S3'),
    ):
        text = (papers / f"{name}.yaml").read_text(encoding="utf-8")
        assert text.count(f"\n{old}") + text.count(f" {old}") == 1
        (papers / f"{name}.yaml").write_text(text.replace(old, new), encoding="utf-8")
    for name in ("my_study/votes", "my_study/majority", "S3"):
        assert cli.main(["show", name]) == 0, capsys.readouterr().err
    assert cli.main(["explain", "S3"]) == 0
    assert cli.main(["figure", "my_study/votes"]) == 1
    assert "my_study/votes: is no job file, which rules give" in capsys.readouterr().err


def test_a_mistake_in_another_paper_does_not_matter_where_one_is_named(new_study, capsys):
    other = Path("config/papers/other")
    other.mkdir()
    (other / "paper.yaml").write_text("nonsense: 1\n")
    for name in ("my_study/votes", "my_study/S3"):
        assert cli.main(["show", name]) == 0, capsys.readouterr().err


def test_a_claim_is_told_with_its_verdict(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(ROOT)
    row = next(row for row in csv_file.read(Path("recorded/claims.csv")) if row["id"] == "N18")
    for command in ("show", "explain"):
        assert cli.main([command, "N18"]) == 0
        text = capsys.readouterr().out
        assert "claim N18 on beyond_l2/fig1" in text
        assert row["verdict"] in text
    assert cli.main(["explain", "N18", "--json", "--results", str(tmp_path)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["paper"], facts["id"]) == ("beyond_l2", "N18")
    assert facts["verdicts"][0]["value"] == float(row["value"])
    assert facts["made_from"] == ["beyond_l2/fig1"]
    assert facts["function"] == "grokatlas.papers.beyond_l2.claims.norm_after_generalisation"
    file, _, line = facts["declared"].partition(":")
    assert (ROOT / file).read_text().splitlines()[int(line) - 1].strip() == "- id: N18"
    assert cli.main(["explain", "N8"]) == 0
    assert "  why: refuted: The error at t2 is" in capsys.readouterr().out
    assert cli.main(["explain", "N1888"]) == 1
    assert capsys.readouterr().err.startswith("N1888: no claim of config/papers has this id; ")


def test_verdicts_that_were_edited_are_not_shown(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(ROOT)
    stem = tmp_path / layout.claims_stem("quick").relative_to(layout.RESULTS)
    verdicts = stem.with_suffix(".csv")
    verdicts.parent.mkdir()
    recorded = Path("recorded/claims.csv").read_text()
    verdicts.write_text(recorded.replace("not reproduced", "reproduced"))
    sha256 = {verdicts.name: hashing.file_sha256(verdicts)}
    manifest = files.sealed({"kind": "claims", "outputs": sha256})
    files.write_json(layout.manifest_of("claims", stem), manifest)
    assert cli.main(["explain", "N18", "--results", str(tmp_path)]) == 0, capsys.readouterr().err
    assert str(verdicts) in capsys.readouterr().out
    verdicts.write_text(recorded)
    assert cli.main(["explain", "N18", "--results", str(tmp_path)]) == 1
    assert "claims.csv: is not the file its manifest records" in capsys.readouterr().err


def test_a_claim_that_reads_one_table_of_its_figure_has_that_as_its_origin(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert cli.main(["explain", "jacobian_alignment/J11b"]) == 0
    origin = "`grokatlas explain grokalign/transformer_fixed_embedding`"
    assert capsys.readouterr().out.endswith(f"the origin of its numbers: {origin}\n")
