"""Logs of other hands become a history, or one line that says why not."""

import json

import pytest

from grokatlas.errors import UserError
from grokatlas.results import foreign, hashing
from grokatlas.rules.foreign import log_reader

ROWS = [(0, 0.5, 0.1), (10, 1.0, 0.2), (20, 1.0, 0.9)]
COLUMNS = {"step": "step", "train_acc": "train_accuracy", "test_acc": "test_accuracy"}


def csv(path, rows=ROWS, head="step,train_acc,test_acc"):
    lines = [head, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(file, members=({"seed": 0},), axes=None, **block):
    axes = axes or {axis: [m[axis] for m in members] for axis in members[0]}
    block = {"format": "csv", "columns": COLUMNS} | block
    return log_reader.history(block, str(file), list(members), axes)


def refused(words, *given, **keywords):
    with pytest.raises(UserError) as error:
        read(*given, **keywords)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_members_are_found_by_the_name_of_their_file(tmp_path):
    for seed in (3, 7):
        csv(tmp_path / f"s{seed}.csv", [(s, a, b / seed) for s, a, b in ROWS])
    made = read(tmp_path / "s{seed}.csv", [{"seed": 3}, {"seed": 7}])
    assert list(made) == ["member", "step", "train_accuracy", "test_accuracy"]
    assert made["member"].tolist() == [0, 0, 0, 1, 1, 1]
    assert made["step"].tolist() == [0, 10, 20] * 2
    assert made["test_accuracy"].iloc[-1] == pytest.approx(0.9 / 7)


def test_members_are_found_by_a_column(tmp_path):
    rows = [(seed, *row) for seed in (1, 0) for row in ROWS]
    csv(tmp_path / "all.csv", rows, "run,step,train_acc,test_acc")
    columns = COLUMNS | {"run": "seed"}
    made = read(tmp_path / "all.csv", [{"seed": 0}, {"seed": 1}], columns=columns)
    assert made["member"].tolist() == [0, 0, 0, 1, 1, 1]
    refused("has seed 1, which ensemble lacks", tmp_path / "all.csv", columns=columns)
    members = [{"seed": s} for s in (0, 1, 2)]
    refused("no row of the member with seed 2", tmp_path / "all.csv", members, columns=columns)


def test_members_are_found_by_the_name_of_a_column(tmp_path):
    csv(tmp_path / "wide.csv", [(0, 0.1, 0.2), (5, 0.3, 0.4)], "Step,run0 - acc,run1 - acc")
    columns = {"Step": "step", "run{seed} - acc": "test_accuracy"}
    made = read(tmp_path / "wide.csv", [{"seed": 0}, {"seed": 1}], columns=columns)
    assert made["test_accuracy"].tolist() == [0.1, 0.3, 0.2, 0.4]


def test_without_columns_every_number_keeps_its_name(tmp_path):
    csv(tmp_path / "a.csv", [(0, 0.5, "x"), (1, 0.6, "y")], "step,loss,note")
    made = log_reader.history({"format": "csv"}, str(tmp_path / "a.csv"), [{"seed": 0}], {})
    assert list(made) == ["member", "step", "loss"]
    csv(tmp_path / "b.csv", [(0, 0.5)], "epoch,loss")
    unnamed("no column is called step", tmp_path / "b.csv")


def unnamed(words, file, members=({"seed": 0},), **block):
    """Assert that a log is refused where `columns` does not name its columns."""
    with pytest.raises(UserError) as error:
        log_reader.history({"format": "csv"} | block, str(file), list(members), {})
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_without_columns_no_number_is_left_out(tmp_path):
    file = tmp_path / "a.csv"
    csv(file, [(0, 0.3, 0.2), (20, 0.1, "inf!")], "step,train_loss,test_loss")
    unnamed('test_loss at step 20 is "inf!", not a finite number; end the log before it', file)
    csv(file, [(0, "NaN"), (20, "NaN")], "step,train_loss")
    unnamed('train_loss at step 0 is "NaN"', file)
    (tmp_path / "a.jsonl").write_text('{"step": 0, "loss": "0.5", "tags": ["a"], "done": true}')
    block = {"format": "jsonl"}
    made = log_reader.history(block, str(tmp_path / "a.jsonl"), [{"seed": 0}], {})
    assert made.to_dict("list") == {"member": [0], "step": [0], "loss": [0.5]}


def test_without_columns_members_have_the_same(tmp_path):
    csv(tmp_path / "0.csv", head="step,train_loss,test_loss")
    csv(tmp_path / "1.csv", [row[:2] for row in ROWS], head="step,train_loss")
    words = "1.csv (seed 1): test_loss is a column of some members alone"
    for seeds in ((0, 1), (1, 0)):
        members = [{"seed": seed} for seed in seeds]
        unnamed(words.replace("1", str(seeds[1])), tmp_path / "{seed}.csv", members)


def test_without_columns_names_are_checked_too(tmp_path):
    file = tmp_path / "a.csv"
    csv(file, ROWS, "step,loss,member")
    unnamed("member is a column of its table already; name what you need in `columns`", file)
    csv(file, ROWS, "step,loss,seed")
    unnamed("seed is a column of its table already", file)
    csv(file, ROWS, "step,loss,l2_norm")
    unnamed("factors: no column 'stpe'; did you mean 'step'?", file, factors={"stpe": 50})


def test_rows_are_chosen_by_a_value(tmp_path):
    rows = [(kind, *row) for kind in ("adam", "muon") for row in ROWS]
    csv(tmp_path / "a.csv", rows, "opt,step,train_acc,test_acc")
    assert len(read(tmp_path / "a.csv", where={"opt": "muon"})) == 3
    refused('no row has opt "sgd"; it has "adam", "muon"', tmp_path / "a.csv", where={"opt": "sgd"})
    refused("step 0 comes after step 20", tmp_path / "a.csv")


def test_objects_that_are_no_step_are_left_out_of_jsonl(tmp_path):
    logged = [dict(zip(("step", "train_acc", "test_acc"), row, strict=True)) for row in ROWS]
    lines = [{"_meta": {"lr": 1}}, *logged, {"_summary": {}}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert len(read(tmp_path / "a.jsonl", format="jsonl")) == 3
    (tmp_path / "b.jsonl").write_text("{not json")
    refused("cannot be read as jsonl", tmp_path / "b.jsonl", format="jsonl")


def test_columns_of_jsonl_may_have_an_axis_in_their_names(tmp_path):
    rows = [{"run3/step": step, "run3/acc": acc} for step, acc, _ in ROWS]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, [{"lr": 1}, *rows])))
    columns = {"run{seed}/step": "step", "run{seed}/acc": "test_accuracy"}
    made = read(tmp_path / "a.jsonl", [{"seed": 3}], format="jsonl", columns=columns)
    assert made["test_accuracy"].tolist() == [0.5, 1.0, 1.0]


