"""The evidence of an experiment: its table and the records behind it, of results fit for it."""

import shutil

import pytest

from grokatlas.audit import explain
from grokatlas.audit.tree import Tree
from grokatlas.audit.verify import verify
from grokatlas.errors import UserError
from grokatlas.export import adoption, archive, archive_files, evidence
from grokatlas.plan.jobs import Job
from grokatlas.results import files, freshness, hashing, layout, records_only
from tests.unit import small_tree
from tests.unit.export.archives import members, raw_write

TOYS = ("smoke", "atlas", "toys")


@pytest.fixture
def restored(tree, tmp_path, monkeypatch):
    """A folder that holds only what was recorded, unpacked, and that we are in."""
    evidence.write(TOYS, [tree["table"]])
    file = evidence.path(*TOYS).absolute()
    (tmp_path / "to").mkdir()
    monkeypatch.chdir(tmp_path / "to")
    adoption.adopt(file, replace=False)
    return tree


def edit_manifest(kind: str, target, **facts) -> None:
    small_tree.edit(layout.manifest_of(kind, target), **facts)


def verdicts() -> dict[str, set[str]]:
    found = verify(Tree(layout.RESULTS), None)
    by_verdict: dict[str, set[str]] = {}
    for name, finding in found.findings.items():
        by_verdict.setdefault(finding.verdict, set()).add(name)
    return by_verdict


def names_in_archive() -> set[str]:
    return {entry.name for entry in archive_files.entries(evidence.path(*TOYS))} - {archive.INDEX}


def names_of(tree, kinds: tuple[str, ...], *more) -> set[str]:
    """Names of the records of some results, and more."""
    records = [layout.spec_path(kind, tree[kind]) for kind in kinds]
    records += [layout.manifest_of(kind, tree[kind]) for kind in kinds]
    return {path.as_posix() for path in (*records, *more)}


def test_it_holds_the_table_and_all_records_behind_it(tree):
    assert evidence.write(TOYS, [tree["table"]])
    kinds = ("dataset", "run", "measure", "table")
    assert names_in_archive() == names_of(tree, kinds, *layout.outputs("table", tree["table"]))
    assert list(evidence.archives()) == [TOYS]
    assert list(evidence.archives("paper")) == []


def test_a_hidden_file_is_no_archive(tree):
    evidence.write(TOYS, [tree["table"]])
    file = evidence.path(*TOYS)
    for name in (file.with_name(f"._{file.name}"), file.parent.parent / ".trash" / "toys.zip"):
        name.parent.mkdir(exist_ok=True)
        name.write_bytes(b"\0\5\26\7")
    assert list(evidence.archives()) == [TOYS]
    assert evidence.disagreement() == ""


def test_of_finished_runs_it_holds_what_a_table_reads(tree):
    assert evidence.write(TOYS, [tree["run"], tree["measure"]])
    logged = (layout.outputs("run", tree["run"])[0], *layout.outputs("measure", tree["measure"]))
    assert names_in_archive() == names_of(tree, ("dataset", "run", "measure"), *logged)


def test_a_table_of_some_of_the_seeds_keeps_what_others_will_join(tree):
    for file in (
        layout.spec_path("table", tree["table"]),
        layout.manifest_of("table", tree["table"]),
    ):
        content = files.read_json(file)
        spec = content["spec"] | {"so_far": [{"axis": "seed", "values": 1, "of": 2}]}
        upstream = [small_tree.digests(tree[kind]) for kind in UPSTREAM]
        digest = hashing.of_job("table", spec, content["code"], upstream).today
        small_tree.write(file, {**content, "spec": spec, "digest": digest})
    evidence.write(TOYS, [tree["table"]])
    history = layout.outputs("run", tree["run"])[0].as_posix()
    assert {history, layout.outputs("table", tree["table"])[0].as_posix()} <= names_in_archive()


UPSTREAM = ("run", "measure")


def test_what_is_recorded_again_is_the_same_file(tree):
    assert evidence.write(TOYS, [tree["table"]])
    before = evidence.path(*TOYS).read_bytes()
    assert not evidence.write(TOYS, [tree["table"]])
    assert evidence.path(*TOYS).read_bytes() == before


def test_an_archive_of_the_same_files_that_is_packed_otherwise_stays(tree):
    evidence.write(TOYS, [tree["table"]])
    raw_write(evidence.path(*TOYS), members(evidence.path(*TOYS)))
    before = evidence.path(*TOYS).read_bytes()
    assert not evidence.write(TOYS, [tree["table"]])
    assert evidence.path(*TOYS).read_bytes() == before


