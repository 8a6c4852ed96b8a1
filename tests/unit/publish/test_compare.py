"""`grokatlas compare`: two commits or two results trees, what changed and what did not."""

import csv
import re
import shutil
import zipfile
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from matplotlib import image

from grokatlas import cli
from grokatlas.errors import UserError
from grokatlas.publish import recorded
from grokatlas.publish.compare import pixels
from grokatlas.results import files, hashing, layout
from tests import cases
from tests.atlas import small_atlas
from tests.checkout import ROOT, called
from tests.unit import audit_tree

GREY = np.full((20, 30, 3), 0.5)
CLAIM = {"paper": "geometry", "id": "G1", "scale": "paper", "verdict": "reproduced"}
CLAIM |= {"expected_low": "5.0", "expected_high": "20.0", "count": "1", "kept": "yes"}
CLAIM |= dict.fromkeys(("value", "lowest", "highest"), "9.0")
FIGURE = {"paper": "geometry", "figure": "ridge", "scale": "paper", "machine": "a CPU"}
FIGURE |= {"commit": "c0ffee", "made": "2026-01-01", "runs": "3", "train_seconds": "4"}
TABLE = "| method | ours |\n|:---|---:|\n| adam | {} |\n| sgd | 2 |\n"


def git(*arguments: str) -> str:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = called("git", *who, *arguments, check=True)
    return done.stdout.strip()


def drawn(name: str, pixels_of: np.ndarray = GREY, note: str = "") -> None:
    file = Path(f"docs/papers/geometry/{name}.png")
    file.parent.mkdir(parents=True, exist_ok=True)
    image.imsave(file, pixels_of, metadata={"Description": note})


def rows(name: str, *given: dict[str, str]) -> None:
    Path("recorded").mkdir(exist_ok=True)
    columns = recorded.JUDGED if name == recorded.CLAIMS else recorded.ORIGIN
    with Path("recorded", name).open("w", newline="") as stream:
        writer = csv.DictWriter(stream, columns, restval="")
        writer.writeheader()
        writer.writerows(given)


def evidence(loss: list[float], **others: list[float]) -> None:
    """The recorded table of the one experiment of figure `ridge`."""
    pd.DataFrame({"step": range(len(loss)), "loss": loss, **others}).to_parquet("table")
    archive = Path("recorded/paper/geometry/ridge.zip")
    archive.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive, "w") as opened:
        opened.write("table", "results/paper/tables/geometry/ridge.parquet")


def table(value: str) -> None:
    Path("docs/papers/geometry/table1.md").write_text(f"{TABLE.format(value)}\n<!-- {value} -->\n")


@pytest.fixture
def clone(here):
    """A repository whose branch `before` has two figures, a table and a claim of geometry."""
    git("init", "--quiet", "--initial-branch", "before")
    Path("config").mkdir()
    shutil.copytree(ROOT / "config/papers/geometry", "config/papers/geometry")
    drawn("ridge")
    drawn("fig2")
    table("1")
    rows(recorded.FIGURES, FIGURE)
    rows(recorded.CLAIMS, CLAIM)
    evidence([3.0, 2.0])
    commit("before")
    return here


def commit(branch: str) -> None:
    if branch != "before":
        git("checkout", "--quiet", "-b", branch)
    git("add", "docs", "config", "recorded")
    git("commit", "--quiet", "--allow-empty", "--message", f"this is {branch}")


def compare(capsys, *arguments) -> tuple[int, str]:
    code = cli.main(["compare", *map(str, arguments)])
    told = capsys.readouterr()
    return code, told.out + told.err


def test_nothing_changed_is_said_and_exits_0(clone, capsys):
    for name in ("ridge", "fig2"):
        drawn(name, note="drawn by another commit")  # other bytes, the same pixels
    rows(recorded.FIGURES, FIGURE | {"commit": "decade", "made": "2026-02-02"})
    evidence([3.0, 2.0])
    commit("after")
    code, text = compare(capsys, "before", "after")
    assert code == 0
    assert text.endswith("\nnothing changed\n")
    assert text.count("\n") == 3


