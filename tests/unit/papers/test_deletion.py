"""A paper is its folders: without them nothing of it is left, and the others work as before."""

import os
import re
import shutil
from pathlib import Path

import pytest
import yaml

from tests.checkout import ROOT, declared_papers, python
from tests.tiers import every

PAPERS = declared_papers()
# GrokAlign is a method as well, whose component stays
METHODS = {
    "src/grokatlas/papers/plates/_accelerators.py",
    "src/grokatlas/papers/plates/accelerators.py",
    "src/grokatlas/plots/style.py",
    "src/grokatlas/papers/plates/precision.py",
    "src/grokatlas/papers/plates/_precision.py",
    "src/grokatlas/papers/plates/_progress.py",
    "src/grokatlas/papers/plates/progress.py",
}
PLAN = """
from pathlib import Path
from grokatlas.plan.project import Project
jobs = Project(Path("config"), {}).at("smoke").jobs
print(*(job.target for job in jobs if job.kind == "figure"), sep="\\n")
"""


def _deleted(folder: Path, paper: str) -> set[str]:
    """Copy the checkout without a paper and its versions; the names of these."""
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for part in ("src", "config", "docs", "workflow"):
        shutil.copytree(ROOT / part, folder / part, ignore=ignore)
    gone = {name for name, each in PAPERS.items() if paper in (name, each.version_of)}
    for name in gone:
        shutil.rmtree(folder / "config" / "papers" / name)
        shutil.rmtree(folder / "src" / "grokatlas" / "papers" / name)
        shutil.rmtree(folder / "docs" / "papers" / name, ignore_errors=True)
        (folder / "docs" / "papers" / f"{name}.md").unlink()
    for name in PAPERS.keys() - gone:
        _without_tables_of(gone, folder, name)
    return gone


def _without_tables_of(gone: set[str], folder: Path, name: str) -> None:
    """A paper's figures, and other interpretations, that take tables of others go with these."""
    place = folder / "config" / "papers" / name
    paper = yaml.safe_load((place / "paper.yaml").read_text(encoding="utf-8"))
    figures = paper.get("figures", {})
    rest = {
        figure: [other for other in each.get("experiments", ()) if other.split("/")[0] in gone]
        for figure, each in figures.items()
    }
    lost = [figure for figure, others in rest.items() if others]
    interpretations = paper.get("interpretations", {})
    owners = {
        key: {str(one.get("of", "")).split("/")[0] for one in each.get("instead", {}).values()}
        for key, each in interpretations.items()
    }
    for key in (key for key, own in owners.items() if own & gone):  # as an editor would
        text = (place / "paper.yaml").read_text(encoding="utf-8")
        text = re.sub(rf"^  {key}:\n(?:    .*\n)+", "", text, flags=re.MULTILINE)
        text = text.replace(f"    interpretations: [{key}]\n", "")
        (place / "paper.yaml").write_text(text, encoding="utf-8")
    if not lost:
        return
    claims = yaml.safe_load((place / "claims.yaml").read_text(encoding="utf-8"))
    for figure in lost:
        del figures[figure]
        claims.pop(figure, None)
    for file, content in (("paper.yaml", paper), ("claims.yaml", claims)):
        (place / file).write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")


def _python(folder: Path, *arguments: str) -> str:
    variables = {**os.environ, "PYTHONPATH": str(folder / "src"), "GROKATLAS_CODE": ""}
    done = python(*arguments, cwd=folder, env=variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("paper", every(len(PAPERS), PAPERS))
def test_without_its_folders_nothing_of_a_paper_is_left(tmp_path, paper):
    gone = _deleted(tmp_path, paper)
    kept = {name: each for name, each in PAPERS.items() if name not in gone}
    figures = {Path(line).parent.name for line in _python(tmp_path, "-c", PLAN).splitlines()}
    assert figures == set(kept)
    _python(tmp_path, "-m", "grokatlas", "reference")
    parts = "|".join(map(re.escape, gone))
    name = re.compile(f"(?<![a-z])({parts})(?![a-z])", re.IGNORECASE)
    code = [file for file in (tmp_path / "src").rglob("*") if file.is_file()]
    for file in [*code, *(tmp_path / "workflow").rglob("*.smk")]:
        place = file.relative_to(tmp_path).as_posix()
        if "components" in file.parts or place in METHODS or file.suffix == ".pyc":
            continue  # a component cites the papers that it is from
        for line in file.read_text(encoding="utf-8").splitlines():
            assert not name.search(line), f"{place}: {line}"
    assert not name.search((tmp_path / "config" / "README.md").read_text().partition("##")[0])
