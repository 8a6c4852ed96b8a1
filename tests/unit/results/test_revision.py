"""The commit that a manifest records, in the repositories that people really have."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from grokatlas.results import files, manifest, revision

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


def git(folder: Path, *arguments: str) -> str:
    author = ["-c", "user.name=A", "-c", "user.email=a@b.c"]
    command = ["git", "-C", str(folder), *author, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A git checkout of a package with a page of results, all of it committed."""
    root = tmp_path / "atlas"
    package = root / "src" / "grokatlas"
    package.mkdir(parents=True)
    (package / "adam.py").write_text("x = 1\n")
    for name in ("results", "docs", "config"):
        (root / name).mkdir()
        (root / name / "README.md").write_text("a page\n")
    monkeypatch.setattr(revision, "PACKAGE", package)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        git(root, *command)
    return root


def clean(root: Path) -> dict:
    return {"git": {"commit": git(root, "rev-parse", "HEAD"), "dirty": False}}


def fake_git(folder: Path, monkeypatch, script: str) -> None:
    (folder / "bin").mkdir()
    (folder / "bin" / "git").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder / "bin"), prepend=os.pathsep)


@needs_git
def test_a_fresh_checkout_is_clean(repository):
    assert revision.facts() == clean(repository)


@needs_git
@pytest.mark.parametrize(
    "name", ["src/grokatlas/adam.py", "src/grokatlas/new.py", "config/README.md", "Snakefile"]
)
def test_what_can_change_a_number_makes_it_dirty(repository, name):
    (repository / name).write_text("x = 2\n")
    assert revision.facts()["git"]["dirty"] is True


@needs_git
@pytest.mark.parametrize("name", ["notes.txt", "docs/README.md", "results/README.md"])
def test_other_files_do_not(repository, name):
    (repository / name).write_text("other\n")
    assert revision.facts() == clean(repository)


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
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GIT_DIR", "/nowhere"),
        ("GIT_WORK_TREE", "/nowhere"),
        ("GIT_INDEX_FILE", "/nowhere"),
        ("GIT_CONFIG_PARAMETERS", "nonsense"),
        ("GIT_LITERAL_PATHSPECS", "nonsense"),
        ("LANG", "de_DE.UTF-8"),
    ],
)
def test_variables_of_a_hook_or_another_repository_do_not_count(
    repository, monkeypatch, name, value
):
    wanted = clean(repository)
    monkeypatch.setenv(name, value)
    assert revision.facts() == wanted


@needs_git
def test_a_worktree_has_its_own_commit(repository, tmp_path, monkeypatch):
    git(repository, "worktree", "add", "-q", str(tmp_path / "second"))
    monkeypatch.setattr(revision, "PACKAGE", tmp_path / "second" / "src" / "grokatlas")
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
@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("exec sleep 60", "git did not answer within 1 s"),
        ("echo warning: w >&2; echo fatal: no luck >&2; echo hint >&2; exit 128", "no luck"),
        ("exit 3", "git failed: exit code 3"),
        (":", "the repository has no commit yet"),
    ],
)
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
    manifest.Recorder(job, []).write(tmp_path / "manifest.json", [])
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
    assert revision.facts() == clean(repository)  # it is no repository
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        git(study, *command)
    commit = git(study, "rev-parse", "HEAD")
    for name, dirty in (("results", False), ("tests", False), ("components/penalties", True)):
        (study / name).mkdir(exist_ok=True)
        (study / name / "new.py").write_text("x = 1\n")
        expected = clean(repository) | {"study": {"commit": commit, "dirty": dirty}}
        assert revision.facts() == expected, name
