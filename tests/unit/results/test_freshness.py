"""What is up to date, stale or absent, by manifests alone."""

import json
import os
from pathlib import Path

import pytest

from grokatlas.code import code_digest
from grokatlas.results import files, freshness, hashing, layout


class Result:
    """A run's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = folder / "manifest.json"
        self.output = folder / layout.HISTORY

    def state(self, planned: str = "new", inputs: tuple[Path, ...] = ()) -> str:
        digests = hashing.Digests(planned, "former")

        def fits(content: dict) -> bool:
            return freshness.matches(content, digests, {})

        return freshness.state("run", self.folder, fits, list(inputs))

    def finish(self, made: str = "new", **manifest) -> None:
        self.folder.mkdir(exist_ok=True)
        self.output.write_text("result")
        self.manifest.write_text(json.dumps(files.sealed({"digest": made} | manifest)))


@pytest.fixture
def result(tmp_path):
    return Result(tmp_path / "run")


def test_a_result_is_absent_then_up_to_date_then_stale(result):
    assert result.state() == "absent"
    result.finish("new")
    assert result.state() == "up to date"
    assert result.state("other") == "stale"
    result.finish(partial={"absent": ["results/x"]})
    assert result.state() == "stale"
    result.manifest.unlink()
    assert result.state() == "stale"


@pytest.mark.parametrize("when", [0, 1, 1_000_000_000, 4_102_444_800])
def test_times_decide_nothing(result, when):
    result.finish("new")
    for file in (result.output, result.manifest):
        os.utime(file, (when, when))
    assert result.state() == "up to date"
    assert result.state("other") == "stale"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "[" * 9999, '{"outputs": []}'])
@pytest.mark.parametrize("upstream", [False, True])
def test_a_damaged_manifest_makes_a_result_stale(result, tmp_path, text, upstream):
    file = tmp_path / "upstream.csv"
    files.write_json(layout.manifest_path(file), {"outputs": {file.name: "a"}})
    result.finish(inputs={str(file): "a"})
    assert result.state("new", (file,)) == "up to date"
    (layout.manifest_path(file) if upstream else result.manifest).write_text(text)
    assert result.state("new", (file,)) == "stale"


def test_a_result_from_another_input_is_stale(result, tmp_path):
    data = tmp_path / "data" / layout.DATA
    files.write_json(data.with_name("manifest.json"), {"outputs": {data.name: "hash"}})
    result.finish(inputs={str(data): "hash"})
    assert result.state("new", (data,)) == "up to date"
    files.write_json(data.with_name("manifest.json"), {"outputs": {data.name: "other"}})
    assert result.state("new", (data,)) == "stale"


MODULES = code_digest.named_modules("run", {"penalties": [{"name": "l1"}, {"name": "l2"}]})


def test_a_digest_of_the_former_form_counts_with_the_modules_that_names_meant(result):
    """Such a digest is of a set of modules; the manifest has them by name."""
    spec = {"penalties": [{"name": "l1"}, {"name": "l2"}]}
    code = dict(zip(MODULES, ("a" * 64, "b" * 64), strict=True))
    exchanged = dict(zip(MODULES, ("b" * 64, "a" * 64), strict=True))
    planned = hashing.of_job("run", spec, code, [])
    manifest = {"kind": "run", "spec": spec, "seal": "", "digest": planned.former}
    assert freshness.matches(manifest | {"code": code}, planned, code)
    assert not freshness.matches(manifest | {"code": exchanged}, planned, code)
    assert not freshness.matches(manifest | {"code": code, "partial": {}}, planned, exchanged)
    accepted = {"code": exchanged, "accepted": [{"code": code}]}
    assert freshness.matches(manifest | accepted, planned, code)
    assert freshness.matches(manifest | {"digest": planned.today, "code": {}}, planned, code)
