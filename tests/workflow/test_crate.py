"""The RO-Crate of a tree that the workflow made."""

import hashlib
import zipfile

import pytest
from rocrate_validator.models import Severity

from grokatlas.export import ro_crate
from tests.tiers import exhaustive
from tests.unit.crates import PROFILES, entities, issues, of_type
from tests.workflow.conftest import CLOSING

pytestmark = pytest.mark.workflow


@exhaustive
@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
def test_the_crate_is_valid_and_true_to_the_disk(finished, tmp_path, monkeypatch):
    monkeypatch.chdir(finished.folder)
    file = tmp_path / "crate.zip"
    ro_crate.write(file, "smoke")
    for profile in PROFILES:
        assert issues(file, profile, Severity.REQUIRED, monkeypatch, tmp_path) == set()
    for name, facts in of_type(file, "File").items():
        text = (finished.folder / name).read_bytes()
        assert facts["sha256"] == hashlib.sha256(text).hexdigest()
    made = {id_ for id_ in entities(file) if id_.startswith("#job/")}
    assert len(made) == len([kind for kind, _, _ in finished.plan() if kind not in CLOSING])
    with zipfile.ZipFile(file) as archive:
        assert not any(name.endswith("manifest.json") for name in archive.namelist())
