"""One reading of a result: whole ones are returned, all others are named with their record."""

import json
from pathlib import Path

import pytest

from grokatlas.results import files, hashing, layout
from grokatlas.results.result import (
    MANIFEST_TABLES,
    DamagedError,
    UnreadableError,
    load,
    read_json_file,
)
from tests import cases

SPEC = {"task": {"name": "toy"}}
RUN = layout.run_folder(hashing.of(SPEC)[:12])
CODE = {"grokatlas.toy": "0" * 64}
JOB = {"kind": "run", "digest": "1" * 64, "spec": SPEC, "code": CODE, "inputs": []}
OUTPUTS = {"history.parquet": "2" * 64, "snapshots.safetensors": "3" * 64}
MADE = JOB | {"inputs": {"results/data/a/data.safetensors": "4" * 64}, "outputs": OUTPUTS}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("spec.json", JOB)
    write("manifest.json", MADE)


def write(name: str, content: dict, folder: Path = RUN) -> None:
    files.write_json(folder / name, files.sealed(content))


def test_a_whole_result_is_returned_with_its_files():
    found = load("run", RUN, Path())
    assert found.kind == "run"
    assert found.outputs == {f"{RUN}/{name}": sha256 for name, sha256 in OUTPUTS.items()}
    assert found.inputs == MADE["inputs"]
    assert found.upstream == []  # its input is in no place of a data set
    assert list(found.records) == [f"{RUN}/spec.json", f"{RUN}/manifest.json"]


@cases.listed("name", "changes", "words")
def test_records_that_do_not_belong_together_are_refused(name, changes, words):
    made = MADE if name == "manifest.json" else JOB
    write(name, made | changes)
    with pytest.raises(DamagedError, match=words):
        load("run", RUN, Path())


def test_a_result_in_another_place_is_another_one():
    elsewhere = layout.run_folder("0123456789ab")
    for name, content in (("spec.json", JOB), ("manifest.json", MADE)):
        write(name, content, elsewhere)
    with pytest.raises(DamagedError, match="is about another result"):
        load("run", elsewhere, Path())
    assert load("run", elsewhere).kind == "run"  # a copy, as in a run store


@pytest.mark.parametrize(
    ("text", "verdict"),
    [("{", "modified"), ("[]", "modified"), ("{}", "unverified"), ("[" * 100_000, "modified")],
)
def test_what_is_no_record_has_a_verdict_and_no_content(text, verdict):
    path = RUN / "manifest.json"
    path.write_text(text)
    found = read_json_file("a", path, MANIFEST_TABLES)
    assert (found.verdict, found.content) == (verdict, {})
    with pytest.raises(DamagedError):
        found.checked()


def test_a_sealed_record_that_is_spelt_in_another_way_was_edited():
    path = RUN / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text())))
    with pytest.raises(DamagedError, match="was edited after it was written"):
        load("run", RUN, Path())


def test_what_cannot_be_read_is_not_called_damaged():
    path = RUN / "manifest.json"
    path.unlink()
    with pytest.raises(DamagedError, match="is missing"):
        load("run", RUN, Path())
    path.mkdir()
    with pytest.raises(UnreadableError, match="cannot be read: Is a directory"):
        load("run", RUN, Path())
