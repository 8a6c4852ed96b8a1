"""The page of a wheel: README.md whose links and pictures lead to the repository of the release."""

import importlib.util
import re
import sys
from types import ModuleType

import pytest

from tests.checkout import ROOT

ADDRESS = "https://a.b/atlas"
FILES, PICTURES = f"{ADDRESS}/blob/v1.2/", f"{ADDRESS}/raw/v1.2/"


@pytest.fixture
def updated(monkeypatch):
    """Gives metadata as the hook leaves them; the build tool that calls it is not installed."""
    for kind, name in (
        ("builders.hooks", "BuildHookInterface"),
        ("metadata", "MetadataHookInterface"),
    ):
        module = ModuleType(f"hatchling.{kind}.plugin.interface")
        setattr(module, name, object)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)

    def update(address):
        monkeypatch.setenv("GROKATLAS_REPOSITORY", address)
        hook, metadata = hooks.Metadata(), {"version": "1.2"}
        hook.root = ROOT
        hook.update(metadata)
        return metadata

    return update


def test_every_link_and_picture_is_an_address_of_a_file_that_is_there(updated):
    metadata = updated(ADDRESS)
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", metadata["readme"]["text"])
    links = re.findall(r"\]\(([^)]+)\)", metadata["readme"]["text"])
    files = [link for link in links if ADDRESS in link]
    assert len(pictures) > 3
    assert all(each.startswith(PICTURES) for each in pictures)
    assert all(each.startswith(("https://", "#")) for each in links)
    assert len(files) > 30
    for link in (*files, *metadata["urls"].values()):
        path = link.removeprefix(FILES).removeprefix(PICTURES).partition("#")[0]
        assert path == ADDRESS or (ROOT / path).exists(), link


def test_without_an_address_the_page_is_the_readme(updated):
    metadata = updated("")
    assert metadata["readme"]["text"] == (ROOT / "README.md").read_text(encoding="utf-8")
    assert "urls" not in metadata
