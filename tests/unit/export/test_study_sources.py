"""A study is handed on with its sources: YAML, components, figures and the data beside them."""

import zipfile
from pathlib import Path

import pytest

from grokatlas.errors import UserError
from grokatlas.export import adoption, archive, ro_crate, sources
from tests.unit.export.archives import content, members, raw_write

OWN = {
    "study.yaml": 'grokatlas: ">=0"\n',
    "Snakefile": "import grokatlas\n",
    "config/config.yaml": "scale: smoke\nrun_store: /home/me/store\n",
    "config/papers/mine/paper.yaml": "source: {title: t}\n",
    "config/papers/mine/digitised_points.csv": "figure\n",
    "components/tasks/points.py": 'FILES = ("../../data/points.csv",)\n',
    "papers/mine/fig1.py": "def draw(tables):\n    pass\n",
    "tests/test_points.py": "def test_it():\n    pass\n",
    "data/points.csv": "1,2\n",
    "config/points.json": "[1, 2]\n",
}
OTHER = ("notes.txt", ".hidden", "components/__pycache__/points.pyc", "results.old/a.csv")


@pytest.fixture
def study(tree) -> Path:
    """A results tree in the folder of a study, with other files beside it."""
    for name, text in [*OWN.items(), *((name, "x") for name in OTHER)]:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    return Path.cwd()


def test_an_archive_of_a_study_holds_its_sources_and_nothing_beside_them(study, tmp_path):
    told = archive.pack(tmp_path / "all.zip", "smoke", tables_only=True)
    held = members(tmp_path / "all.zip")
    inner = {n.removeprefix("sources/"): b.decode() for n, b in held.items() if "sources/" in n}
    assert inner == OWN
    with zipfile.ZipFile(tmp_path / "all.zip") as seen:  # as `unzip` sees it
        assert {f"sources/{name}" for name in OWN} <= set(seen.namelist())
    assert f"with {len(OWN)} sources of the study below sources/" in told


def test_a_crate_has_them_without_settings(study, tmp_path):
    ro_crate.write(tmp_path / "crate.zip", "smoke")
    names = {name for name in members(tmp_path / "crate.zip") if not name.startswith("results/")}
    assert names == {*OWN, ro_crate.METADATA} - {sources.SETTINGS}


def test_outside_a_study_there_are_none(tree, tmp_path):
    archive.pack(tmp_path / "all.zip", "smoke", tables_only=False)
    assert not any(map(sources.holds, members(tmp_path / "all.zip")))


def test_adopt_checks_the_sources_and_leaves_them_in_the_archive(study, tmp_path, monkeypatch):
    archive.pack(tmp_path / "all.zip", "smoke", tables_only=False)
    results = content(study / "results")
    (tmp_path / "to").mkdir()
    monkeypatch.chdir(tmp_path / "to")
    told = adoption.adopt(tmp_path / "all.zip", replace=False)
    assert f"unzip {tmp_path / 'all.zip'} 'sources/*'" in told
    assert content(Path("results")) == results
    assert [path.name for path in Path().iterdir()] == ["results"]


def test_a_source_that_is_not_the_listed_one_is_refused(study, tmp_path, monkeypatch):
    archive.pack(tmp_path / "all.zip", "smoke", tables_only=False)
    held = members(tmp_path / "all.zip")
    held["sources/study.yaml"] = held["sources/study.yaml"].replace(b">", b"<")
    raw_write(tmp_path / "bad.zip", held)
    (tmp_path / "to").mkdir()
    monkeypatch.chdir(tmp_path / "to")
    with pytest.raises(UserError, match=r"member 'sources/study.yaml' is damaged"):
        adoption.adopt(tmp_path / "bad.zip", replace=False)


@pytest.mark.parametrize(
    "name", ["sources", "sources/", "sources/../x", "sources//x", "sources/a\\b", "/sources/x", "x"]
)
def test_a_name_that_leads_elsewhere_is_no_source(name):
    assert not sources.holds(name)
    assert sources.holds("sources/config/papers/mine/paper.yaml")