def test_manifests_are_read_from_an_archive(tree):
    evidence.write(TOYS, [tree["table"]])
    content = files.read_json(layout.manifest_of("run", tree["run"]))
    assert evidence.manifests(*TOYS, "run") == {tree["run"].as_posix(): content}
    assert evidence.manifests(*TOYS, "figure") == {}


def test_a_run_is_finished_with_its_measures(tree):
    run, other = (Job("run", layout.run_folder(name), {}, {}) for name in "ab")
    measures = [Job("measure", tree["measure"] / name, {}, {}, (run,)) for name in "cd"]
    for each in (run, other, *measures):
        each.outputs[0].parent.mkdir(parents=True, exist_ok=True)
        each.outputs[0].touch()
    table = Job("table", tree["table"], {}, {}, (run, *measures, other))
    made = {run, measures[0]}
    assert evidence.finished(table, made.__contains__) == {}
    made |= {measures[1]}
    assert evidence.finished(table, made.__contains__) == {run.target: [run, *measures]}
    made |= {other}
    assert evidence.finished(table, made.__contains__).keys() == {run.target, other.target}
    other.outputs[0].unlink()  # an archive brought its record alone
    assert evidence.finished(table, made.__contains__).keys() == {run.target}


@pytest.mark.parametrize("kind", ["dataset", "run", "measure", "table"])
@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"git": {"commit": "c0ffee" * 7, "dirty": True}}, "was made from files that differ from"),
        (
            {"git": {"commit": "c0ffee" * 7, "dirty": True, "changed": ["src/grokatlas/text.py"]}},
            "such as src/grokatlas/text.py",
        ),
        ({"git": None}, "names no commit of the code that made it; commit, remove it, and run"),
        ({"partial": {"absent": ["x"]}}, "was made from a part of its inputs; run `snakemake`"),
    ],
)
def test_what_cannot_be_made_again_is_refused(tree, kind, facts, problem):
    edit_manifest(kind, tree[kind], **facts)
    with pytest.raises(UserError, match=problem) as caught:
        evidence.write(TOYS, [tree["table"]])
    assert caught.value.place == tree[kind].as_posix()
    assert not evidence.path(*TOYS).exists()


@pytest.mark.parametrize("name", ["config/papers/toy/paper.yaml", "src/grokatlas/toy.py"])
def test_files_that_its_digest_covers_may_have_differed(tree, name):
    git = {"commit": "c0ffee" * 7, "dirty": True, "changed": [name]}
    edit_manifest("run", tree["run"], git=git)
    assert evidence.write(TOYS, [tree["table"]])


@pytest.mark.parametrize("limit", ["LARGEST_FILE", "LARGEST_TOGETHER"])
def test_what_is_too_large_is_refused(tree, monkeypatch, limit):
    monkeypatch.setattr(evidence, limit, 1000)
    with pytest.raises(UserError, match=r"toys\.zip: would .* allowed are 1\.0 kB"):
        evidence.write(TOYS, [tree["table"]])
    assert not evidence.path(*TOYS).exists()


def test_a_restored_tree_verifies_and_says_what_was_not_kept(restored):
    unkept = [*layout.outputs("run", restored["run"])]
    unkept += layout.outputs("dataset", restored["dataset"])
    unkept += layout.outputs("measure", restored["measure"])
    found = verdicts()
    assert found.keys() == {"ok", "not kept"}
    assert found["not kept"] == {path.as_posix() for path in unkept}


def make_again(kind: str, tree, text: bytes, **facts) -> None:
    """Make a result of an archive here, with other bytes, as another machine does."""
    made = layout.outputs(kind, tree[kind])
    for file in made:
        file.write_bytes(text)
    outputs = {file.name: hashing.file_sha256(file) for file in made}
    edit_manifest(kind, tree[kind], outputs=outputs, **facts)
    if "digest" in facts:
        small_tree.edit(layout.spec_path(kind, tree[kind]), digest=facts["digest"])


def restore_beside(tree, tmp_path, monkeypatch, damage: bytes = b"", **facts) -> set[str]:
    """Restore an archive where its run and measure were made, the measure with other bytes."""
    evidence.write(TOYS, [tree["table"]])
    file = evidence.path(*TOYS).absolute()
    shutil.copytree("results", tmp_path / "to/results")
    monkeypatch.chdir(tmp_path / "to")
    for path in layout.table_stem(*TOYS).parent.iterdir():
        path.unlink()
    shutil.rmtree("results/smoke/figures")
    make_again("measure", tree, b"last bits", **facts)
    if damage:
        layout.outputs("measure", tree["measure"])[0].write_bytes(damage)
    twins: set[str] = set()
    adoption.adopt(file, replace=False, twins=twins)
    return twins


