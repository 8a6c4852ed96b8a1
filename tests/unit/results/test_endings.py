"""Members that diverged, or had nothing to train: the manifest, the log and every reader say so."""

import signal

import numpy as np
import pandas as pd
import pytest

from grokatlas import registry
from grokatlas.claims import divergence
from grokatlas.code import code_digest
from grokatlas.declare import signatures
from grokatlas.results import endings, files, layout
from grokatlas.rules import train
from grokatlas.rules.jobs import savepoint
from grokatlas.runs import progress
from tests import cases
from tests.runs import job_file

SPEC = cases.data(__file__)["spec"]
RUN = layout.run_folder("0123456789ab")
DIVERGED = {"1": 6, "2": 2}


pytestmark = pytest.mark.usefixtures("here")


def _trained(spec=SPEC):
    file = job_file(layout.spec_path("run", RUN), "run", spec, inputs=["results/data/none"])
    train.execute(file, RUN, "cpu", 1, 300)
    return files.read_sealed(layout.manifest_of("run", RUN))


def test_a_member_diverged_from_the_step_after_its_last_finite_row():
    place = np.array([0, 1, 2, 3] * 4)
    step = np.repeat([0, 5, 10, 15], 4)
    finite = np.array([[1, 1, 0, 1], [1, 0, 0, 0], [1, 0, 0, 1], [1, 0, 0, 1]], bool).ravel()
    assert endings.diverged(place, step, finite) == {1: 5, 2: 0}
    assert endings.diverged(place[::-1], step[::-1], finite[::-1]) == {1: 5, 2: 0}
    assert endings.diverged(place, step, np.ones(16, bool)) == {}


def test_a_ratio_and_a_norm_say_nothing_of_divergence():
    columns = ["member", "gradient_ratio", "l2_norm", "train_loss", "noisy_accuracy.1"]
    entries = [{"name": "gradient_ratio"}, {"name": "losses"}, {"name": "noisy_accuracy"}]
    declared, _ = signatures.logged(entries)
    assert endings.watched(columns, declared) == ["train_loss", "noisy_accuracy.1"]


def test_manifest_log_and_status_of_a_run_name_members_that_diverged(capsys):
    manifest = _trained()
    assert manifest["diverged"] == DIVERGED
    said = progress.finished(manifest)
    assert said.endswith("; 2 of 3 members diverged (the first at step 2)")
    *lines, first, second = capsys.readouterr().err.splitlines()
    (progress_line,) = (line for line in lines if "step 30/30" in line)
    assert progress_line.endswith(" s left, 2 of 3 members not finite")
    assert first == (
        "run 0123456789ab: member 1 (optimizer.lr 1e+30, seed 0) diverged: what it logs is not "
        "finite from step 6 on"
    )
    assert second.startswith("run 0123456789ab: member 2 (optimizer.lr 1e+80, seed 0) diverged: ")


def test_a_manifest_of_version_0_2_names_members_that_were_stopped():
    manifest = {"members": 3, "diverged": DIVERGED, "stopped": {"1": 6}}
    assert endings.summary(manifest) == (
        "2 of 3 members diverged (the first at step 2), "
        "1 of 3 members stopped by the watch (the first at step 6)"
    )


def test_a_run_without_divergence_says_nothing(capsys):
    manifest = _trained(SPEC | {"ensemble": {"optimizer.lr": [0.1], "seed": [0]}})
    assert not {"diverged", "untrained"} & manifest.keys()
    assert endings.summary(manifest) == ""
    assert "member" not in capsys.readouterr().err


def test_a_run_that_goes_on_says_the_same(monkeypatch):
    after = savepoint.Savepoint.after

    def stop(record, step, saved):
        record._asked = signal.SIGTERM if step >= 15 else 0
        after(record, step, saved)

    with monkeypatch.context() as stopped:
        stopped.setattr(savepoint.Savepoint, "after", stop)
        with pytest.raises(savepoint.InterruptedRunError):
            _trained()
    manifest = _trained()
    assert len(manifest["segments"]) == 2
    assert manifest["diverged"] == DIVERGED


def test_a_member_that_had_nothing_to_train_is_named(capsys):
    spec = SPEC | {"ensemble": {"model.init": [[1.0, 1.0], [-1.0, 1.0]], "seed": [0]}}
    spec |= {"model": {"name": "linear", "negative_slope": 1.0}}
    spec |= {"optimizer": {"name": "gd", "lr": 0.1}}
    spec["train"] = SPEC["train"] | {"stop": {"train_loss": {"below": 1e-3}}}
    assert _trained(spec)["untrained"] == {"0": 0}
    assert capsys.readouterr().err.splitlines()[-1] == (
        "run 0123456789ab: member 0 (model.init [1.0, 1.0], seed 0) has reached its levels of "
        "train.stop at step 0: it was not trained"
    )


def test_a_log_names_ten_members_and_counts_the_rest():
    spec = {"ensemble": {"seed": list(range(30))}}
    manifest = {"spec": spec, "members": 30, "diverged": {str(k): 7 for k in range(25)}}
    told = list(endings.lines("a", manifest))
    assert len(told) == 11
    assert told[-1] == "run a: and so for 15 other members"
    assert endings.summary(manifest) == "25 of 30 members diverged (the first at step 7)"


def test_a_claim_does_not_read_members_that_diverged():
    _trained()
    history = files.read_parquet(layout.outputs("run", RUN)[0])
    table = history.assign(record="history", run="a", seed=history["member"])
    other = pd.DataFrame({"record": "m", "run": ["a"] * 3 + ["b"], "member": [0, 1, 2, 1]})
    # an accuracy that another run logs, and this one does not
    table = pd.concat([table, other]).assign(test_accuracy=np.nan)
    assert divergence.note([table]) == "2 of 3 members diverged"
    left = divergence.without(table)
    assert left[["run", "member"]].drop_duplicates().to_numpy().tolist() == [["a", 0], ["b", 1]]
    assert divergence.note([left]) == ""


def test_what_a_log_says_is_no_code_of_a_run():
    assert "grokatlas.results.endings" not in code_digest.code(code_digest.run_modules(SPEC))


def test_the_columns_that_tables_watch_are_those_that_observables_say_have_a_direction():
    """But for the times of two phases, finite whatever a member does, and parameters."""
    for name in registry.names("observables"):
        declared, _ = signatures.logged([{"name": name}])
        for column, direction in declared.items():
            watched = divergence.WATCHED.fullmatch(column.replace("*", "0")) is not None
            known = column.endswith("_time") or column.startswith("parameters")
            assert known or watched == (direction is not None), column