def test_a_changed_picture_is_compared_by_its_pixels(clone, capsys):
    other = GREY.copy()
    other[:2] = 0
    drawn("ridge", other)
    commit("after")
    code, text = compare(capsys, "before", "after")
    assert code == 1
    figure = "figure geometry/ridge (paper scale):\n  10.0% of the pixels differ\n"
    assert f"{figure}  its numbers are the same\n" in text
    assert "1 figure changed, 2 the same" in text


COLUMNS = ("  step, loss, a, b, c, d, e", "  step, loss, a, b, c, d and 2 more")
RIDGE = "figure geometry/ridge (paper scale):\n"


def longer(names: str) -> None:
    """Make the recorded table one row longer, with these columns in it."""
    evidence([1.0] * 3, **{name: [1.0] * 3 for name in names})


@pytest.mark.parametrize(
    ("before", "change", "told"),
    [
        (
            None,
            lambda: (drawn("ridge", GREY / 2), evidence([3.0, 2.5])),
            f"{RIDGE}  100.0% of the pixels differ\n  loss of table ridge: 1 of 2 values differ, "
            "at most by 0.5 (relative 0.2)\n",
        ),
        (
            None,
            lambda: evidence([3.0, 2.0, 1.0]),
            f"{RIDGE}  it looks the same\n  step, loss of table ridge: shape 2 -> 3\n",
        ),
        ("abcde", lambda: longer("abcde"), f"{COLUMNS[0]} of table ridge: shape 2 -> 3\n"),
        ("abcdef", lambda: longer("abcdef"), f"{COLUMNS[1]} of table ridge: shape 2 -> 3\n"),
        (None, lambda: drawn("fig2", GREY / 2), "  no numbers of it on both sides\n"),
        (
            None,
            lambda: table("7"),
            "figure geometry/table1:\n  cells of the table differ: 1 -> 7\n",
        ),
        (
            None,
            lambda: rows(recorded.FIGURES, FIGURE | {"scale": "quick"}),
            "figure geometry/ridge (quick scale):\n  scale: paper -> quick\n  it looks the same\n",
        ),
    ],
    ids=["values", "shape", "seven", "eight", "no tables", "cells", "scale"],
)
def test_a_figure_is_told_with_what_differs_of_it(clone, capsys, before, change, told):
    if before:
        evidence([1.0] * 2, **{name: [1.0] * 2 for name in before})
        commit("columns")
    change()
    commit("after")
    code, text = compare(capsys, "columns" if before else "before", "after")
    assert code == 1
    assert told in text


def test_figures_of_one_side_alone(clone, capsys):
    Path("docs/papers/geometry/ridge.png").unlink()
    drawn("fig3")
    commit("after")
    _, text = compare(capsys, "before", "after")
    assert "figure geometry/ridge (paper scale): only in before" in text
    assert "figure geometry/fig3: only in after" in text
    assert "on one side alone 2 figures and 0 claims" in text


@cases.listed("change", "told")
def test_a_changed_claim(clone, capsys, change, told):
    rows(recorded.CLAIMS, CLAIM | change)
    commit("after")
    code, text = compare(capsys, "before", "after")
    assert code == 1
    assert f"claim geometry/G1: {told}" in text


def test_rounding_is_told_apart(clone, capsys):
    rows(recorded.CLAIMS, CLAIM | {"value": "9.0000000000001"})
    commit("after")
    code, text = compare(capsys, "before", "after")
    assert code == 1
    assert "0 numbers and 0 declarations of claims changed, 1 in rounding alone" in text
    assert "claim geometry/G1" not in text


