"""A plan that is kept is the one that would be made, and only while no file of it changed."""

import shutil
from pathlib import Path
from unittest.mock import patch

import pytest

from grokatlas.errors import UserError
from grokatlas.plan import cache
from grokatlas.plan.jobs import Plan
from grokatlas.plan.kept_plans import FILE, KeptPlan
from grokatlas.plan.project import Project

GROUPS = ("datasets", "runs", "measures", "tables", "figures", "claims", "atlas")
PENALTY = Path("components/penalties/elastic_net.py")
EXPERIMENTS = Path("config/papers/my_study/experiments.yaml")
SCRIPT = """
theirs:
  script: {folder: theirs, command: python train.py, files: ['*.py'], history: log.csv}
"""


@pytest.fixture(autouse=True)
def _study(new_study):
    PENALTY.write_text(PENALTY.read_text() + '\n\nFILES = ("points.csv",)\n')
    PENALTY.with_name("points.csv").write_text("1\n")
    Path(".snakemake").mkdir()


def opened(scale: str = "smoke", **overrides) -> tuple[Project, bool]:
    """The project as a call of Snakemake opens it, and whether its papers were looked at."""
    looked = []
    given = {"scale": scale, **overrides}
    with patch.object(cache, "check_once", looked.append):
        project = Project(Path("config"), given, warn=looked.append, keep=True)
    return project, bool(looked)


def said(plan: Plan) -> dict[str, list]:
    """All that a plan says of its jobs, in its order."""
    return {
        group: [
            (key, job.kind, job.target, job.spec, job.code, job.digests, job.files_read)
            for key, job in getattr(plan, group).items()
        ]
        for group in GROUPS
    }


def test_the_second_call_has_the_plan_of_the_first_and_looks_at_no_paper():
    first, _ = opened()
    second, looked = opened()
    assert not looked
    assert said(second.at("smoke")) == said(first.at("smoke"))
    assert second.captions == first.captions
    assert all(getattr(second.at("smoke"), group) for group in ("figures", "claims", "atlas"))


def test_each_scale_has_a_plan_of_its_own():
    opened("smoke")
    project, looked = opened("quick")
    assert looked
    assert project.at("quick").figures
    assert not opened("smoke")[1]
    assert not opened("quick")[1]
    assert said(opened("quick")[0].at("smoke")) == said(opened("smoke")[0].at("smoke"))


@pytest.mark.parametrize(
    "file",
    [
        *("components/losses/squared_hinge.py", "papers/my_study/claims.py"),
        *("config/papers/my_study/claims.yaml", "config/papers/my_study/paper.yaml"),
        *("config/papers/my_study/experiments.yaml", "components/penalties/points.csv"),
        *("config/papers/my_study/digitised_points.csv", "recorded/claims.csv"),
        "components/losses/another.py",
    ],
)
def test_a_file_that_changed_or_came_is_seen(file):
    opened()
    assert KeptPlan(Path("config"), "smoke").read()
    path = Path(file)
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as stream:
        stream.write("\n")
    assert KeptPlan(Path("config"), "smoke").read() is None


@pytest.mark.parametrize(
    "file", ["config/papers/other/paper.yaml", "docs/papers/other/a.png", "recorded/figures.csv"]
)
def test_what_a_study_of_the_checkout_recorded_is_seen(file):
    study = Path("studies/other")
    shutil.copytree("config/papers/my_study", study / "config/papers/other")
    for path in map(study.joinpath, ("study.yaml", "recorded/claims.csv", file)):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as stream:
            stream.write("paper\n" * (path.suffix == ".csv"))
    opened()
    assert KeptPlan(Path("config"), "smoke").read()
    with (study / file).open("a") as stream:
        stream.write("\n")
    assert KeptPlan(Path("config"), "smoke").read() is None


def test_an_edit_is_planned_and_taken_back_as_if_it_never_was():
    before, text = said(opened()[0].at("smoke")), EXPERIMENTS.read_text()
    EXPERIMENTS.write_text(text.replace("weight: 1e-3", "weight: 2e-3"))
    edited = said(opened()[0].at("smoke"))
    assert edited == said(Project(Path("config"), {"scale": "smoke"}).at("smoke")) != before
    EXPERIMENTS.write_text(text)
    assert said(opened()[0].at("smoke")) == before


@pytest.mark.parametrize(("old", "new"), [(b'"', b"'"), (b"elastic_net", b"elastic_nat")])
def test_a_damaged_file_is_no_plan(old, new):
    first, _ = opened()
    file = Path(FILE.format("smoke"))
    file.write_bytes(file.read_bytes().replace(old, new, 1))
    second, looked = opened()
    assert looked
    assert said(second.at("smoke")) == said(first.at("smoke"))


def test_a_selection_of_papers_is_not_kept():
    opened(papers=["my_study"])
    assert not list(Path(".snakemake").iterdir())


def _edit(file: str, old: str, new: str) -> None:
    path = EXPERIMENTS.with_name(file)
    path.write_text(path.read_text().replace(old, new))


def test_a_plan_with_a_script_is_not_kept():
    Path("theirs").mkdir()
    Path("theirs/train.py").write_text("")
    EXPERIMENTS.write_text(EXPERIMENTS.read_text() + SCRIPT)
    _edit("paper.yaml", "experiments: [majority]", "experiments: [majority, theirs]")
    project, _ = opened()
    assert any("script" in run.spec for run in project.at("smoke").runs.values())
    assert not Path(FILE.format("smoke")).exists()


def test_a_warning_is_told_each_time():
    _edit("experiments.yaml", "majority:", "unused:")
    _edit("paper.yaml", "experiments: [majority]", "experiments: [elastic_net]")
    given = {"scale": "smoke"}
    for _ in range(2):
        warned = []
        with patch.object(cache, "check_once"):
            Project(Path("config"), given, warn=warned.append, keep=True)
        assert any("unused" in text for text in warned)


def test_a_file_that_is_edited_while_a_plan_is_made_is_not_of_the_kept_one():
    store = KeptPlan(Path("config"), "smoke")
    project = Project(Path("config"), {"scale": "smoke"})
    plan = project.at("smoke")
    EXPERIMENTS.write_text(EXPERIMENTS.read_text() + "\n")
    store.keep(plan, project.captions)
    assert not Path(FILE.format("smoke")).exists()


def test_two_studies_with_a_paper_of_one_name_are_refused():
    for name in ("one", "two"):
        study = Path("studies", name)
        shutil.copytree("config/papers/my_study", study / "config/papers/other")
        (study / "recorded").mkdir()
        (study / "study.yaml").touch()
    problem = "^studies/two/config/papers/other: is a paper of studies/one as well; rename one"
    with pytest.raises(UserError, match=problem):
        opened()
