"""What `grokatlas new` makes, and the names that it refuses; what a notebook is told at once."""

import os
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest
import yaml

import grokatlas
from grokatlas import registry
from grokatlas.declare import cells
from grokatlas.declare import study as studies
from grokatlas.errors import UserError
from grokatlas.plan import remaining
from grokatlas.publish import config_reference
from grokatlas.results import revision
from grokatlas.study import new, notebook, processes, shipped
from tests import cases
from tests.checkout import ROOT, called, imported

SPEC = cases.data(__file__)["spec"]


@pytest.fixture
def made(new_study):
    return new_study


def test_a_new_study_declares_its_own_paper_and_asks_for_this_version(made):
    studies.check()
    found = remaining.at("smoke")
    assert list(found.project.papers) == ["my_study"]
    kinds = Counter(job.kind for job in found.jobs)
    assert kinds == {"dataset": 2, "run": 2, "measure": 1, "table": 2, "figure": 2}
    major, minor, _ = grokatlas.__version__.split(".")
    expected = f">={grokatlas.__version__},<{major}.{int(minor) + 1}"
    assert yaml.safe_load((made / "study.yaml").read_text()) == {"grokatlas": expected}


def test_a_new_study_is_written_as_the_package_is(made):
    config = ["--config", ROOT / "pyproject.toml"]
    config += ["--config", "lint.isort.known-first-party=['grokatlas']"]
    files = sorted(made.rglob("*.py"))
    assert len(files) == 12
    for arguments in (["check", "--ignore=D103"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *arguments, *config, *files]
        done = called(*command)
        assert done.returncode == 0, done.stdout
    written = [made / name for name in ("README.md", "Snakefile", "study.yaml", ".gitignore")]
    written += [*files, *made.glob("config/papers/*/*.yaml")]
    assert len(written) == 19
    left = [path for path in written if "{{" in path.read_text() or "PAPER" in path.as_posix()]
    assert left == []


def test_a_new_study_has_an_example_of_each_block_and_uses_it(made):
    blocks = [b for b in registry.FOLDERS if (made / "components" / registry.FOLDERS[b]).is_dir()]
    wanted = {"task", "model", "loss", "optimizer", "penalties", "observables", "measures"}
    assert set(blocks) == wanted
    paper = remaining.at("smoke").project.papers["my_study"]
    cells_of = [each for name in paper.experiments for each in _cells(paper, name)]
    for block in blocks:
        (own,) = (made / "components" / registry.FOLDERS[block]).glob("*.py")
        used = [cell.measures if block == "measures" else cell.spec.get(block) for cell in cells_of]
        assert own.stem in str(used), block
    assert {each.draw is None for each in paper.figures.values()} == {True, False}


def _cells(paper, name):
    return cells.resolve("my_study", paper, name, "smoke")


def test_a_new_study_lists_components_and_its_own(made):
    for file in ("README.md", "schema/components.json"):
        text = (made / "config" / file).read_text(encoding="utf-8")
        assert "l1" in text
        assert "elastic_net" in text
    config_reference.main(Path("config"), check=True)


@pytest.fixture
def git(tmp_path, monkeypatch):
    """Git as a new user has it, who may have a name or not."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for key in [key for key in os.environ if key.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))]:
        monkeypatch.delenv(key)
    settings = tmp_path / "home/.gitconfig"
    settings.parent.mkdir()

    def configure(text: str) -> None:
        settings.write_text(text)

    return configure


NAMED = "[user]\n  name = A B\n  email = a@b\n[commit]\n  gpgsign = true\n"


def run_git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_new_study_is_a_repository_whose_commit_results_name(tmp_path, git, monkeypatch):
    git(NAMED)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    first, *rest = new.make(tmp_path / "mine")
    monkeypatch.delenv("GIT_DIR")
    assert first.endswith("mine with a git repository and its first commit. Now:")
    assert not any("git" in line for line in rest)
    assert run_git(tmp_path / "mine", "status", "--porcelain") == ""
    monkeypatch.chdir(tmp_path / "mine")
    study = revision.facts([])["study"]
    assert study == {"commit": run_git(tmp_path / "mine", "rev-parse", "HEAD"), "dirty": False}


def test_where_git_knows_no_name_the_commit_is_left_to_the_user(tmp_path, git):
    git("[user]\n  useConfigOnly = true\n")
    first, _, commit, *_ = new.make(tmp_path / "mine")
    assert first.endswith("mine with a git repository. Now:")
    assert commit == "    git commit -m 'A new study'   # results name the commit"
    assert "study.yaml" in run_git(tmp_path / "mine", "status", "--porcelain")


def test_a_study_within_a_repository_makes_none_of_its_own(tmp_path, git):
    git(NAMED)
    run_git(tmp_path, "init", "--quiet")
    first, _, commit, *_ = new.make(tmp_path / "mine")
    assert first.endswith(f"mine in the repository {tmp_path}. Now:")
    assert commit.strip().startswith("git add . && git commit")
    assert not (tmp_path / "mine/.git").exists()


def test_without_git_a_study_is_made_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    first, _, commands, *_ = new.make(tmp_path / "mine")
    assert "in no repository, as git failed" in first
    assert commands.strip().startswith("git init && git add .")


INSIDE = r"a study cannot be inside .*, which is grokatlas itself"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        *(
            (name, "is not a name for a paper: use a-z")
            for name in ("3-norms", "my study", "ünorm")
        ),
        ("geometry", "grokatlas has a paper 'geometry'; give the study another"),
        ("mine", "mine: is there and not empty; give a new folder"),
        *((ROOT / inner, INSIDE) for inner in ("src/grokatlas/mine", "mine", "docs/mine")),
    ],
)
def test_a_folder_that_cannot_be_a_study_is_refused_and_left(tmp_path, name, problem):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "note.txt").write_text("kept")
    with pytest.raises(UserError, match=problem):
        list(new.make(tmp_path / name))
    assert [path.name for path in tmp_path.rglob("*")] == ["mine", "note.txt"]
    assert not (ROOT / "mine").exists()


def test_the_snakefile_that_a_study_uses_is_that_of_the_checkout():
    assert Path(grokatlas.snakefile()) == ROOT / "Snakefile"


def test_what_a_wheel_holds_is_preferred(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "PACKAGE", tmp_path)
    (tmp_path / "Snakefile").touch()
    assert shipped.snakefile() == str(tmp_path / "Snakefile")


def test_to_import_the_package_imports_no_library():
    heavy = ["torch", "matplotlib", "pandas", "numpy", "pydantic", "yaml", "snakemake"]
    assert not imported("import grokatlas", *heavy)


def test_completion_offers_what_there_is():
    assert {"figure", "recorded", "run", "table", "tables"} <= {*dir(grokatlas)}
    assert all(callable(getattr(grokatlas, name)) for name in grokatlas.__all__)


def test_a_recorded_table_is_read_from_its_archive_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = grokatlas.recorded("geometry/two_weights")
    assert {*table["seed"]} == {0}
    assert {"history"} <= {*table["record"]}
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UserError, match=r"two_weight: no archive .*mean 'geometry/two_weights'"):
        grokatlas.recorded("geometry/two_weight")


def test_a_recorded_table_that_was_changed_is_refused(tmp_path):
    archive = ROOT / "recorded/paper/geometry/two_weights.zip"
    copy = tmp_path / "paper/geometry/two_weights.zip"
    copy.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(copy, "w") as changed:
        for name in old.namelist():
            more = b"more" if name.endswith("tables/geometry/two_weights.parquet") else b""
            changed.writestr(name, old.read(name) + more)
    with pytest.raises(UserError, match="is damaged: its table is not the one of its manifest"):
        grokatlas.recorded("geometry/two_weights", folder=tmp_path)


def test_tables_name_the_figures_that_draw_them(made):
    tables = grokatlas.tables().set_index("experiment")
    assert tables.loc["elastic_net", "figures"] == "my_study/shares"


def test_a_figure_shows_itself_in_a_notebook():
    from matplotlib.figure import Figure

    assert notebook._png(Figure()).startswith(b"\x89PNG")


def test_an_unknown_name_of_the_package_is_no_attribute():
    with pytest.raises(AttributeError, match="no attribute 'plot'"):
        grokatlas.plot  # noqa: B018


@cases.listed("change", "problem")
def test_a_mistake_in_a_spec_is_told_by_its_place_before_anything_runs(here, change, problem):
    with pytest.raises(UserError, match=f"^{problem}"):
        grokatlas.run({**SPEC, **change})
    assert list(here.iterdir()) == []


def test_a_table_or_figure_that_is_not_declared_is_told_with_the_nearest(made):
    with pytest.raises(
        UserError, match=r"my_study/elastic: not declared in config; .*elastic_net'"
    ):
        grokatlas.table("my_study", "elastic")
    with pytest.raises(UserError, match=r"my_study/share: not declared in config; .*shares'"):
        grokatlas.figure("my_study", "share")


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (
            lambda: grokatlas.table("my_study", "elastic_net", scale="papr"),
            "scale: \"papr\" .*'paper'",
        ),
        (
            lambda: grokatlas.figure("my_study", "shares", scale=1),
            "scale: 1 is not allowed; allowed",
        ),
        (lambda: grokatlas.figure("my_study", "shares", ""), 'scale: "" is not allowed; allowed'),
        (lambda: grokatlas.table("my_study", 1), "experiment: 1 is not allowed: must be text"),
        (lambda: grokatlas.figure(None, "shares"), "paper: null is not allowed: must be text"),
        (lambda: grokatlas.run(SPEC, threads=0), "threads: 0 is not allowed: must be a whole"),
        (lambda: grokatlas.run(SPEC, threads="2"), 'threads: "2" is not allowed'),
        (lambda: grokatlas.run([SPEC]), "spec: .* is not allowed: must be a block"),
        (lambda: grokatlas.run({**SPEC, 3: 4}), "spec.*3"),
    ],
)
def test_an_argument_that_means_nothing_is_one_line(made, call, problem):
    with pytest.raises(UserError, match=f"^{problem}"):
        call()


def test_a_job_that_fails_is_one_line(here, monkeypatch):
    told = "a line\nLogfile results/x/log.txt:\n====\nbefore\nfailed: why\n====\nafter\n"
    monkeypatch.setattr(processes, "_output", lambda command: (1, told))
    (here / "Snakefile").touch()
    with pytest.raises(UserError, match=r"^results/x/log.txt: a job failed: failed: why$"):
        processes.snakemake([Path("results/x")], "smoke")
    (here / "Snakefile").unlink()
    with pytest.raises(UserError, match=r"^Snakefile: no such file; work in a study's folder"):
        processes.snakemake([Path("results/x")], "smoke")


def test_a_spec_is_trained_once_in_any_folder_and_leaves_the_environment(
    tmp_path, monkeypatch, capsys
):
    import os

    monkeypatch.chdir(tmp_path)
    before = dict(os.environ)
    table = grokatlas.run(SPEC)
    assert dict(os.environ) == before
    assert "step 5/5, " in capsys.readouterr().err
    assert table.groupby("member")["step"].max().tolist() == [5, 5]
    assert set(table["optimizer.lr"]) == {0.1}
    (manifest,) = (tmp_path / "results/runs").glob("*/manifest.json")
    made = manifest.stat().st_mtime_ns
    assert grokatlas.run(SPEC).equals(table)
    assert manifest.stat().st_mtime_ns == made