def test_a_line_of_jsonl_ends_at_a_line_feed_alone(tmp_path):
    row = {"step": 0, "loss": 1.0, "note": "a\u2028b\x85c"}
    text = json.dumps(row, ensure_ascii=False) + "\r\n"
    (tmp_path / "a.jsonl").write_text(text, encoding="utf-8", newline="")
    columns = {"step": "step", "loss": "loss"}
    assert len(read(tmp_path / "a.jsonl", format="jsonl", columns=columns)) == 1


def test_wandb_logs_columns_at_steps_of_their_own(tmp_path):
    rows = [(0, 0.5, ""), (1, 0.6, 0.1), (2, "", 0.2), (3, 0.7, 0.3)]
    csv(tmp_path / "a.csv", rows)
    assert read(tmp_path / "a.csv", format="wandb")["step"].tolist() == [1, 3]
    refused("train_accuracy at step 2 is NaN", tmp_path / "a.csv")
    for bad in ("NaN", "inf"):
        csv(tmp_path / "a.csv", [*rows, (4, bad, ""), (5, 0.8, 0.4)])
        words = "train_accuracy at step 4 is"
        refused(words, tmp_path / "a.csv", format="wandb")
    csv(tmp_path / "b.csv", rows[:1])
    refused("no step has all of", tmp_path / "b.csv", format="wandb")


