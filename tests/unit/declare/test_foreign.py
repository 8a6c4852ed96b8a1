"""Experiments whose runs the engine does not train: what is declared, and what is refused."""

import re

import pytest

from grokatlas.declare import cells, checks, models
from grokatlas.errors import UserError
from grokatlas.plan.graph import make_plan
from tests.unit.declare.test_cells import BASE, paper

IMPORT = {
    "file": "logs/k{cap}_s{seed}.jsonl",
    "format": "jsonl",
    "sha256": "0" * 64,
    "columns": {"step": "step", "acc": "test_accuracy"},
    "source": "https://example.org/runs",
}
ENSEMBLE = {"cap": ["1", "inf"], "seed": 3}
SCRIPT = {
    "folder": "loop",
    "command": "python train.py --seed {seed} --lr {optimizer.lr}",
    "files": ["*.py"],
    "history": "out.csv",
}
RATES = {"optimizer.lr": [0.1, 0.2], "seed": [4, 5]}


def of(defaults=None, **experiment):
    return cells.resolve("geometry", paper(defaults or {}, theirs=experiment), "theirs", "paper")


def imported(changes=None, ensemble=None, **others):
    return of(**{"import": IMPORT | (changes or {}), "ensemble": ensemble or ENSEMBLE, **others})


def refused(words, make=imported, *given, **keywords):
    with pytest.raises(UserError, match=re.escape(words)) as error:
        make(*given, **keywords)
    assert str(error.value).startswith("papers/geometry/experiments.yaml: theirs")


@pytest.fixture
def loop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / "train.py").write_text("print(1)")
    return tmp_path / "loop"


def scripted(changes=None, **others):
    return of(**{"script": SCRIPT | (changes or {}), "ensemble": RATES, **others})


def test_an_imported_run_has_its_origin_in_its_spec():
    (cell,) = imported()
    assert cell.spec == {"ensemble": {"cap": ["1", "inf"], "seed": [0, 1, 2]}, "import": IMPORT}
    assert len(cell.parts) == 1


def test_what_the_engine_would_need_is_refused():
    refused("theirs.train: the engine does not train it (import)", train={"steps": 3})
    with pytest.raises(UserError, match=r"defaults\.task: the engine does not train it"):
        of(BASE, **{"import": IMPORT, "ensemble": ENSEMBLE})


def test_mistakes_of_an_import_are_told_at_their_place():
    refused("theirs.import.sha256", changes={"sha256": "abc"})
    refused("import.fil: unknown key", changes={"fil": "a.csv"})
    refused(
        "import.file: no axis 'sed' in ensemble; did you mean 'seed'?", changes={"file": "{sed}"}
    )
    refused("ensemble.cap: is neither in file nor columns", changes={"file": "s{seed}.jsonl"})
    refused("import.columns: no column is the step", changes={"columns": {"a": "test_accuracy"}})
    refused("run is a column of every table", changes={"columns": {"step": "step", "a": "run"}})
    twice = {"step": "step", "a": "loss", "b": "loss"}
    refused("loss is the name of two columns", changes={"columns": twice})
    refused("import.factors.los: no column is called so", changes={"factors": {"los": 2.0}})
    refused("import.factors.step: 0 would make every value 0", changes={"factors": {"step": 0.0}})
    refused("import.file", changes={"file": ""})
    refused("a value is listed twice", ensemble={"cap": ["1", "1"], "seed": 3})
    refused("give a list of numbers or words", ensemble={"cap": [[1]], "seed": 3})


def test_only_measures_of_the_history_are_taken_of_a_log():
    measures = [{"name": "grokking_times", "train_accuracy": 0.9, "test_accuracy": 0.9}]
    both = {"columns": IMPORT["columns"] | {"train": "train_accuracy"}}
    (cell,) = imported(both, measures=measures)
    assert cell.measures == measures
    refused("needs data or snapshots, and here is a log alone", measures=[{"name": "operations"}])
    refused("is no sha256: give 64 digits", changes={"sha256": "..."})
    refused("cost reads what the engine records of a run", measures=[{"name": "cost"}])
    loss = {"columns": {"step": "step", "a": "loss"}}
    neither = "reads train_accuracy, test_accuracy, and `columns` has none"
    refused(neither, changes=loss, measures=measures)
    refused("grokking_times reads train_accuracy, and `columns` has none", measures=measures)


def test_a_measure_needs_the_columns_of_its_levels_alone():
    errors = {"columns": {"step": "step", "a": "train_error", "b": "test_error"}}
    levels = {"train_error": 0.1, "test_error": 0.1, "band": 0.05, "last": 3, "run_length": 2}
    (cell,) = imported(errors, measures=[{"name": "recovery_times", **levels}])
    assert cell.measures[0]["name"] == "recovery_times"


def test_a_measure_of_a_log_is_listed_once():
    measures = [
        {"name": "reached_steps", "levels": [level], "column": "test_accuracy"}
        for level in (0.5, 0.9)
    ]
    refused("theirs.measures.1.name: reached_steps is listed twice", measures=measures)


