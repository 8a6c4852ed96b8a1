"""Results on another disk: `results` as a link, and links inside it that lead elsewhere."""

import shutil
import subprocess
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.audit.tree import Tree
from grokatlas.audit.verify import verify
from grokatlas.cluster.doctor import files as disk_checks
from grokatlas.cluster.doctor import machine
from grokatlas.errors import UserError
from grokatlas.export import adoption, archive, closure
from grokatlas.plan.project import Project
from grokatlas.results import layout
from grokatlas.run_store import store as run_store
from tests.checkout import called
from tests.unit import small_tree
from tests.unit.declare.test_config_errors import ROOT, write


@pytest.fixture
def big(tmp_path, monkeypatch) -> Path:
    """A folder on another disk; we are in a checkout whose `results` is a link to it."""
    (tmp_path / "checkout").mkdir()
    (tmp_path / "big" / "atlas").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout")
    layout.RESULTS.symlink_to(tmp_path / "big" / "atlas")
    return tmp_path / "big" / "atlas"


def test_verify_pack_and_adopt_go_through_the_link(big, tmp_path):
    target = small_tree.make()
    assert (big / "runs" / target["run"].name / layout.HISTORY).is_file()
    (big / ".grokatlas-checkout").write_text("/somewhere/results\n")  # of version 0.2
    report = verify(Tree(layout.RESULTS), None)
    assert report.ok
    assert len(report.findings) == 18
    for name in ("results", target["run"], big, f"{big}/runs/{target['run'].name}/history.parquet"):
        assert cli.main(["verify", str(name)]) == 0
        assert cli.main(["explain", f"{target['run']}"]) == 0
    archive.pack(tmp_path / "all.zip", None, tables_only=False)
    shutil.rmtree(big)
    big.mkdir()
    adoption.adopt(tmp_path / "all.zip", replace=False)
    assert layout.RESULTS.is_symlink()
    assert verify(Tree(layout.RESULTS), None).ok
    assert not list(big.rglob(".adopt*"))


def test_a_run_behind_the_link_is_put_with_its_data(big, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(run_store, "put", lambda root, run, tree: seen.append((run, tree)))
    run = small_tree.make()["run"]
    (tmp_path / "store").mkdir()
    cli.main(["store", "add", "--store", str(tmp_path / "store"), str(run)])
    assert seen == [(run, Path.cwd())]


def test_the_plan_writes_its_job_files_through_the_link(big, tmp_path):
    Project(write(tmp_path), {}).prepare("smoke")
    assert list(big.glob("runs/*/spec.json"))


def test_the_doctor_looks_at_the_disk_behind_the_link(big):
    (finding,) = machine.disk([])
    assert (finding.state, str(big) in finding.text) == ("ok", True)
    assert [each.state for each in disk_checks.writing([])] == ["ok"]


def test_a_link_to_no_folder_is_refused_before_anything_is_written(big, tmp_path):
    small_tree.make()
    archive.pack(tmp_path / "all.zip", None, tables_only=False)
    big.rename(tmp_path / "unmounted")
    for call in (
        lambda: adoption.adopt(tmp_path / "all.zip", replace=False),
        lambda: Project(write(tmp_path), {}).prepare("smoke"),
        lambda: list(machine.disk([])),
    ):
        with pytest.raises(UserError, match=rf"^results: is a link to {big}, and no folder is"):
            call()
    assert not big.exists()


def test_git_ignores_results_also_where_they_are_a_link(big):
    shutil.copy(ROOT / ".gitignore", ".gitignore")
    subprocess.run(["git", "init", "--quiet"], check=True)
    done = called("git", "status", "--short", check=True)
    assert done.stdout == "?? .gitignore\n"


@pytest.mark.parametrize("kind", ["dataset", "run", "measure", "table", "figure"])
def test_verify_and_pack_refuse_the_same_links(here, kind):
    target = small_tree.make()[kind]
    file = layout.outputs(kind, target)[0]
    for place in (file, file.parent, Path(*file.parts[:2])):
        moved = here / "moved"
        shutil.move(place, moved)
        place.symlink_to(moved)
        report = verify(Tree(layout.RESULTS), None)
        assert "missing" not in {finding.verdict for finding in report.findings.values()}
        assert report.findings[place.as_posix()].reason == "is a link out of the tree; refused"
        with pytest.raises(UserError, match=f"{place}: is a link out of the tree; refused; put"):
            archive.pack(here / "x.zip", "smoke", tables_only=False)
        place.unlink()
        shutil.move(moved, place)
    assert verify(Tree(layout.RESULTS), None).ok


def test_a_link_to_a_folder_of_the_tree_is_refused_by_both(here):
    run = small_tree.make()["run"]
    shutil.move(run, "results/data/moved")
    run.symlink_to(Path("results/data/moved").resolve())
    reason = "is a link to no file of the tree; refused"
    assert Tree(layout.RESULTS).refused[run.as_posix()] == reason
    with pytest.raises(UserError, match=reason):
        closure.collect("smoke")


def test_a_link_inside_the_tree_is_followed_by_both(big, tmp_path):
    file = layout.outputs("run", small_tree.make()["run"])[0]
    other = big / "data" / "same"
    shutil.move(file, other)
    file.symlink_to(other)
    report = verify(Tree(layout.RESULTS), None)
    assert report.findings[file.as_posix()].verdict == "ok"
    archive.pack(tmp_path / "x.zip", "smoke", tables_only=False)
