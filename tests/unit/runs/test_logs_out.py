"""Logs go out as others read them, and come in again."""

import dataclasses
import json

import pandas as pd
import pytest

from grokatlas.errors import UserError
from grokatlas.results import files, layout
from grokatlas.rules.foreign import log_reader
from grokatlas.runs import logs_out
from grokatlas.runs.run import RunEntry

SPEC = {
    "observables": [{"name": "accuracies"}, {"name": "losses"}],
    "ensemble": {"optimizer.lr": [0.1, 0.2], "seed": [4]},
}
HISTORY = pd.DataFrame(
    {
        "member": [0, 0, 1, 1],
        "train_loss": [2.5, 1.25, 2.0, 0.1],
        "step": [0, 10, 0, 10],
        "test_accuracy": [0.1, 0.2, 0.3, 1.0],
    }
)


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "results" / "runs" / "0123456789ab"
    history, _ = layout.outputs("run", folder)
    files.write_parquet(history, HISTORY)
    from grokatlas.results import hashing

    manifest = {"kind": "run", "outputs": {history.name: hashing.file_sha256(history)}}
    files.write_json(layout.manifest_of("run", folder), files.sealed(manifest))
    return RunEntry("0123456789ab", "up to date", spec=SPEC, places={"results": folder})


def test_a_csv_a_member_comes_in_as_it_went_out(run, tmp_path):
    said = logs_out.write([(run, [0, 1])], tmp_path / "out", None)
    assert said == f"2 members written to {tmp_path / 'out'}"
    names = sorted(file.name for file in (tmp_path / "out").iterdir())
    assert names == ["0123456789ab-0.csv", "0123456789ab-1.csv", "datapackage.json"]
    assert (tmp_path / "out" / names[1]).read_text().splitlines()[0].startswith("step,")
    members, file = (
        [{"number": 0}, {"number": 1}],
        str(tmp_path / "out" / "0123456789ab-{number}.csv"),
    )
    back = log_reader.history({"format": "csv"}, file, members, {"number": [0, 1]})
    pd.testing.assert_frame_equal(back[[*HISTORY]], HISTORY)


def test_a_dictionary_of_other_files_is_not_replaced(run, tmp_path):
    logs_out.write([(run, [0])], tmp_path, None)
    logs_out.write([(run, [1])], tmp_path, None)
    own = '{"name": "rivers"}'
    (tmp_path / "datapackage.json").write_text(own)
    with pytest.raises(UserError, match=r"datapackage\.json: describes other files than logs"):
        logs_out.write([(run, [0])], tmp_path, None)
    assert (tmp_path / "datapackage.json").read_text() == own


def test_columns_have_a_dictionary_beside_them(run, tmp_path):
    logs_out.write([(run, [1])], tmp_path / "out", None)
    (resource,) = json.loads((tmp_path / "out" / "datapackage.json").read_text())["resources"]
    assert resource["path"] == "0123456789ab-1.csv"
    assert resource["member"] == {"optimizer.lr": 0.2, "seed": 4}
    fields = {field["name"]: field for field in resource["schema"]["fields"]}
    assert list(fields) == ["step", "train_loss", "test_accuracy"]
    assert fields["step"] == {**logs_out.STEP}
    assert fields["test_accuracy"]["unit"] == "share"
    assert fields["train_loss"]["description"].startswith("losses: ")
    assert fields["train_loss"]["type"] == "number"


def test_event_files_come_in_as_they_went_out(run, tmp_path):
    pytest.importorskip("tensorboard")
    logs_out.write([(run, [0, 1])], None, tmp_path / "events")
    file = str(tmp_path / "events" / "0123456789ab-{number}")
    columns = {"step": "step", "train_loss": "train_loss", "test_accuracy": "test_accuracy"}
    block = {"format": "tensorboard", "columns": columns}
    members = [{"number": 0}, {"number": 1}]
    back = log_reader.history(block, file, members, {"number": [0, 1]})
    pd.testing.assert_frame_equal(back[[*HISTORY]], HISTORY, rtol=1e-7)
    with pytest.raises(UserError, match="is there already"):
        logs_out.write([(run, [0])], None, tmp_path / "events")


def test_a_run_whose_history_is_not_here_is_left_out(run, tmp_path):
    (tmp_path / "results" / "runs" / "0123456789ab" / "history.parquet").unlink()
    assert logs_out.write([(run, [0])], tmp_path / "out", None).startswith("0 members")
    assert not (tmp_path / "out").exists()


def test_two_versions_of_a_run_are_not_written_over_each_other(run, tmp_path):
    with pytest.raises(UserError, match=r"^run 0123456789ab: is listed in 2 versions"):
        logs_out.write([(run, [0]), (run, [0])], tmp_path / "out", None)
    assert not (tmp_path / "out").exists()


def test_an_observable_of_another_checkout_has_no_description(run, tmp_path):
    observables = [{"name": "of_a_study"}, {"name": "losses"}]
    run = dataclasses.replace(run, spec=SPEC | {"observables": observables})
    logs_out.write([(run, [1])], tmp_path / "out", None)
    (resource,) = json.loads((tmp_path / "out" / "datapackage.json").read_text())["resources"]
    fields = {field["name"]: field for field in resource["schema"]["fields"]}
    assert "losses" in fields["train_loss"]["description"]
    assert "description" not in fields["test_accuracy"]