def test_an_import_is_one_run():
    one = "all members of an import are one run, so this says nothing; remove it, or undo it"
    refused(f"theirs.members_per_run: {one}", members_per_run={"seed": 1})
    refused(f"theirs.run_first: {one}", run_first={"seed": 1})


def test_an_import_can_be_swept():
    (one, two) = imported(ensemble={"seed": 3}, sweep={"import.file": ["a{seed}", "b{seed}"]})
    assert [each.spec["import"]["file"] for each in (one, two)] == ["a{seed}", "b{seed}"]


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (
            "> out.csv",
            "> means nothing without a shell; write the log in the script",
        ),
        ("2>&1", "2>&1 means nothing without a shell"),
        ("&& true", "&& means nothing without a shell"),
    ],
)
def test_a_command_is_words_of_one_program(loop, command, problem):
    line = f"{SCRIPT['command']} {command}"
    refused(f"theirs.script.command: {problem}", scripted, {"command": line})


@pytest.mark.parametrize("rest", ["--tag ''", "--sep '|'", "--where '>0.5'", "--then 'a > b'"])
def test_a_quoted_word_of_a_command_may_be_anything(loop, rest):
    assert len(scripted({"command": f"{SCRIPT['command']} {rest}"})) == 1


def test_event_files_may_be_in_the_working_folder_itself(loop):
    assert len(scripted({"history": ".", "format": "tensorboard"})) == 1


@pytest.mark.parametrize("history", ["", ".", "./"])
def test_the_log_of_a_script_is_a_file_or_a_folder_in_its_own(loop, history):
    refused("theirs.script.history: names no file", scripted, {"history": history})


def test_each_member_of_a_script_is_a_run(loop):
    (cell,) = scripted()
    assert [part.label for part in cell.parts][:2] == [
        "optimizer.lr=0.1, seed=4",
        "optimizer.lr=0.1, seed=5",
    ]
    assert len(cell.parts) == 4
    (together,) = scripted(members_per_run={"seed": 2})
    assert len(together.parts) == 1


def test_an_edit_of_a_script_makes_another_run(loop):
    (before,) = scripted()
    (loop / "notes.txt").write_text("not named")
    (same,) = scripted()
    assert same.spec == before.spec
    (loop / "train.py").write_text("print(2)")
    (after,) = scripted()
    assert after.spec["script"]["sources"] != before.spec["script"]["sources"]
    (loop / "uv.lock").write_text("torch 2")
    (locked,) = scripted({"environment": "uv.lock"})
    assert locked.spec["script"]["sources"] != after.spec["script"]["sources"]


def test_mistakes_of_a_script_are_told_at_their_place(loop):
    refused("script.folder: no folder nowhere", scripted, {"folder": "nowhere"})
    refused('script.files: "*.pt" is no file below loop', scripted, {"files": ["*.pt"]})
    refused('script.files: "../*" is no file below loop', scripted, {"files": ["../*"]})
    refused("script.environment", scripted, {"environment": "no.lock"})
    refused("is neither in command nor columns", scripted, {"command": "python train.py {seed}"})
    for outside in ("../old.csv", "/data/old.csv", "a/../../old.csv"):
        place = f'script.history: "{outside}" is outside the script\'s working folder'
        refused(place, scripted, {"history": outside})
    (loop / "old.csv").write_text("step,loss\n0,1\n")
    copied = {"files": ["*.py", "*.csv"], "history": "./old.csv"}
    refused("so that an old log would pass as the result", scripted, copied)
    refused("script.command: is no command", scripted, {"command": "python '{seed} {optimizer.lr}"})


def test_no_run_starts_from_one_that_the_engine_did_not_train():
    child = {"start": {"experiment": "theirs"}, "ensemble": {"seed": 1}}
    theirs = {"import": IMPORT, "ensemble": ENSEMBLE} | dict.fromkeys(BASE)
    with pytest.raises(UserError, match="theirs is not trained by the engine"):
        cells.resolve("geometry", paper(BASE, theirs=theirs, own=child), "own", "paper")


def test_figures_of_such_runs_are_marked(loop):
    experiments = {
        "theirs": {"import": IMPORT, "ensemble": ENSEMBLE},
        "loop": {"script": SCRIPT, "ensemble": RATES},
    }
    declared = paper({}, **experiments)
    for scale in ("smoke", "paper"):
        figures = make_plan({"geometry": declared}, scale).figures.values()
        notes = [job.spec.get("quick_note", "") for job in figures]
        assert any("imported: theirs" in note for note in notes)
        assert any("by a script: loop" in note for note in notes)


def test_a_declared_figure_draws_the_columns_of_a_log():
    def check(column):
        declared = paper({}, theirs={"import": IMPORT, "ensemble": ENSEMBLE})
        draw = {"name": "curves", "columns": [column]}
        figure = models.Figure(experiments=["theirs"], caption="Logs.", draw=draw)
        checks.check({"geometry": declared.model_copy(update={"figures": {"logs": figure}})})

    check("test_accuracy")
    with pytest.raises(UserError, match="no column 'test_acuracy' is logged; did you mean"):
        check("test_acuracy")