def test_event_files_of_tensorboard(tmp_path):
    pytest.importorskip("tensorboard")
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path / "s0")) as writer:
        for step, train, test in ROWS:
            writer.add_scalar("train_acc", train, step)
            writer.add_scalar("test_acc", test, step)
    made = read(tmp_path / "s{seed}", format="tensorboard")
    assert made["step"].tolist() == [0, 10, 20]
    assert made["test_accuracy"].tolist() == pytest.approx([0.1, 0.2, 0.9])


def test_a_value_of_an_event_file_is_finite(tmp_path):
    pytest.importorskip("tensorboard")
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path)) as writer:
        for step, loss in enumerate((1.0, float("nan"), 0.5)):
            writer.add_scalar("train_loss", loss, step)
            writer.add_scalar("l2_norm", step, step)
    words = 'train_loss at step 1 is "nan", not a finite number'
    loss, norm = ({"step": "step", name: name} for name in ("train_loss", "l2_norm"))
    refused(words, tmp_path, format="tensorboard", columns=loss)
    assert len(read(tmp_path, format="tensorboard", columns=norm)) == 3
    with pytest.raises(UserError, match=words):
        log_reader.history({"format": "tensorboard"}, str(tmp_path), [{"seed": 0}], {})


def test_without_tensorboard_the_error_names_the_extra(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "tensorboard.backend.event_processing", None)
    refused("pip install 'grokatlas[tensorboard]'", tmp_path, format="tensorboard")


def test_what_a_history_cannot_be_is_one_line(tmp_path):
    file = tmp_path / "a.csv"
    refused("no such file", file)
    csv(file, head="step,train_acc,test_accuracy")
    refused("no column 'test_acc'; did you mean 'test_accuracy'?", file)
    csv(file, [(0, 0.5, "nan")])
    refused('test_accuracy at step 0 is "nan", not a finite number', file)
    csv(file, [(0, 0.5, "oops")])
    refused('test_accuracy at step 0 is "oops"', file)
    csv(file, [*ROWS, (20, 1.0, 0.9)])
    refused("step 20 is there twice", file)
    csv(file, ROWS[::-1])
    refused("step 10 comes after step 20", file)
    csv(file, [(0, 50.0, 10.0), (1, 99.0, 20.0)])
    refused("train_accuracy is 50, and an accuracy here is a share from 0 to 1", file)
    percent = {"train_accuracy": 0.01, "test_accuracy": 0.01, "step": 50}
    assert read(file, factors=percent)["step"].tolist() == [0, 50]
    csv(file, [(0.5, 0.5, 0.5)])
    refused("step 0.5 is no whole number", file)


def test_a_damaged_event_file_is_refused_not_read_up_to_the_damage(tmp_path):
    pytest.importorskip("tensorboard")
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path)) as writer:
        for step in range(3):
            writer.add_scalar("train_loss", 1.0, step)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for damaged in (whole[:-5], whole[:-30] + b"?" + whole[-29:]):
        file.write_bytes(damaged)
        refused("is damaged after 3 records", file, format="tensorboard", columns={"step": "step"})
        refused("is damaged after 3 records", tmp_path, format="tensorboard")


