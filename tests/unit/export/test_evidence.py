"""The evidence of an experiment: its table and the records behind it, of results fit for it."""

import pytest

from grokatlas.audit.tree import Tree
from grokatlas.audit.verify import verify
from grokatlas.errors import UserError
from grokatlas.export import archive, archive_files, evidence
from grokatlas.results import files, layout, records_only
from tests.unit import small_tree

TOYS = ("smoke", "atlas", "toys")


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A folder that holds a results tree, and that we are in; targets by kind."""
    (tmp_path / "from").mkdir()
    monkeypatch.chdir(tmp_path / "from")
    return small_tree.make()


@pytest.fixture
def restored(tree, tmp_path, monkeypatch):
    """A folder that holds only what was recorded, unpacked, and that we are in."""
    file = evidence.write(*TOYS).absolute()
    (tmp_path / "to").mkdir()
    monkeypatch.chdir(tmp_path / "to")
    archive.adopt(file, replace=False)
    return tree


def edit_manifest(kind: str, target, **facts) -> None:
    file = layout.manifest_of(kind, target)
    small_tree.write(file, {**files.read_json(file), **facts})


def verdicts() -> dict[str, set[str]]:
    found = verify(Tree(layout.RESULTS), None)
    by_verdict: dict[str, set[str]] = {}
    for name, finding in found.findings.items():
        by_verdict.setdefault(finding.verdict, set()).add(name)
    return by_verdict


def test_it_holds_the_table_and_all_records_behind_it(tree):
    made = evidence.write(*TOYS)
    assert made == evidence.path(*TOYS)
    names = {entry.name for entry in archive_files.entries(made)} - {archive.INDEX}
    kinds = ("dataset", "run", "measure", "table")
    records = {layout.spec_path(kind, tree[kind]) for kind in kinds}
    records |= {layout.manifest_of(kind, tree[kind]) for kind in kinds}
    table = layout.outputs("table", tree["table"])[0]
    assert names == {path.as_posix() for path in (*records, table)}
    assert list(evidence.archives()) == [TOYS]
    assert list(evidence.archives("paper")) == []


def test_what_is_recorded_again_is_the_same_file(tree):
    before = evidence.write(*TOYS).read_bytes()
    assert evidence.write(*TOYS) is None
    assert evidence.path(*TOYS).read_bytes() == before


def test_a_record_is_read_from_its_archive(tree):
    evidence.write(*TOYS)
    name = layout.manifest_of("run", tree["run"])
    assert evidence.record(*TOYS, name.as_posix()) == files.read_json(name)
    with pytest.raises(UserError, match=r"toys\.zip: does not hold results/none; record"):
        evidence.record(*TOYS, "results/none")


@pytest.mark.parametrize("kind", ["dataset", "run", "measure", "table"])
@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"git": {"commit": "c0ffee" * 7, "dirty": True}}, "was made from files that differ from"),
        ({"git": None}, "names no commit of the code that made it; commit, remove it, and run"),
        ({"partial": {"absent": ["x"]}}, "was made from a part of its inputs; run `snakemake`"),
    ],
)
def test_what_cannot_be_made_again_is_refused(tree, kind, facts, problem):
    edit_manifest(kind, tree[kind], **facts)
    with pytest.raises(UserError, match=problem) as caught:
        evidence.write(*TOYS)
    assert caught.value.place == tree[kind].as_posix()
    assert not evidence.path(*TOYS).exists()


@pytest.mark.parametrize("limit", ["LARGEST_FILE", "LARGEST_TOGETHER"])
def test_what_is_too_large_is_refused(tree, monkeypatch, limit):
    monkeypatch.setattr(evidence, limit, 1000)
    with pytest.raises(UserError, match=r"toys\.zip: would .* allowed are 1\.0 kB"):
        evidence.write(*TOYS)
    assert not evidence.path(*TOYS).exists()


def test_a_restored_tree_verifies_and_says_what_was_not_kept(restored):
    unkept = [*layout.outputs("run", restored["run"])]
    unkept += layout.outputs("dataset", restored["dataset"])
    unkept += layout.outputs("measure", restored["measure"])
    found = verdicts()
    assert found.keys() == {"ok", "not kept"}
    assert found["not kept"] == {path.as_posix() for path in unkept}


def test_a_table_that_is_lost_is_missing(restored):
    (table,) = layout.outputs("table", restored["table"])
    table.unlink()
    assert verdicts()["missing"] == {table.as_posix()}


def test_a_result_made_since_is_not_excused(restored):
    edit_manifest("run", restored["run"], wall_seconds=1.0)
    missing = {path.as_posix() for path in layout.outputs("run", restored["run"])}
    assert verdicts()["missing"] == missing


@pytest.mark.parametrize("text", ["", "[]", "{", '{"results/runs/x": 1}'])
def test_a_spoilt_list_excuses_nothing(restored, text):
    (layout.RESULTS / records_only.LIST).write_text(text)
    found = verdicts()
    assert "not kept" not in found
    assert found["missing"]


def test_a_whole_archive_adds_the_files(restored, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "from")
    archive.pack(tmp_path / "all.zip", "smoke", tables_only=False)
    monkeypatch.chdir(tmp_path / "to")
    archive.adopt(tmp_path / "all.zip", replace=False)
    assert verdicts().keys() == {"ok"}
    assert not (layout.RESULTS / records_only.LIST).exists()
