"""Links, paths out of the tree, pickles and forged manifests are refused, not followed or read."""

import pickle
import shutil
from pathlib import Path

import pytest

from grokatlas.audit.tree import Tree
from grokatlas.errors import UserError
from grokatlas.results import files as store
from grokatlas.results import hashing
from tests.unit import audit_tree
from tests.unit.audit.judging import Malicious, judge, of_kind, wrong


def test_a_link_out_of_the_tree_is_refused_and_not_followed(jobs, tmp_path):
    run = of_kind(jobs, "run")
    outside = tmp_path / "outside.parquet"
    shutil.move(run.outputs[0], outside)
    run.outputs[0].symlink_to(outside)
    report = judge(jobs)
    finding = report.findings[run.outputs[0].as_posix()]
    assert finding.verdict == "unverified"
    assert "is a link out of the tree" in finding.reason
    assert run.outputs[0].as_posix() not in report.hashes


def test_a_linked_folder_is_refused(jobs, tmp_path):
    run = of_kind(jobs, "run")
    shutil.move(run.target, tmp_path / "elsewhere")
    run.target.symlink_to(tmp_path / "elsewhere")
    found = wrong(jobs)
    assert found[run.target.as_posix()] == "unverified"
    assert "refused" in Tree(Path("results")).refused[run.target.as_posix()]
    assert "missing" not in found.values()
    reasons = {each.reason for each in judge(jobs).findings.values()}
    assert f"{run.target} is a link out of the tree; refused" in reasons


def test_a_linked_manifest_is_refused(jobs, tmp_path):
    run = of_kind(jobs, "run")
    shutil.move(run.manifest, tmp_path / "m.json")
    run.manifest.symlink_to(tmp_path / "m.json")
    found = wrong(jobs)
    assert found[run.manifest.as_posix()] == "unverified"
    assert found[run.outputs[0].as_posix()] == "unverified"


@pytest.mark.parametrize(
    "name",
    ["results/../secret", "../secret", "/etc/passwd", "results/runs/../../x", "results//x", "a\\b"],
)
def test_a_path_out_of_the_tree_in_a_manifest_is_refused(jobs, name, monkeypatch):
    Path("secret").write_text("x")
    run, figure = of_kind(jobs, "run"), of_kind(jobs, "figure")
    audit_tree.edited(figure.manifest, seal=True, inputs={name: "0" * 64})
    audit_tree.edited(run.manifest, seal=True, outputs={name: "0" * 64})
    asked = []
    real = hashing.file_sha256
    monkeypatch.setattr(hashing, "file_sha256", lambda path: asked.append(path) or real(path))
    report = judge(jobs)
    for job in (run, figure):
        assert report.findings[job.manifest.as_posix()].verdict == "unverified"
        assert "refused" in report.findings[job.manifest.as_posix()].reason
    inside = Path("results").resolve()
    assert all(path.resolve().is_relative_to(inside) for path in asked)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        "1",
        "{}",
        '{"seal": 1}',
        '{"a": NaN, "seal": "x"}',
        "[" * 100000,
        '{"outputs": 1, "outputs": 2}',
    ],
)
def test_a_manifest_of_another_shape_is_named(jobs, text):
    run = of_kind(jobs, "run")
    run.manifest.write_text(text)
    assert wrong(jobs)[run.manifest.as_posix()] in ("modified", "unverified")


@pytest.mark.parametrize("key", ["kind", "digest", "spec", "code", "inputs", "outputs"])
@pytest.mark.parametrize("value", [None, 1, "x", [1], {"results/x": 1}])
def test_a_sealed_manifest_of_wrong_types_is_named(jobs, key, value):
    run = of_kind(jobs, "run")
    audit_tree.edited(run.manifest, seal=True, **{key: value})
    assert wrong(jobs)


def test_the_stores_reads_refuse_what_verify_would_name(jobs):
    run = of_kind(jobs, "run")
    assert len(store.read_parquet(run.outputs[0])) == 3
    audit_tree.edited(run.manifest, started="2020-01-01T00:00:00Z")
    with pytest.raises(UserError, match="was edited"):
        store.read_parquet(run.outputs[0])
    with pytest.raises(UserError, match="was edited"):
        store.read_arrays(run.outputs[1])
    audit_tree.edited(run.spec_path, kind="table")
    with pytest.raises(UserError, match="was edited"):
        store.read_sealed(run.spec_path)


@pytest.mark.parametrize("name", ["history.parquet", "snapshots.safetensors"])
def test_a_pickle_with_a_forged_manifest_is_refused_in_one_line(jobs, name):
    run = of_kind(jobs, "run")
    file = run.target / name
    file.write_bytes(pickle.dumps(Malicious()))
    outputs = store.read_json(run.manifest)["outputs"] | {name: hashing.file_sha256(file)}
    audit_tree.edited(run.manifest, seal=True, outputs=outputs)
    read = store.read_parquet if name.endswith("parquet") else store.read_arrays
    with pytest.raises(UserError, match="is no "):
        read(file)
    assert not Path("pwned").exists()
