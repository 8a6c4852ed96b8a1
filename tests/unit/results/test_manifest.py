import hashlib

import pytest

from grokatlas.results import files, hashing, manifest, revision

JOB = {
    "kind": "table",
    "digest": "d",
    "spec": {"a": 1},
    "code": {"grokatlas.rules.tidy_table": "c"},
}


@pytest.fixture
def written(tmp_path):
    """The manifest of a job with one input of its own manifest, one without, and one output."""
    vouched, bare, made = (tmp_path / name / "file.csv" for name in ("data", "bare", "out"))
    for path in (vouched, bare, made):
        path.parent.mkdir()
        path.write_text(path.parent.name)
    recorded = {"outputs": {"file.csv": "hash at reading"}}
    files.write_json(vouched.with_name("manifest.json"), recorded)
    writer = manifest.ManifestWriter(JOB, [vouched, bare])
    writer.note(seeds=[0, 1])
    writer.write(made.with_name("manifest.json"), [made])
    return files.read_json(made.with_name("manifest.json")), (vouched, bare, made)


def test_a_manifest_has_every_field(written):
    content, _ = written
    assert set(content) == {
        *("kind", "digest", "spec", "code", "inputs", "outputs", "git", "versions", "host"),
        *("environment", "started", "wall_seconds", "cpu_seconds", "peak_memory_mb"),
        *("seeds", "seal"),
    }
    assert {key: content[key] for key in JOB} == JOB


def test_inputs_and_outputs_are_hashed(written):
    content, (vouched, bare, made) = written
    assert content["outputs"] == {"file.csv": hashing.file_sha256(made)}
    assert content["inputs"] == {
        str(vouched): "hash at reading",
        str(bare): hashing.file_sha256(bare),
    }


def test_versions_times_and_memory_are_recorded(written):
    content, _ = written
    named = {"python", "grokatlas", "torch", "numpy", "pandas", "pyarrow", "safetensors"}
    assert named <= {name for name, version in content["versions"].items() if version}
    assert content["started"].endswith("Z")
    assert content["wall_seconds"] >= 0
    assert content["cpu_seconds"] > 0
    assert content["peak_memory_mb"] > 1


def test_git_and_inputs_are_those_of_the_start(tmp_path, monkeypatch):
    before, after = ({"git": {"commit": commit * 40, "dirty": False}} for commit in "ab")
    monkeypatch.setattr(revision, "facts", lambda *_: before)
    file = tmp_path / "input"
    file.write_text("before")
    job = {"kind": "run", "digest": "0", "spec": {}, "code": {}}
    writer = manifest.ManifestWriter(job, [file])
    file.write_text("after")
    monkeypatch.setattr(revision, "facts", lambda *_: after)
    writer.write(tmp_path / "manifest.json", [])
    written = files.read_json(tmp_path / "manifest.json")
    assert written["git"] == before["git"]
    assert written["inputs"] == {str(file): hashlib.sha256(b"before").hexdigest()}
