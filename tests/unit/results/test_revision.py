"""The commit that a manifest records, in the repositories that people really have."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from grokatlas import registry
from grokatlas.code import module_shape, sources
from grokatlas.results import files, manifest, revision
from tests import cases
from tests.checkout import called, program

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


def git(folder: Path, *arguments: str) -> str:
    author = ["-c", "user.name=A", "-c", "user.email=a@b.c"]
    command = ["git", "-C", str(folder), *author, *arguments]
    return called(*command, check=True).stdout.strip()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A git checkout of a package with a page of results, all of it committed."""
    root = tmp_path / "atlas"
    package = root / "src" / "grokatlas"
    package.mkdir(parents=True)
    (package / "adam.py").write_text("x = 1\n")
    for name in ("results/README.md", "docs/README.md", "config/papers/toy/paper.yaml"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text("a page\n")
    use(package, monkeypatch)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        git(root, *command)
    return root


def use(package: Path, monkeypatch) -> None:
    """Take another package for this one; no module of it was imported."""
    for module in (revision, module_shape, registry):
        monkeypatch.setattr(module, "PACKAGE", package)
    monkeypatch.setattr(sources, "executed", {})


def clean(root: Path) -> dict:
    return {"git": {"commit": git(root, "rev-parse", "HEAD"), "dirty": False}}


def fake_git(folder: Path, monkeypatch, script: str) -> None:
    program(folder / "bin" / "git", script)
    monkeypatch.setenv("PATH", str(folder / "bin"), prepend=os.pathsep)


@needs_git
def test_a_fresh_checkout_is_clean(repository):
    assert revision.facts() == clean(repository)


def changed(root: Path, *names: str) -> dict:
    commit = git(root, "rev-parse", "HEAD")
    return {"git": {"commit": commit, "dirty": True, "changed": list(names)}}


SOURCES = ("src/grokatlas/adam.py", "src/grokatlas/new.py", "config/papers/toy/paper.yaml")


@needs_git
@pytest.mark.parametrize("name", SOURCES)
def test_what_can_change_a_number_makes_it_dirty(repository, name):
    (repository / name).write_text("x = 2\n")
    assert revision.facts() == changed(repository, name)


@needs_git
@pytest.mark.parametrize("hidden_by", ["skip-worktree", "assume-unchanged", "gitignore"])
@pytest.mark.parametrize("name", SOURCES)
def test_git_cannot_be_set_to_call_an_edit_clean(repository, name, hidden_by, tmp_path):
    if hidden_by == "gitignore":
        (tmp_path / "ignored").write_text("src/\nconfig/\n")
        git(repository, "config", "core.excludesFile", str(tmp_path / "ignored"))
    elif name in git(repository, "ls-files"):
        git(repository, "update-index", f"--{hidden_by}", name)
    (repository / name).write_text("x = 2\n")
    if hidden_by != "gitignore" and "new" not in name:
        assert git(repository, "status", "--porcelain", name) == ""
    assert revision.facts() == changed(repository, name)


@needs_git
def test_a_paper_that_was_removed_makes_it_dirty(repository):
    (repository / "config/papers/toy/paper.yaml").unlink()
    assert revision.facts() == changed(repository, "config/papers/toy/paper.yaml")


@needs_git
@cases.listed("name")
def test_other_files_do_not(repository, name):
    (repository / name).parent.mkdir(parents=True, exist_ok=True)
    (repository / name).write_text("other\n")
    assert revision.facts() == clean(repository)


@needs_git
def test_modes_and_ends_of_lines_do_not(repository):
    for file in (repository / "src").rglob("*.py"):
        file.chmod(0o777)
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert revision.facts() == clean(repository)


@needs_git
def test_of_a_job_the_modules_count_that_it_reaches(repository):
    (repository / "src/grokatlas/new.py").write_text("x = 2\n")
    assert revision.facts(["grokatlas.adam"]) == clean(repository)
    assert revision.facts(["grokatlas.new"]) == changed(repository, "src/grokatlas/new.py")


@needs_git
def test_results_that_are_a_link_do_not_make_it_dirty(repository, tmp_path):
    (repository / "results").rename(tmp_path / "results")
    (repository / "results").symlink_to(tmp_path / "results")
    assert "D results/README.md" in git(repository, "status", "--porcelain")
    assert revision.facts() == clean(repository)


@needs_git
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_user_is_read(repository):
    commit = git(repository, "rev-parse", "HEAD")
    for path in (repository, *repository.rglob("*")):
        os.chown(path, 1002, 1002)
    with pytest.raises(subprocess.CalledProcessError):
        git(repository, "rev-parse", "HEAD")  # this git asks for safe.directory
    assert revision.facts() == {"git": {"commit": commit, "dirty": False}}


@needs_git
@cases.listed("name", "value")
def test_variables_of_a_hook_or_another_repository_do_not_count(
    repository, monkeypatch, name, value
):
    wanted = clean(repository)
    monkeypatch.setenv(name, value)
    assert revision.facts() == wanted


@needs_git
def test_a_worktree_has_its_own_commit(repository, tmp_path, monkeypatch):
    git(repository, "worktree", "add", "-q", str(tmp_path / "second"))
    use(tmp_path / "second" / "src" / "grokatlas", monkeypatch)
    assert revision.facts() == clean(repository)
    shutil.rmtree(repository)  # as in a container that sees the worktree alone
    assert "not a git repository" in revision.facts()["git_problem"]


@needs_git
def test_the_call_writes_nothing(repository):
    (repository / "src/grokatlas/adam.py").touch()
    before = (repository / ".git/index").stat().st_mtime_ns
    assert revision.facts() == clean(repository)
    assert (repository / ".git/index").stat().st_mtime_ns == before


def test_code_outside_a_checkout_has_no_commit_and_no_problem(tmp_path, monkeypatch):
    monkeypatch.setattr(revision, "PACKAGE", tmp_path / "src" / "grokatlas")
    assert revision.facts() == {"git": None}


@needs_git
def test_a_package_installed_inside_another_checkout_has_no_commit(repository, monkeypatch):
    monkeypatch.setattr(revision, "PACKAGE", repository / ".venv" / "lib" / "grokatlas")
    assert revision.facts() == {"git": None}


@needs_git
def test_a_repository_without_a_commit_says_so(repository):
    shutil.rmtree(repository / ".git")
    git(repository, "init", "-q")
    assert revision.facts() == {"git": None, "git_problem": "the repository has no commit yet"}


@needs_git
@cases.listed("script", "problem")
def test_where_git_fails_the_reason_is_known(repository, tmp_path, monkeypatch, script, problem):
    fake_git(tmp_path, monkeypatch, script)
    monkeypatch.setattr(revision, "PATIENCE", 1.0)
    found = revision.facts()
    assert found["git"] is None
    assert problem in found["git_problem"]


@needs_git
def test_where_git_is_not_installed_log_and_manifest_say_so(
    repository, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("PATH", "")
    job = {"kind": "run", "digest": "0", "spec": {}, "code": {}}
    manifest.ManifestWriter(job, []).write(tmp_path / "manifest.json", [])
    written = files.read_sealed(tmp_path / "manifest.json")
    assert written["git"] is None
    assert written["git_problem"] == "git is not installed here"
    warning = "warning: the commit of the code is not recorded: git is not installed here\n"
    assert capsys.readouterr().err == warning


@needs_git
def test_a_study_has_a_commit_of_its_own(repository, tmp_path, monkeypatch):
    study = tmp_path / "my-study"
    (study / "components/penalties").mkdir(parents=True)
    (study / "study.yaml").write_text('grokatlas: ">=0"\n')
    monkeypatch.chdir(study)
    assert revision.facts() == clean(repository) | {"study": None}  # it is no repository
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        git(study, *command)
    commit = git(study, "rev-parse", "HEAD")
    for name, dirty in (("results", False), ("tests", False), ("components/penalties", True)):
        (study / name).mkdir(exist_ok=True)
        (study / name / "new.py").write_text("x = 1\n")
        expected = clean(repository) | {"study": {"commit": commit, "dirty": dirty}}
        if dirty:
            expected["study"]["changed"] = [f"{name}/new.py"]
        assert revision.facts() == expected, name
