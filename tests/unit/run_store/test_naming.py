"""Which folder is the store, and what `grokatlas store ls` tells of it."""

import os
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.run_store import store as run_store
from tests.unit.run_store.checkouts import spoil


def test_the_list_tells_what_each_run_is_and_when_it_was_used(shared, capsys):
    os.utime(shared.place(shared.runs[1]), (0, 10**9))
    spoil(shared.place(shared.runs[0]) / "spec.json")
    assert cli.main(["store", "ls", "--store", str(shared.root)]) == 0
    head, first, second, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["run", "digest", "code", "for", "size", "made", "on", "used"]
    run = shared.runs[1]
    assert second.split()[:2] == [run.target.name, run.digest[:12]]
    assert second.split()[-3:] == ["2026-01-01", "node1", "2001-09-09"]
    assert first.split()[2] == "damaged"
    assert last.startswith("2 runs, 1 data set, ")


def test_the_list_of_an_empty_store_says_so(here, capsys):
    assert cli.main(["store", "ls", "--store", str(here)]) == 0
    assert capsys.readouterr().out == f"0 runs, 0 data sets, 0 B in {here}\n"


@pytest.mark.parametrize(
    ("variable", "options", "words"),
    [
        ("", [], "none is named; give --store DIR"),
        ("nowhere", [], "GROKATLAS_RUN_STORE: no folder nowhere; make it"),
        ("", ["--store", "nowhere"], "run store: no folder nowhere; make it"),
    ],
)
def test_no_store_is_one_line(here, monkeypatch, capsys, variable, options, words):
    monkeypatch.setenv(run_store.VARIABLE, variable)
    assert cli.main(["store", "ls", *options]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line


def test_the_configuration_names_the_store_and_wins(here, monkeypatch, capsys):
    for name in ("one", "two", "config/papers"):
        Path(name).mkdir(parents=True)
    monkeypatch.setenv(run_store.VARIABLE, "one")
    monkeypatch.setattr("grokatlas.plan.declared_jobs.jobs", lambda: None)
    for setting, found in (("null", "one"), ("two", "two")):
        Path("config/config.yaml").write_text(f"run_store: {setting}\n")
        assert cli.main(["store", "ls"]) == 0
        assert capsys.readouterr().out.endswith(f"0 B in {found}\n")
    Path("config/config.yaml").write_text("run_store: ~nobody_at_all/store\n")
    assert cli.main(["store", "ls"]) == 1
    assert "no folder ~nobody_at_all/store; make it" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", [["gc", "--stale"], ["gc", "--keep", "1G"], ["ls"], ["add", "x"]]
)
@pytest.mark.parametrize("name", ["/", "checkout", "results", "runs-of-mine"])
def test_a_folder_of_something_else_is_no_store(here, capsys, command, name):
    for folder in ("checkout/src", "results/runs/0123456789ab", "runs-of-mine/runs/first"):
        Path(folder).mkdir(parents=True)
    old = Path(name if name != "/" else ".", ".put-1.part")
    old.mkdir()
    os.utime(old, (0, 0))
    assert cli.main(["store", *command, "--store", name]) == 1
    text = capsys.readouterr().err
    assert text.startswith(f"run store: {name} holds other folders ")
    assert text.count("\n") == 1
    assert old.exists()


def test_an_empty_folder_and_files_beside_are_a_store(shared, tmp_path, capsys):
    (tmp_path / "new").mkdir()
    assert cli.main(["store", "ls", "--store", str(tmp_path / "new")]) == 0
    (shared.root / "README").write_text("of the lab\n")
    (shared.root / "lost+found").mkdir()
    (shared.root / run_store.DAMAGED).mkdir(exist_ok=True)
    (shared.root / run_store.DAMAGED / f"{shared.place(shared.runs[0]).name}-1").mkdir()
    assert cli.main(["store", "ls", "--store", str(shared.root)]) == 0
    assert "2 runs" in capsys.readouterr().out