def test_an_interval_that_is_moved_is_told_and_its_verdict_does_not_count(clone, capsys):
    claims = Path("config/papers/geometry/claims.yaml")
    claims.write_text(claims.read_text().replace("expected: [5, 20]", "expected: [5, 40]", 1))
    commit("after")
    code, text = compare(capsys, "before", "after")
    assert code == 1
    assert "claim geometry/G1: reproduced -> not run at this scale" in text
    assert "interval 5 to 20 steps -> 5 to 40 steps" in text


def test_a_changed_statement_is_told(clone, capsys):
    claims = Path("config/papers/geometry/claims.yaml")
    claims.write_text(claims.read_text().replace("is low by step 10", "is <low> by step 10", 1))
    commit("after")
    _, text = compare(capsys, "before", "after", "--markdown", "summary.md")
    assert "claim geometry/G1: declared otherwise" in text
    assert "is \\<low\\> by step 10" in Path("summary.md").read_text()


def test_a_configuration_that_cannot_be_read_is_no_end(clone, capsys):
    Path("config/papers/geometry/paper.yaml").write_text("later: {version: 9}\n")
    commit("after")
    _, text = compare(capsys, "before", "after", "--markdown", "summary.md")
    assert "note: the configuration of after is not read: papers/geometry" in text
    assert "nothing changed" in text
    assert "the configuration of after is not read" in Path("summary.md").read_text()


def test_markdown_has_both_pictures_by_their_commits(clone, capsys):
    drawn("ridge", GREY / 2)
    rows(recorded.CLAIMS, CLAIM | {"verdict": "partly"})
    commit("after")
    Path("summary.md").write_text("# Before\n")
    compare(capsys, "before", "after", "--markdown", "summary.md", "--pictures", "https://a.b/raw")
    text = Path("summary.md").read_text()
    assert text.startswith("# Before\n## before → after\n")
    for branch in ("before", "after"):
        file = f"https://a.b/raw/{git('rev-parse', branch)}/docs/papers/geometry/ridge.png"
        assert f"![geometry/ridge, {branch}]({file})" in text
    assert "| geometry/G1 | the training loss is low by step 10 (weight decay 0.01) | repro" in text


@cases.listed("arguments", "told")
def test_wrong_input_is_one_line(clone, capsys, arguments, told):
    commit("after")
    git("checkout", "--quiet", "--orphan", "empty")
    git("rm", "-r", "--quiet", "--cached", ".")
    git("commit", "--quiet", "--allow-empty", "--message", "nothing")
    code, text = compare(capsys, *arguments)
    assert code == 2
    assert text.startswith(told)
    assert text.count("\n") == 1


@cases.listed("name", "old", "new", "told")
def test_a_damaged_recorded_table_is_one_line(clone, capsys, name, old, new, told):
    file = Path("recorded", name)
    damaged = file.read_text().replace(old, new, 1)
    assert damaged != file.read_text()
    file.write_text(damaged)
    commit("after")
    code, text = compare(capsys, "before", "after")
    assert code == 2
    assert text.startswith(f"after: recorded/{name}: {told}")
    assert text.count("\n") == 1


def test_without_a_repository_a_branch_is_one_line(here, monkeypatch, capsys):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(here.parent))
    code, text = compare(capsys, "main", "other")
    assert code == 2
    assert "main: is no results folder, and there is no git repository here" in text


def test_a_shallow_clone_says_how_older_commits_come(clone, capsys, monkeypatch):
    older = git("rev-parse", "HEAD")
    commit("after")
    git("clone", "--quiet", "--depth", "1", f"file://{clone}", "shallow")
    monkeypatch.chdir("shallow")
    code, text = compare(capsys, older, "after")
    assert code == 2
    assert text.startswith(f"{older}: is no commit of this clone; ")
    assert "`git fetch --unshallow` brings older commits" in text
    monkeypatch.chdir(clone)
    assert "shallow" not in compare(capsys, "nonsense", "after")[1]


@pytest.fixture
def trees(tmp_path, monkeypatch):
    """Two results trees of three figures, one table and four claims; they hold the same."""
    for name in "ba":
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        small_atlas.make()
    return tmp_path


