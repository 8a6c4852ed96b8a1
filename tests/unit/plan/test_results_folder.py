"""Results on another disk: the folders of `results` as links into one folder."""

import os
import shutil
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.audit.tree import Tree
from grokatlas.audit.verify import verify
from grokatlas.errors import UserError
from grokatlas.export import adoption, archive, closure
from grokatlas.plan import results_folder
from grokatlas.plan.project import Project
from grokatlas.results import layout
from grokatlas.run_store import store as run_store
from tests.unit import small_tree
from tests.unit.declare.test_config_errors import write


@pytest.fixture
def big(tmp_path, monkeypatch) -> Path:
    """A folder for the results of the checkout that we are in."""
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    return tmp_path / "big" / "atlas"


@pytest.fixture
def linked(big) -> Path:
    big.parent.mkdir()
    results_folder.link(str(big), "here")
    return big


def refused(big: Path, *words: str) -> None:
    before = sorted(map(str, Path().parent.parent.rglob("*")))
    with pytest.raises(UserError) as caught:
        results_folder.link(str(big), "config.yaml: results")
    assert sorted(map(str, Path().parent.parent.rglob("*"))) == before
    for word in words:
        assert word in str(caught.value)


def test_what_is_made_is_in_the_other_folder(linked):
    tree = small_tree.make()
    assert not layout.RESULTS.is_symlink()
    assert {path.name for path in layout.RESULTS.iterdir()} == {*results_folder.FOLDERS}
    assert (linked / "runs" / tree["run"].name / layout.HISTORY).is_file()
    results_folder.link(str(linked), "here")  # again: nothing to do


def test_verify_pack_and_adopt_go_through_the_links(linked, tmp_path, monkeypatch):
    target = small_tree.make()
    found = verify(Tree(layout.RESULTS), None)
    assert found.ok
    assert len(found.findings) == 18
    assert cli.main(["verify", f"{target['run']}"]) == 0
    assert cli.main(["verify", f"{linked}/runs/{target['run'].name}/history.parquet"]) == 0
    archive.pack(tmp_path / "all.zip", None, tables_only=False)
    (tmp_path / "second").mkdir()
    monkeypatch.chdir(tmp_path / "second")
    (tmp_path / "other").mkdir()
    (tmp_path / "second" / "config").mkdir()
    Path("config/config.yaml").write_text(f"results: {tmp_path}/other/atlas\n")
    adoption.adopt(tmp_path / "all.zip", replace=False)
    assert layout.run_folder("").is_symlink()
    assert verify(Tree(layout.RESULTS), None).ok
    assert not list((tmp_path / "other").rglob(".adopt*"))


def test_a_run_behind_a_link_is_put_with_its_data(linked, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(run_store, "put", lambda root, run, tree: seen.append((run, tree)))
    run = small_tree.make()["run"]
    (tmp_path / "store").mkdir()
    cli.main(["store", "add", "--store", str(tmp_path / "store"), str(run)])
    assert seen == [(run, Path.cwd())]


def test_a_checkout_that_was_moved_keeps_its_results(linked, tmp_path, monkeypatch):
    small_tree.make()
    Path.cwd().rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path / "moved")
    assert not verify(Tree(layout.RESULTS), None).ok
    results_folder.link(str(linked), "here")  # as the next `snakemake` does
    assert verify(Tree(layout.RESULTS), None).ok


def test_the_folder_of_another_checkout_is_refused(linked, tmp_path, monkeypatch):
    (tmp_path / "second").mkdir()
    monkeypatch.chdir(tmp_path / "second")
    refused(linked, "config.yaml: results", "holds the results of the checkout", "name another")


@pytest.mark.parametrize("name", results_folder.FOLDERS)
def test_a_folder_with_results_is_not_hidden_by_a_link(big, name):
    big.parent.mkdir()
    file = layout.RESULTS / name / "x" / "y"
    file.parent.mkdir(parents=True)
    file.touch()
    refused(big, f"results/{name}: the setting", f"mkdir -p {big} && mv results/{name} {big}/")
    big.mkdir()
    shutil.move(layout.RESULTS / name, big)  # as the line says
    results_folder.link(str(big), "here")
    assert file.exists()


