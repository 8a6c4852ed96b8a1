import hashlib
import os
import shutil
import subprocess

import pytest

from grokatlas import digest, manifest, store

JOB = {"kind": "table", "digest": "d", "spec": {"a": 1}, "code": {"grokatlas.tables": "c"}}


@pytest.fixture
def written(tmp_path):
    """The manifest of a job with one input of its own manifest, one without, and one output."""
    vouched, bare, made = (tmp_path / name / "file.csv" for name in ("data", "bare", "out"))
    for path in (vouched, bare, made):
        path.parent.mkdir()
        path.write_text(path.parent.name)
    recorded = {"outputs": {"file.csv": "hash at reading"}}
    store.write_json(vouched.with_name("manifest.json"), recorded)
    recorder = manifest.Recorder(JOB, [vouched, bare])
    recorder.note(seeds=[0, 1])
    recorder.write(made.with_name("manifest.json"), [made])
    return store.read_json(made.with_name("manifest.json")), (vouched, bare, made)


def test_a_manifest_has_every_field(written):
    content, _ = written
    assert set(content) == {
        *("kind", "digest", "spec", "code", "inputs", "outputs", "git", "versions", "host"),
        *("started", "wall_seconds", "cpu_seconds", "peak_memory_mb", "seeds", "seal"),
    }
    assert {key: content[key] for key in JOB} == JOB


def test_inputs_and_outputs_are_hashed(written):
    content, (vouched, bare, made) = written
    assert content["outputs"] == {"file.csv": digest.file_sha256(made)}
    assert content["inputs"] == {
        str(vouched): "hash at reading",
        str(bare): digest.file_sha256(bare),
    }


def test_versions_name_what_can_change_a_number(written):
    content, _ = written
    assert {"python", "grokatlas", "torch", "numpy", "pandas", "pyarrow", "safetensors"} <= set(
        content["versions"]
    )
    assert all(content["versions"].values())


def test_host_names_the_machine(written, monkeypatch):
    content, _ = written
    assert set(content["host"]) >= {"name", "system", "cpu", "cores"}
    assert content["host"]["cores"] == os.cpu_count()
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    assert manifest.host()["slurm_job"] == "17"


def test_times_and_memory_are_measured(written):
    content, _ = written
    assert content["started"].endswith("Z")
    assert content["wall_seconds"] >= 0
    assert content["cpu_seconds"] > 0
    assert content["peak_memory_mb"] > 1


def test_git_state_outside_a_checkout_is_none(tmp_path, monkeypatch):
    monkeypatch.setattr(manifest, "PACKAGE", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert manifest.git_state() is None


def test_git_state_without_git_is_none(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert manifest.git_state() is None


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_git_state_tells_commit_and_dirt(tmp_path, monkeypatch):
    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        command = ["git", "-C", str(tmp_path), *who, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    package = tmp_path / "src" / "grokatlas"
    package.mkdir(parents=True)
    git("init")
    (package / "code.py").write_text("1")
    git("add", "-A")
    git("commit", "-m", "one")
    monkeypatch.setattr(manifest, "PACKAGE", package)
    commit = git("rev-parse", "HEAD")
    assert manifest.git_state() == {"commit": commit, "dirty": False}
    (package / "code.py").write_text("2")
    assert manifest.git_state() == {"commit": commit, "dirty": True}


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A git checkout of a package, all of it committed."""
    package = tmp_path / "src" / "grokatlas"
    package.mkdir(parents=True)
    (package / "adam.py").write_text("x = 1\n")
    monkeypatch.setattr(manifest, "PACKAGE", package)
    author = ["-c", "user.name=A", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "-A"], [*author, "commit", "-qm", "first"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    return tmp_path


def test_a_clean_checkout_is_not_dirty(repository):
    (repository / "notes.txt").write_text("not code")
    assert manifest.git_state()["dirty"] is False


@pytest.mark.parametrize("name", ["adam.py", "new.py"])
def test_an_edit_and_a_new_source_make_the_checkout_dirty(repository, name):
    (repository / "src" / "grokatlas" / name).write_text("x = 2\n")
    assert manifest.git_state()["dirty"] is True


def test_a_package_inside_another_checkout_has_no_git_state(repository, monkeypatch):
    inner = repository / ".venv" / "grokatlas"
    inner.mkdir(parents=True)
    monkeypatch.setattr(manifest, "PACKAGE", inner)
    assert manifest.git_state() is None


def test_git_and_inputs_are_those_of_the_start(repository, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "input"
    file.write_text("before")
    job = {"kind": "run", "digest": "0", "spec": {}, "code": {}}
    recorder = manifest.Recorder(job, [file])
    commit = recorder.git["commit"]
    file.write_text("after")
    (repository / "src" / "grokatlas" / "adam.py").write_text("x = 3\n")
    recorder.write(tmp_path / "manifest.json", [])
    written = store.read_json(tmp_path / "manifest.json")
    assert written["git"] == {"commit": commit, "dirty": False}
    assert written["inputs"] == {str(file): hashlib.sha256(b"before").hexdigest()}