def test_a_table_is_restored_beside_a_measure_of_other_bytes(tree, tmp_path, monkeypatch):
    assert restore_beside(tree, tmp_path, monkeypatch) == {tree["measure"].as_posix()}
    (measure,), (table,) = (layout.outputs(kind, tree[kind]) for kind in ("measure", "table"))
    assert (measure.read_bytes(), table.is_file()) == (b"last bits", True)
    assert verdicts().keys() == {"ok"}
    digest = files.read_json(layout.manifest_of("table", tree["table"]))["digest"]
    read = [layout.outputs("run", tree["run"])[0], measure]
    assert freshness.up_to_date("table", tree["table"], digest, read)
    text = explain.text(Tree(layout.RESULTS), tree["table"].as_posix(), with_values=False)
    assert f"made from another {measure} than is here" in text
    with pytest.raises(UserError, match="which its archive left out, so it cannot be handed on"):
        archive.pack(tmp_path / "all.zip", "smoke", tables_only=True)


def test_a_measure_whose_digest_has_the_former_form_is_of_the_same_job(tree, tmp_path, monkeypatch):
    former = small_tree.digests(tree["measure"]).former
    twins = restore_beside(tree, tmp_path, monkeypatch, digest=former)
    assert twins == {tree["measure"].as_posix()}
    assert verdicts().keys() == {"ok"}


def test_a_measure_that_is_made_once_more_beside_it_is_stale(tree, tmp_path, monkeypatch):
    restore_beside(tree, tmp_path, monkeypatch)
    names = layout.outputs("run", tree["run"])
    make_again("run", tree, b"other")
    assert "unverified" in verdicts()
    digest = files.read_json(layout.manifest_of("table", tree["table"]))["digest"]
    assert not freshness.up_to_date("table", tree["table"], digest, names)


@pytest.mark.parametrize("facts", [{"digest": "0" * 64}, {"damage": b"damaged"}])
def test_no_table_is_restored_beside_another_or_a_damaged_measure(
    tree, tmp_path, monkeypatch, facts
):
    with pytest.raises(adoption.DifferError):
        restore_beside(tree, tmp_path, monkeypatch, **facts)


def test_a_table_that_is_lost_is_missing(restored):
    (table,) = layout.outputs("table", restored["table"])
    table.unlink()
    assert verdicts()["missing"] == {table.as_posix()}


def test_a_result_of_other_files_is_not_excused(restored):
    names = [path.name for path in layout.outputs("run", restored["run"])]
    edit_manifest("run", restored["run"], outputs=dict.fromkeys(names, "f" * 64))
    missing = {path.as_posix() for path in layout.outputs("run", restored["run"])}
    assert verdicts()["missing"] == missing


def test_an_acceptance_excuses_what_was_left_out(restored):
    note = {"reason": "neutral", "who": "A", "when": "now", "old": "a", "new": "b", "code": {}}
    edit_manifest("run", restored["run"], accepted=[note])
    assert "missing" not in verdicts()


def test_a_file_that_is_lost_here_is_not_excused_by_an_archive(tree):
    evidence.write(TOYS, [tree["table"]])
    history = layout.outputs("run", tree["run"])[0]
    history.unlink()
    adoption.adopt(evidence.path(*TOYS), replace=False)
    assert verdicts()["missing"] == {history.as_posix()}


def test_a_run_that_was_brought_back_may_not_lose_what_it_brought(tree, tmp_path, monkeypatch):
    evidence.write(TOYS, [tree["run"], tree["measure"]])
    file = evidence.path(*TOYS).absolute()
    (tmp_path / "to").mkdir()
    monkeypatch.chdir(tmp_path / "to")
    adoption.adopt(file, replace=False)
    history, snapshots = layout.outputs("run", tree["run"])
    assert snapshots.as_posix() in verdicts()["not kept"]
    history.unlink()
    assert verdicts()["missing"] == {history.as_posix()}


def test_archives_that_differ_in_what_they_share_are_named(tree):
    evidence.write(TOYS, [tree["table"]])
    assert evidence.disagreement() == ""
    edit_manifest("dataset", tree["dataset"], digest="other")
    other = ("smoke", "atlas", "others")
    manifest = layout.manifest_of("dataset", tree["dataset"])
    member = archive_files.FileToPack.of_file(manifest.as_posix(), manifest)
    archive_files.write(evidence.path(*other), [member])
    toys, others = evidence.path(*TOYS), evidence.path(*other)
    assert evidence.disagreement() == f"{others} and {toys} differ in {tree['dataset']}"


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
    adoption.adopt(tmp_path / "all.zip", replace=False)
    assert verdicts().keys() == {"ok"}
    assert not (layout.RESULTS / records_only.LIST).exists()
