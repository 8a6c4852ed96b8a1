from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file

from grokatlas import cli
from grokatlas.audit import numbers
from grokatlas.errors import UserError
from grokatlas.results import dotted, files, hashing, records_only
from tests.unit import audit_tree


@pytest.fixture
def trees(tmp_path, monkeypatch):
    """Two trees: the second has other code, another learning rate and other numbers."""
    for name in "ab":
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "b")
    audit_tree.build(audit_tree.declared(lrs=(0.1, 0.3), run_code="2"), number=1.0)
    monkeypatch.chdir(tmp_path / "a")
    jobs = audit_tree.declared()
    audit_tree.build(jobs)
    return jobs


def diff(capsys, *arguments) -> tuple[int, str]:
    code = cli.main(["diff", *map(str, arguments)])
    return code, capsys.readouterr().out


def test_a_tree_is_the_same_as_itself(trees, capsys):
    code, text = diff(capsys, "results", "results")
    assert code == 0
    assert text == f"{len(trees)} results in both, the numbers of 0 differ\n"


def test_two_trees(trees, capsys):
    code, text = diff(capsys, "results", "../b/results")
    assert code == 1
    assert f"only in results: {audit_tree.run_folder(0.2)}" in text
    assert f"only in ../b/results: {audit_tree.run_folder(0.3)}" in text
    assert "code: grokatlas.engine.training changed" in text
    assert "history.parquet: train_loss: 3 of 3 values differ, at most by 1 (relative " in text


def test_two_figures_tell_the_specs_of_their_runs(trees, capsys):
    stem = "results/smoke/figures/toy/fig1"
    code, text = diff(capsys, f"{stem}.pdf", f"../b/{stem}.pdf")
    assert code == 1
    assert "runs: rates lr=0.1: code: grokatlas.engine.training changed" in text
    assert "runs: rates lr=0.2: only in the first" in text
    assert "numbers: .csv: train_loss: 1 of 1 values differ, at most by 1 " in text
    assert "data: " in text
    assert text.endswith("the numbers differ\n")


def test_two_runs_tell_dotted_names(trees, capsys):
    code, text = diff(capsys, *(audit_tree.run_folder(lr).name for lr in (0.1, 0.2)))
    assert code == 1
    assert "spec: optimizer.lr: 0.1 -> 0.2\n" in text
    assert "snapshots.safetensors: 10/weight: 6 of 6 values differ" in text


def test_other_code_with_the_same_numbers_exits_0(trees, capsys):
    run = next(job for job in trees.values() if job.kind == "run")
    twin = Path("../b/results/runs") / run.target.name
    audit_tree.build({"": audit_tree.recoded(run, **{"grokatlas.engine.training": "3"})})
    copy = {f: (run.target / f).read_bytes() for f in ("history.parquet", "snapshots.safetensors")}
    for name, data in copy.items():
        (twin / name).write_bytes(data)
    outputs = {name: hashing.file_sha256(twin / name) for name in copy}
    machine = {"name": "node9", "cpu": "a CPU"}
    audit_tree.edited(
        twin / "manifest.json",
        seal=True,
        outputs=outputs,
        host=machine,
        versions={"torch": "2.1"},
        git={"commit": "e" * 40, "dirty": True},
    )
    code, text = diff(capsys, run.target, twin)
    assert code == 0
    assert "code: grokatlas.engine.training changed" in text
    assert f"commit: {'c' * 12} -> {'e' * 12} dirty" in text
    assert 'versions: torch: "2.0" -> "2.1"' in text
    assert 'machine: host.name: "node1" -> "node9"' in text
    assert text.endswith("the numbers are the same\n")


def test_a_modified_file_is_not_compared(trees, capsys):
    run = next(job for job in trees.values() if job.kind == "run")
    run.outputs[0].write_bytes(b"x")
    assert cli.main(["diff", "toy/fig1", "toy/fig2"]) == 1
    capsys.readouterr()
    twin = Path("../b/results/runs") / run.target.name
    assert cli.main(["diff", str(run.target), str(twin)]) == 2
    assert "is not the file its manifest records" in capsys.readouterr().err


def frames(tmp_path, a, b, suffix=".parquet"):
    files = [tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"]
    for file, frame in zip(files, (a, b), strict=True):
        frame = pd.DataFrame(frame)
        frame.to_csv(file, index=False) if suffix == ".csv" else frame.to_parquet(file)
    return files


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_columns(tmp_path, suffix):
    a = {"same": [1.0, np.nan], "loss": [1.0, 2.0], "text": ["a", "b"], "gone": [1, 2]}
    b = {"same": [1.0, np.nan], "loss": [1.0, 2.5], "text": ["a", "c"], "new": [1, 2]}
    lines = numbers.compare(*frames(tmp_path, a, b, suffix))
    assert lines == [
        "gone: only in the first",
        "new: only in the second",
        "loss: 1 of 2 values differ, at most by 0.5 (relative 0.2)",
        "text: 1 of 2 values differ",
    ]


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ([1, 2], [1, 2, 3], "shape 2 -> 3"),
        ([1.0, 2.0], [1.0, np.nan], "1 of 2 values differ, at most by not finite (relative not f"),
    ],
)
def test_another_shape_and_a_number_that_became_nan(tmp_path, first, second, told):
    (line,) = numbers.compare(*frames(tmp_path, {"x": first}, {"x": second}))
    assert line.startswith(f"x: {told}")


def test_arrays(tmp_path):
    for name, value in (("a", 1.0), ("b", 1.25)):
        save_file({"w": np.full((2, 3), value), "v": np.ones(2)}, tmp_path / f"{name}.safetensors")
    lines = numbers.compare(tmp_path / "a.safetensors", tmp_path / "b.safetensors")
    assert lines == ["w: 6 of 6 values differ, at most by 0.25 (relative 0.2)"]


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".safetensors"])
def test_a_pickle_under_another_name_is_refused(tmp_path, suffix):
    import pickle

    for name in "ab":
        (tmp_path / f"{name}{suffix}").write_bytes(pickle.dumps({"x": 1}) + b"\xff\xfe")
    with pytest.raises(UserError, match="is no "):
        numbers.compare(tmp_path / f"a{suffix}", tmp_path / f"b{suffix}")


def test_dotted_names():
    old = {"a": {"b": [1, {"c": 2}]}, "gone": 1, "kind": 1}
    new = {"a": {"b": [1, {"c": 3}]}, "kind": 1.0, "empty": {}}
    assert dotted.differences(old, new) == [
        ("a.b.1.c", "2", "3"),
        ("empty", "absent", "{}"),
        ("gone", "1", "absent"),
        ("kind", "1", "1.0"),
    ]


def test_a_file_that_an_archive_left_out_is_compared_by_its_recorded_hash(trees, capsys):
    job = next(job for job in trees.values() if job.kind == "run")
    names = [file.as_posix() for file in job.outputs if file.suffix == ".safetensors"]
    for tree in (Path("results"), Path("../b/results")):
        folder = tree / "runs" / job.target.name
        outputs = files.read_sealed(folder / "manifest.json")["outputs"]
        listed = {name: outputs[Path(name).name] for name in names}
        files.write_json(tree / records_only.LIST, listed)
        for name in names:
            (folder / Path(name).name).unlink()
    assert diff(capsys, "results", "results") == (
        0,
        f"{len(trees)} results in both, the numbers of 0 differ\n",
    )
    code, text = diff(capsys, "results", "../b/results")
    assert code == 1
    assert "snapshots.safetensors differs; it is not kept, so not compared" in text
