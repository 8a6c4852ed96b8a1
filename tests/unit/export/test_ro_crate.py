"""The RO-Crate of a small tree: valid under its profiles, true to the disk, telling no names."""

import getpass
import hashlib
import json
import tomllib
import zipfile
from pathlib import Path

import pytest
from rocrate_validator.models import Severity

from grokatlas import cli
from grokatlas.errors import UserError
from grokatlas.export import ro_crate, ro_crate_metadata
from grokatlas.results import files as store
from grokatlas.results import layout
from tests.checkout import ROOT
from tests.tiers import every, exhaustive
from tests.unit import small_tree
from tests.unit.crates import PROFILES, entities, ids, issues, of_type, several

UNKNOWN_TO_US = (  # what the profiles recommend and no manifest tells
    "agent",
    "author",
    "publisher",
    "url",
    "absolute URI",
    "README.md",
    "Bioschemas",
)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A checkout with a results tree, that we are in; targets by kind."""
    (tmp_path / "checkout/config/papers/geometry").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout")
    for name in ("Snakefile", "LICENSE", "config/papers/geometry/paper.yaml"):
        Path(name).write_bytes((ROOT / name).read_bytes())
    Path("config/config.yaml").write_text("data_dir: /home/alice/data\n")
    return small_tree.make()


@pytest.fixture
def written(tree, tmp_path):
    ro_crate.write(tmp_path / "crate.zip", None)
    return tmp_path / "crate.zip"


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
@pytest.mark.parametrize("profile", every(3, PROFILES, first=2))
def test_the_crate_is_valid(written, profile, monkeypatch, tmp_path):
    assert issues(written, profile, Severity.REQUIRED, monkeypatch, tmp_path) == set()


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
@exhaustive
def test_only_what_is_unknown_is_left_out(written, monkeypatch, tmp_path):
    found = issues(written, PROFILES[-1], Severity.RECOMMENDED, monkeypatch, tmp_path)
    assert [text for text in found if not any(word in text for word in UNKNOWN_TO_US)] == []


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    ("type_", "key"),
    every(
        3,
        [("CreateAction", "instrument"), ("HowToStep", "workExample"), ("ControlAction", "object")],
    ),
)
def test_the_validator_sees_what_is_missing(written, type_, key, monkeypatch, tmp_path):
    """The check of the check: a crate without a needed link is found invalid."""
    with zipfile.ZipFile(written) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    metadata = json.loads(files[ro_crate.METADATA])
    for entity in metadata["@graph"]:
        if type_ in several(entity["@type"]):
            entity.pop(key)
    files[ro_crate.METADATA] = json.dumps(metadata).encode()
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    profile = PROFILES[-1]
    assert issues(tmp_path / "bad.zip", profile, Severity.REQUIRED, monkeypatch, tmp_path)


def test_every_hash_and_size_is_that_of_the_disk(written):
    files = of_type(written, "File")
    with zipfile.ZipFile(written) as archive:
        assert set(archive.namelist()) == {*files, ro_crate.METADATA}
        for name, facts in files.items():
            text = Path(name).read_bytes()
            assert archive.read(name) == text
            assert facts["sha256"] == hashlib.sha256(text).hexdigest()
            assert facts["contentSize"] == str(len(text))
            assert facts["encodingFormat"]
    assert ids(entities(written)["./"]["hasPart"]) == set(files)


def test_every_job_is_an_action_with_what_it_read_and_wrote(written, tree):
    actions = of_type(written, "CreateAction")
    assert len(actions) == 6  # five jobs and the whole
    for kind, target in tree.items():
        action = actions[f"#job/{target.as_posix().partition('/')[2]}"]
        manifest = store.read_json(layout.manifest_of(kind, target))
        job_file = str(layout.spec_path(kind, target))
        assert ids(action["object"]) == {job_file, *manifest["inputs"]}
        assert ids(action["result"]) == {str(file) for file in layout.outputs(kind, target)}
        assert action["startTime"] == "2026-11-20T10:00:00+00:00"
        assert action["endTime"] == "2026-11-20T10:01:01+00:00"
        assert "agent" not in action
        (tool,) = ids(action["instrument"])
        version = entities(written)[tool]["softwareVersion"]
        dirty = ".dirty" if kind == "figure" else ""
        assert version == f"0.1.0+{small_tree.COMMIT}{dirty}"


def test_the_whole_run_makes_figures_and_tables(written, tree):
    everything = entities(written)
    assert ids(everything["#workflow"]["result"]) == {
        str(file) for kind in ("table", "figure") for file in layout.outputs(kind, tree[kind])
    }
    assert ids(everything["#workflow"]["instrument"]) == {"Snakefile"}
    assert ids(everything["./"]["mainEntity"]) == {"Snakefile"}
    assert everything["#scale"]["value"] == "smoke"
    assert "HowTo" in everything["Snakefile"]["@type"]
    assert ids(everything["#engine"]["result"]) == {"#workflow"}
    assert ids(everything["#engine"]["object"]) == set(of_type(written, "ControlAction"))
    assert ids(everything["#engine"]["instrument"]) == {"#software/snakemake-9.27.1"}


def test_every_reference_leads_to_an_entity(written):
    everything = entities(written)
    for entity in everything.values():
        for key, value in entity.items():
            for item in several(value):
                if isinstance(item, dict) and not item["@id"].startswith("https://"):
                    assert item["@id"] in everything, (entity["@id"], key)


def test_each_other_version_and_commit_is_a_tool_of_its_own(tree, tmp_path):
    ro_crate.write(tmp_path / "1.zip", "smoke")
    path = layout.manifest_of("figure", tree["figure"])
    content = store.read_json(path)
    small_tree.write(path, {**content, "versions": {"python": "3.13.0"}, "git": None})
    ro_crate.write(tmp_path / "2.zip", "smoke")
    tools = [set(of_type(tmp_path / f"{n}.zip", "SoftwareApplication")) for n in (1, 2)]
    assert len(tools[1] - tools[0]) == 2  # Python and the tool, whose version is not known
    small_tree.write(path, {**content, "git": None})
    ro_crate.write(tmp_path / "3.zip", "smoke")
    assert len(set(of_type(tmp_path / "3.zip", "SoftwareApplication")) - tools[0]) == 1
    (tool,) = (t for t in tools[1] - tools[0] if t.startswith("#tool/figure"))
    assert "softwareVersion" not in entities(tmp_path / "2.zip")[tool]


def test_what_no_manifest_tells_is_not_told(tree, tmp_path):
    for kind, target in tree.items():
        path = layout.manifest_of(kind, target)
        content = store.read_json(path)
        for key in ("git", "versions", "host", "started", "wall_seconds"):
            content.pop(key)
        small_tree.write(path, content)
    ro_crate.write(tmp_path / "x.zip", "smoke")
    everything = entities(tmp_path / "x.zip")
    assert "#engine" not in everything
    for entity in everything.values():
        assert not {"startTime", "endTime", "agent", "author", "softwareVersion"} & set(entity)


def test_no_host_no_user_and_no_path_outside_is_told(tree, tmp_path):
    path = layout.manifest_of("figure", tree["figure"])
    note = {"who": "Alice Example", "reason": "told by alice@example.org", "code": {}}
    content = store.read_json(path)
    note["code"] = content["code"]
    small_tree.write(path, {**content, "accepted": [note]})
    ro_crate.write(tmp_path / "x.zip", "smoke")
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        texts = {name: archive.read(name) for name in archive.namelist()}
    secret = [small_tree.HOST, "login7", "Alice", "alice", "/home/", str(Path.home()), "Linux 5.4"]
    secret += [str(tmp_path), f'"{getpass.getuser()}"']
    for name, text in texts.items():
        assert not name.endswith("manifest.json")
        assert not name.startswith(("/", ".."))
        for word in secret:
            assert word.encode() not in text, (name, word)


def test_the_same_results_give_the_same_crate(tree, tmp_path):
    ro_crate.write(tmp_path / "1.zip", "smoke")
    ro_crate.write(tmp_path / "2.zip", "smoke")
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()


def test_the_licence_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert ro_crate_metadata.LICENCE["id"] == project["license"]
    assert ro_crate_metadata.LICENCE["name"] in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_every_kind_of_result_has_a_step_and_every_file_a_format():
    assert set(ro_crate_metadata.STEPS) == set(layout.HANDED_ON)
    for kind in layout.HANDED_ON:
        for file in layout.outputs(kind, Path("x")):
            assert file.suffix in ro_crate_metadata.FORMATS


def test_mistakes_are_told_in_one_line(tree, tmp_path, capsys):
    assert cli.main(["crate", str(tmp_path / "x.tar.gz")]) == 1
    assert "a crate is a .zip" in capsys.readouterr().err
    file = layout.outputs("run", tree["run"])[0]
    text = file.read_bytes()
    file.write_bytes(text.replace(b"run", b"fun"))
    with pytest.raises(UserError, match=r"history\.parquet: is not the file its manifest records"):
        ro_crate.write(tmp_path / "x.zip", None)
    file.unlink()
    with pytest.raises(UserError, match=r"history\.parquet: is missing; a crate needs every file"):
        ro_crate.write(tmp_path / "x.zip", None)
    file.write_bytes(text)
    Path("Snakefile").unlink()
    with pytest.raises(UserError, match="Snakefile: no such file; run this in a checkout"):
        ro_crate.write(tmp_path / "x.zip", None)
    assert not list(tmp_path.glob("x.*"))
