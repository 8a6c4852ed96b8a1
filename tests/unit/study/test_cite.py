"""`grokatlas cite`: the paper, the software and the runs of a figure, as BibTeX."""

import pytest

from grokatlas import cli
from tests.unit import small_tree


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return small_tree.make()


def _entries(text: str) -> dict[str, str]:
    parts = text.split("@")[1:]
    return {part.partition("{")[2].partition(",")[0]: part for part in parts}


def test_the_software_and_every_paper_are_cited(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["cite"]) == 0
    entries = _entries(capsys.readouterr().out)
    assert len(entries) == 6
    assert "year = {2026}," in entries["grokatlas"]
    assert "author = {Musat, Tiberiu}," in entries["musat_2511.01938"]


def test_a_figure_is_cited_with_its_paper_commit_and_runs(tree, tmp_path, capsys):
    paper = tmp_path / "config/papers/atlas/paper.yaml"
    paper.parent.mkdir(parents=True)
    title = "The Geometry of Grokking: Norm Minimization on the Zero-Loss Manifold"
    paper.write_text(f'source: {{title: "{title}", arxiv: "2511.01938"}}\n')
    assert cli.main(["cite", "atlas/fig1"]) == 0
    entries = _entries(capsys.readouterr().out)
    assert list(entries) == ["grokatlas", "musat_2511.01938", "grokatlas_atlas_fig1"]
    own = entries["grokatlas_atlas_fig1"]
    assert tree["run"].name in own
    assert f"commit {small_tree.COMMIT[:12]}" in own
    assert "python 3.12.1" in own


def test_what_is_no_made_figure_is_one_line(tree, capsys):
    assert cli.main(["cite", "atlas/fig7"]) == 1
    assert cli.main(["cite", tree["run"].name]) == 1
    said = capsys.readouterr()
    assert not said.out
    first, second = said.err.splitlines()
    assert first.startswith("atlas/fig7: no such result")
    assert ": is no sound figure; name paper/figure (" in second