def again(stem: str, **written: bytes) -> None:
    """Change files of a figure, as if its job had written them."""
    manifest = Path(f"{stem}.manifest.json")
    outputs = files.read_json(manifest)["outputs"]
    for suffix, data in written.items():
        file = Path(f"{stem}.{suffix}")
        file.write_bytes(data)
        outputs[file.name] = hashing.file_sha256(file)
    audit_tree.edited(manifest, seal=True, outputs=outputs)


def test_two_trees_with_the_same_results(trees, capsys):
    code, text = compare(capsys, "results", "../b/results")
    assert code == 0
    assert "results: results folder, 3 figures\n" in text
    assert text.endswith("\nnothing changed\n")


def test_figures_of_two_trees(trees, capsys):
    stem = layout.figure_stem("smoke", "toy", "fig2").as_posix()
    image.imsave("other.png", GREY)
    again(stem, png=Path("other.png").read_bytes(), csv=b"step,train_loss,ratio\n10,1.0,0.75\n")
    again(layout.figure_stem("smoke", "toy", "table1").as_posix(), md=b"| a |\n|---|\n| 2 |\n")
    Path("a summary").mkdir()
    code, text = compare(capsys, "../b", ".", "--markdown", "a summary/of both.md")
    assert code == 1
    assert "figure toy/fig2 (smoke scale):\n  the picture's size: 40 x 20 -> 30 x 20 pix" in text
    assert "  ratio of its csv: 1 of 1 values differ, at most by 0.25" in text
    assert "figure toy/table1 (smoke scale):\n  the table has other rows or columns\n" in text
    assert "2 figures changed, 1 the same" in text
    shown = Path("a summary/of both.md").read_text()
    links = re.findall(r"!\[toy/fig2, ([^]]+)\]\(([^)]+)\)", shown)
    assert [label for label, _ in links] == ["../b", "."]
    for (_, link), folder in zip(links, (trees / "b", trees / "a"), strict=True):
        file = folder / "results/smoke/figures/toy/fig2.png"
        assert link.startswith("..")
        assert (Path("a summary") / unquote(link)).resolve() == file.resolve()
    assert "<script" not in shown.replace("\\<", "")


def test_a_damaged_picture_is_one_line(trees, capsys):
    Path("results/smoke/figures/toy/fig1.png").write_bytes(b"x")
    stem = layout.figure_stem("smoke", "toy", "fig1").as_posix()
    code, text = compare(capsys, "../b/results", "results")
    assert code == 2
    assert text.startswith("results/smoke/figures/toy/fig1.png: is not the file its manifest")
    again(stem, png=b"x")
    code, text = compare(capsys, "../b/results", "results")
    assert code == 2
    assert text.startswith("toy/fig1: its picture is no png file (")


def test_a_result_whose_manifest_is_damaged_is_told(trees, capsys):
    audit_tree.edited(Path("results/smoke/figures/toy/fig1.manifest.json"), started="never")
    code, text = compare(capsys, "../b/results", "results")
    assert code == 1
    assert "note: 1 result of results left out, such as results/smoke/figures/toy/fig1: " in text
    assert "figure toy/fig1 (smoke scale): only in ../b/results" in text


def test_a_results_tree_that_is_named_in_two_ways_is_one_line(trees, capsys):
    assert compare(capsys, "results", "./results")[1].endswith("are the same folder; name two\n")


def test_pictures_with_and_without_a_channel_are_read(tmp_path):
    for name, pixels_of in (("a", GREY), ("b", np.dstack([GREY, np.ones((20, 30))]))):
        image.imsave(tmp_path / f"{name}.png", pixels_of)
    a, b = ((tmp_path / f"{name}.png").read_bytes() for name in "ab")
    assert pixels.difference(a, b, "a figure") == ""
    with pytest.raises(UserError, match="no png file"):
        pixels.difference(a, b"", "a figure")