def test_steps_are_whole_but_for_the_rounding_of_a_product(tmp_path):
    file, epochs = tmp_path / "a.csv", [0.29, 0.57, 0.58]
    csv(file, [(epoch, 0.5, 0.5) for epoch in epochs])
    assert read(file, factors={"step": 100})["step"].tolist() == [29, 57, 58]
    csv(file, [(0.1 + 0.2 - 0.3, 0.5, 0.5)])
    assert read(file, factors={"step": 100})["step"].tolist() == [0]
    csv(file, [(5e9 + 0.5, 0.5, 0.5)])
    refused("step 5e+09 is no whole number", file)
    csv(file, [(1e30, 0.5, 0.5)])
    refused("step 1e+30 is no whole number", file)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"step": 1, "step": 2}', "cannot be read as jsonl: a line has the key step twice"),
        ('{"step": 1, "loss": true}', "loss at step 1 is true, not a finite number"),
        ('{"step": ' + "[" * 9999 + "]" * 9999 + "}", "cannot be read as jsonl: "),
    ],
)
def test_a_line_that_is_no_log_is_refused(tmp_path, line, problem):
    file, columns = tmp_path / "a.jsonl", {"step": "step", "loss": "loss"}
    file.write_text(f'{{"step": 0, "loss": 0.5}}\n{line}\n')
    refused(problem, file, format="jsonl", columns=columns)


def test_a_line_that_is_no_row_may_be_anything(tmp_path):
    file, columns = tmp_path / "a.jsonl", {"step": "step", "loss": "loss"}
    lines = ['{"config": 1, "config": 2}', '{"step": 0, "loss": 0.5, "more": {"a": 1, "a": 2}}']
    file.write_text("\n".join(lines))
    assert len(read(file, format="jsonl", columns=columns)) == 1


def test_a_table_that_is_none_is_one_line(tmp_path):
    file = tmp_path / "a.csv"
    csv(file, [])
    refused("a.csv: has no row; give a log with a row for each logged step", file)
    unnamed("a.csv: has no row", file)
    csv(file, head="step,train_acc")
    refused("cannot be read as csv: rows have more fields than the title", file)
    csv(file, ROWS, "step,train_acc,train_acc")
    columns = {"step": "step", "train_acc": "train_accuracy"}
    refused("train_acc is the name of two columns", file, columns=columns)
    unnamed("train_acc is the name of two columns", file)
    assert read(file, columns={"step": "step"})["step"].tolist() == [0, 10, 20]
    (tmp_path / "a.jsonl").write_text('{"epoch": 0}')
    unnamed("has no row with any of step", tmp_path / "a.jsonl", format="jsonl")


def test_members_share_their_steps_as_long_as_they_are_logged(tmp_path):
    csv(tmp_path / "0.csv", ROWS)
    csv(tmp_path / "1.csv", ROWS[:2])
    members = [{"seed": 0}, {"seed": 1}]
    assert len(read(tmp_path / "{seed}.csv", members)) == 5
    csv(tmp_path / "1.csv", [ROWS[0], (15, 1.0, 0.2)])
    refused("logged at step 15 where the first member is at 10", tmp_path / "{seed}.csv", members)


def test_the_hash_of_several_files_is_that_of_what_sha256sum_prints(tmp_path):
    files = [tmp_path / name for name in ("b.csv", "a.csv")]
    for file in files:
        file.write_text(file.name)
    alone = {file.name: hashing.file_sha256(file) for file in files}
    printed = "".join(f"{alone[name]}  {name}\n" for name in ("a.csv", "b.csv"))
    (tmp_path / "printed").write_text(printed)
    assert foreign.files_sha256(files, tmp_path) == hashing.file_sha256(tmp_path / "printed")
    assert foreign.files_sha256(files[:1], tmp_path) == alone["b.csv"]


def test_an_event_that_nobody_names_may_be_there_twice(tmp_path):
    pytest.importorskip("tensorboard")
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path)) as writer:
        for step, _, test in ROWS:
            writer.add_scalar("test_acc", test, step)
            writer.add_scalar("epoch", 0, step)
            writer.add_scalar("epoch", 1, step)
    named = {"step": "step", "test_acc": "test_accuracy"}
    assert len(read(tmp_path, format="tensorboard", columns=named)) == 3
    refused(
        "epoch is logged twice at step 0",
        tmp_path,
        format="tensorboard",
        columns=named | {"epoch": "epoch"},
    )
    with pytest.raises(UserError, match="epoch is logged twice at step 0; keep one writer"):
        log_reader.history({"format": "tensorboard"}, str(tmp_path), [{"seed": 0}], {})
