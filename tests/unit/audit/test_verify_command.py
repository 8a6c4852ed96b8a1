"""`grokatlas verify`: what it is asked about, what it prints, its receipt and its exit code."""

import json
import os
from pathlib import Path

from grokatlas import cli
from grokatlas.audit import report
from grokatlas.audit.tree import Tree
from grokatlas.audit.verify import verify
from grokatlas.results import hashing
from tests import cases
from tests.unit import audit_tree
from tests.unit.audit.judging import judge, of_kind, wrong


def test_the_command_prints_one_line_for_each_problem_and_exits_1(jobs, capsys):
    assert cli.main(["verify"]) == 0
    assert "ok" in capsys.readouterr().out
    figure = of_kind(jobs, "figure")
    figure.outputs[0].write_bytes(b"x")
    figure.outputs[2].unlink()
    assert cli.main(["verify"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"missing     {figure.outputs[2].as_posix()}: ")
    assert lines[1].startswith(f"modified    {figure.outputs[0].as_posix()}: ")
    total = len([f for f in Path("results").rglob("*") if f.is_file()]) + 1
    assert lines[-1] == f"{total} files: {total - 2} ok, 1 modified, 1 missing"


def test_the_receipt_names_every_file(jobs, tmp_path, capsys):
    file = of_kind(jobs, "table").outputs[0]
    file.write_bytes(b"x")
    out = tmp_path / "receipt.json"
    assert cli.main(["verify", "--json", str(out)]) == 1
    content = json.loads(out.read_text())
    assert content["passed"] is False
    assert content["tool"].startswith("grokatlas ")
    assert content["counts"]["modified"] == 1
    assert content["files"][file.as_posix()]["verdict"] == "modified"
    assert content["files"][file.as_posix()]["sha256"] == hashing.file_sha256(file)
    assert set(content["files"]) == set(judge(jobs, plan=False).findings)
    assert {"time", "git", "notes"} <= content.keys()
    capsys.readouterr()
    assert cli.main(["verify", "--json", "-"]) == 1
    assert json.loads(capsys.readouterr().out)["counts"] == content["counts"]


@cases.listed("arguments")
def test_a_mistake_is_one_line(jobs, arguments, capsys):
    Path("empty").mkdir()
    assert cli.main(arguments) == (2 if arguments[0] == "diff" else 1)
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "Traceback" not in error


def test_strict_lists_accepted_results(jobs, capsys):
    figure = of_kind(jobs, "figure")
    note = {"old": "a" * 64, "new": figure.digest, "reason": "renamed a variable"}
    note |= {"who": "Ada", "when": "2026-01-02T00:00:00Z", "code": figure.code, "changed": []}
    audit_tree.edited(figure.manifest, seal=True, accepted=[note])
    assert cli.main(["verify"]) == 0
    assert "1 results accepted" in capsys.readouterr().out
    assert cli.main(["verify", "--strict"]) == 1
    out = capsys.readouterr().out
    assert f"accepted    {figure.target.as_posix()}: renamed a variable (Ada" in out


def test_a_path_chooses_it_and_all_it_was_made_from(jobs):
    one, two = of_kind(jobs, "figure"), of_kind(jobs, "figure", 1)
    two.outputs[0].write_bytes(b"x")
    assert wrong(jobs, "toy/fig1") == {}
    assert wrong(jobs, str(one.outputs[1])) == {}
    assert wrong(jobs, str(two.target)) == {two.outputs[0].as_posix(): "modified"}
    of_kind(jobs, "dataset").outputs[0].write_bytes(b"x")
    assert wrong(jobs, "toy/fig1")[of_kind(jobs, "dataset").outputs[0].as_posix()] == "modified"


def test_a_folder_that_holds_the_tree_chooses_everything(jobs):
    assert set(judge(jobs, ".").findings) == set(judge(jobs).findings)


def test_a_folder_called_otherwise_is_read_as_results(jobs):
    os.rename("results", "elsewhere")  # noqa: PTH104
    found = verify(Tree(Path("elsewhere")), jobs)
    assert found.ok
    assert all(name.startswith("results/") for name in found.findings)
    assert report.passed(found, strict=True)
