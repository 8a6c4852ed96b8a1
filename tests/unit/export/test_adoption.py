"""Adopting an archive into a tree: what arrives, what stays, what `--replace` overwrites."""

from pathlib import Path

import pytest

from grokatlas.errors import UserError
from grokatlas.export import adoption, archive
from grokatlas.results import files as store
from grokatlas.results import layout
from tests.checkout import imported
from tests.unit import small_tree
from tests.unit.export.archives import assert_refused, content


def test_a_tree_arrives_as_it_was(tree, packed, tmp_path):
    text = adoption.adopt(packed, replace=False)
    assert "1 dataset, 1 run, 1 measure, 1 table, 1 figure" in text
    assert content(Path()) == content(tmp_path / "from")
    assert "nothing; 5 were here already" in adoption.adopt(packed, replace=False)


def test_an_archive_completes_what_has_only_tables(tree, packed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "from")
    archive.pack(tmp_path / "t.zip", "smoke", tables_only=True)
    monkeypatch.chdir(tmp_path / "to")
    adoption.adopt(tmp_path / "t.zip", replace=False)
    adoption.adopt(packed, replace=False)
    assert content(Path()) == content(tmp_path / "from")


def test_another_result_is_only_overwritten_when_told(packed, tree, tmp_path):
    file = layout.outputs("run", tree["run"])[0]
    adoption.adopt(packed, replace=False)
    file.write_bytes(b"mine")
    text = assert_refused(packed, f"1 results here differ from the archive's ({tree['run']})")
    assert "--replace overwrites" in text
    adoption.adopt(packed, replace=True)
    assert content(Path()) == content(tmp_path / "from")


@pytest.mark.parametrize("change", [{"digest": "0" * 64}, {"outputs": {}}])
def test_a_result_of_another_digest_is_another_result(packed, tree, change):
    adoption.adopt(packed, replace=False)
    small_tree.edit(layout.manifest_of("run", tree["run"]), **change)
    assert_refused(packed, "1 results here differ")


def test_the_same_result_of_another_machine_is_kept(packed, tree):
    adoption.adopt(packed, replace=False)
    path = layout.manifest_of("run", tree["run"])
    small_tree.edit(path, host={"name": "elsewhere"}, wall_seconds=1)
    before = content(Path())
    adoption.adopt(packed, replace=False)
    assert content(Path()) == before


def test_a_job_file_alone_is_no_result(packed, tree, tmp_path):
    store.write_json(layout.spec_path("run", tree["run"]), {"planned": True})
    adoption.adopt(packed, replace=False)
    assert content(Path()) == content(tmp_path / "from")


def test_tables_only_never_replaces_what_it_does_not_hold(packed, tree, tmp_path, monkeypatch):
    adoption.adopt(packed, replace=False)
    monkeypatch.chdir(tmp_path / "from")
    archive.pack(tmp_path / "t.zip", "smoke", tables_only=True)
    monkeypatch.chdir(tmp_path / "to")
    file = layout.outputs("run", tree["run"])[0]
    file.write_bytes(b"mine")
    with pytest.raises(UserError, match=r"does not hold results/runs/.*nothing was changed"):
        adoption.adopt(tmp_path / "t.zip", replace=True)
    assert file.read_bytes() == b"mine"


def test_no_torch_no_snakemake_no_pandas(packed):
    Path("Snakefile").touch()
    code = (
        "from pathlib import Path;"
        "from grokatlas.export import adoption, archive, ro_crate as crate;"
        f"adoption.adopt(Path({str(packed)!r}), False);"
        "archive.pack(Path('x.zip'), None, False);"
        "crate.write(Path('y.zip'), None)"
    )
    assert not imported(code, "torch", "snakemake", "pandas", "numpy", "matplotlib")