def test_all_that_is_to_be_moved_is_named_at_once(big):
    big.parent.mkdir()
    small_tree.make()
    names = [f"results/{name}" for name in ("data", "runs", "measures", "smoke")]
    refused(big, f"{', '.join(names)}: ", f"mv {' '.join(names)} {big}/")


def test_empty_folders_become_links(big):
    big.parent.mkdir()
    layout.run_folder("").mkdir(parents=True)
    results_folder.link(str(big), "here")
    assert layout.run_folder("").is_symlink()


def test_a_link_to_elsewhere_is_not_changed(big, tmp_path):
    big.parent.mkdir()
    layout.RESULTS.mkdir()
    layout.run_folder("").symlink_to(tmp_path)
    refused(big, f"results/runs: is a link to {tmp_path}, not to {big}/runs")


def test_a_folder_that_cannot_be_is_refused(big):
    refused(big, f"no folder {big.parent}; make it, or use null")
    big.parent.touch()
    refused(big, f"no folder {big.parent}")
    big.parent.unlink()
    big.parent.mkdir()
    big.touch()
    refused(big, f"{big} is no folder")
    layout.RESULTS.mkdir()
    refused(layout.RESULTS.resolve() / "more", "is in results itself")


@pytest.mark.parametrize("mark", [None, "", "/somewhere/results\n"])
def test_a_link_that_nobody_marked_is_refused(linked, mark):
    target = small_tree.make()
    (linked / results_folder.MARK).unlink()
    if mark is not None:
        (linked / results_folder.MARK).write_text(mark)
    tree = Tree(layout.RESULTS)
    assert tree.refused["results/runs"] == "is a link out of the tree; refused"
    assert not verify(tree, None).ok
    with pytest.raises(UserError, match=r"results/.*: is a link out of the tree; refused; put"):
        closure.collect(Path(), "smoke")
    assert target


@pytest.mark.parametrize("kind", ["dataset", "run", "measure", "table", "figure"])
def test_verify_and_pack_refuse_the_same_links(big, tmp_path, kind):
    target = small_tree.make()[kind]
    file = layout.outputs(kind, target)[0]
    for place in (file, file.parent):
        moved = tmp_path / "moved"
        shutil.move(place, moved)
        place.symlink_to(moved)
        report = verify(Tree(layout.RESULTS), None)
        assert "missing" not in {finding.verdict for finding in report.findings.values()}
        assert report.findings[place.as_posix()].reason == "is a link out of the tree; refused"
        with pytest.raises(UserError, match=f"{place}: is a link out of the tree; refused; put"):
            archive.pack(tmp_path / "x.zip", "smoke", tables_only=False)
        place.unlink()
        shutil.move(moved, place)
    assert verify(Tree(layout.RESULTS), None).ok


def test_a_link_inside_the_tree_is_followed_by_both(linked, tmp_path):
    file = layout.outputs("run", small_tree.make()["run"])[0]
    other = linked / "data" / "same"
    shutil.move(file, other)
    file.symlink_to(other)
    report = verify(Tree(layout.RESULTS), None)
    assert report.findings[file.as_posix()].verdict == "ok"
    archive.pack(tmp_path / "x.zip", "smoke", tables_only=False)


def test_the_setting_makes_the_links(big, tmp_path, monkeypatch):
    big.parent.mkdir()
    monkeypatch.setenv("HOME", str(big.parent))
    for key in ("PATH", "PYTHONPATH", "GROKATLAS_DEVICE"):
        monkeypatch.setenv(key, os.environ.get(key, ""))
    folder = write(tmp_path, settings="results: ~/atlas\n")
    Project(folder, {}).prepare_jobs()
    Project(folder, {}).job_file("claims", "smoke", "smoke", runs=False)  # a dry run
    assert not layout.RESULTS.exists()
    Project(folder, {}).prepare("smoke")
    assert layout.run_folder("").resolve() == big / "runs"
    with pytest.raises(UserError, match=r"^--config: results: no folder .*nowhere"):
        Project(folder, {"results": "../nowhere/atlas"}).prepare("smoke")
