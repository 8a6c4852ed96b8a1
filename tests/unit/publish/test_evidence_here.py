"""The evidence in this repository: small, sound, and as this checkout would make it."""

import csv
import json
import sys
import zipfile

import pytest

from grokatlas.export import adoption, evidence
from grokatlas.plan import recorded_studies
from grokatlas.publish import experiments, recorded
from grokatlas.results import csv_file
from tests.checkout import ROOT, called


@pytest.fixture(autouse=True)
def _in_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_what_would_be_made_otherwise_is_listed_with_a_reason():
    with (evidence.FOLDER / "otherwise.csv").open(encoding="utf-8", newline="") as stream:
        listed = {row["experiment"]: row["reason"] for row in csv.DictReader(stream)}
    assert all(listed.values())
    found = {name for name, problem in experiments.state().items() if problem}
    assert found == set(listed), "renew them (recorded/README.md), or say in otherwise.csv why not"


STUDIES = recorded_studies.folders(ROOT)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_what_a_study_recorded_is_as_it_would_make_it(study):
    done = called(sys.executable, "-m", "grokatlas", "recorded", cwd=study)
    assert done.returncode == 0, done.stderr
    assert "; 0 would be made otherwise now" in done.stdout
    sizes = [file.stat().st_size for file in (study / evidence.FOLDER).rglob("*.zip")]
    assert sizes
    assert sum(sizes) <= evidence.LARGEST_FILE
    rows = csv_file.read(study / evidence.FOLDER / recorded.FIGURES)
    assert all(row["kept"] == recorded.KEPT for row in rows)
    pictures = {(row["paper"], row["figure"]) for row in rows}
    there = (study / recorded_studies.PAGES).glob("*/*.png")
    assert {(file.parent.name, file.stem) for file in there} == pictures


def test_archives_are_small():
    sizes = {file: file.stat().st_size for file in evidence.FOLDER.rglob("*.zip")}
    assert all(size <= evidence.LARGEST_FILE for size in sizes.values())
    assert sum(sizes.values()) <= evidence.LARGEST_TOGETHER


def test_every_result_was_made_at_a_commit_of_this_history():
    if called("git", "rev-parse", "--is-shallow-repository", cwd=ROOT).stdout.strip() != "false":
        pytest.skip("no whole history is here; `git fetch --unshallow` brings it")
    history = {*called("git", "rev-list", "HEAD", cwd=ROOT).stdout.split()}
    commits = {}
    for file in sorted(ROOT.glob("**/recorded/**/*.zip")):
        with zipfile.ZipFile(file) as opened:
            for name in opened.namelist():
                if name.endswith("manifest.json"):
                    commits[json.loads(opened.read(name))["git"]["commit"]] = file, name
    assert commits
    assert {commit: where for commit, where in commits.items() if commit not in history} == {}


def test_archives_agree_on_what_they_share():
    assert evidence.disagreement() == ""


def test_every_figure_with_evidence_has_its_archives():
    rows = _kept(recorded.FIGURES)
    plans = {scale: experiments.plan_of_all(scale) for scale in {row["scale"] for row in rows}}
    for row in rows:
        figure = plans[row["scale"]].figures.get((row["paper"], row["figure"]))
        assert figure, f"{row} is no figure any more: `grokatlas record` drops it"
        for table in figure.inputs:
            scale, _, paper, experiment = table.target.parts[-4:]
            made = evidence.manifests(scale, paper, experiment, "table")
            assert table.target.as_posix() in made, (row["paper"], row["figure"])


def test_every_claim_with_evidence_is_of_a_recorded_scale():
    scales = {scale for scale, _, _ in evidence.archives()}
    assert {row["scale"] for row in _kept(recorded.CLAIMS)} <= scales


def _kept(name: str) -> list[dict[str, str]]:
    return [row for row in csv_file.read(evidence.FOLDER / name) if row["kept"] == recorded.KEPT]


@pytest.mark.parametrize("archive", list(evidence.archives()), ids="/".join)
def test_an_archive_is_sound(archive, tmp_path, monkeypatch):
    file = evidence.path(*archive).absolute()
    monkeypatch.chdir(tmp_path)
    assert adoption.adopt(file, replace=False).endswith("0 were here already")
