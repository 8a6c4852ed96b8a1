import signal
from pathlib import Path

import pandas as pd
import pytest

from grokatlas import cli
from grokatlas.code import code_digest
from grokatlas.engine import members
from grokatlas.errors import UserError
from grokatlas.results import files as store
from grokatlas.results import hashing, layout
from grokatlas.rules import atlas, claims, measure, table, train
from grokatlas.rules import dataset as dataset_rule
from grokatlas.rules.finished_run import FinishedRun
from grokatlas.rules.jobs import savepoint
from tests.runs import addition, job_file, schedule

SPEC = {
    "task": addition(5, "tokens", train_fraction=0.5, split_seed="member"),
    "model": {
        "name": "bilinear_encoder",
        "embedding": "shared",
        "composition": "sum",
        "side": 2,
        "width": 8,
        "bias": True,
    },
    "loss": {"name": "cross_entropy"},
    "optimizer": {"name": "adam", "lr": 0.01, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8},
    "dynamics": {"name": "gradient_training"},
    "observables": [{"name": "losses"}, {"name": "accuracies"}],
    "ensemble": {"seed": [0, 1]},
    "train": schedule(30, every=3, snapshots=[0, 30], dtype="float32", batch_size=5, shuffle=True),
}
DATA = "results/data/0123456789ab"
RUN = layout.run_folder("0123456789ab")


def _job_file(folder, kind, spec, inputs=()):
    modules = code_digest.dataset_modules(SPEC) if kind == "dataset" else ()
    return job_file(layout.spec_path(kind, folder), kind, spec, modules, inputs)


def _made_data(name="0123456789ab"):
    data = layout.data_folder(name)
    dataset_rule.execute(_job_file(data, "dataset", {"tasks": members.tasks(SPEC)}), data)
    return data


def _train(folder, inputs=()):
    train.execute(_job_file(folder, "run", SPEC, inputs), folder, "cpu", 1, 300)
    history, snapshots = layout.outputs("run", folder)
    return store.read_parquet(history), store.read_arrays(snapshots)[0]


@pytest.mark.usefixtures("here")
def test_a_run_needs_its_spec_alone():
    data = _made_data()
    history, snapshots = _train(RUN, [DATA])
    alone, kept = _train(layout.run_folder("aaaaaaaaaaaa"), ["results/data/absent"])
    pd.testing.assert_frame_equal(history, alone, check_exact=True)
    assert {k: v.tobytes() for k, v in snapshots.items()} == {
        k: v.tobytes() for k, v in kept.items()
    }
    manifest = store.read_json(RUN / "manifest.json")
    file = data / layout.DATA
    assert manifest["inputs"] == {str(file): hashing.file_sha256(file)}


@pytest.mark.usefixtures("here")
def test_a_run_names_its_data_also_where_their_record_alone_is_here():
    data = _made_data()
    file = data / layout.DATA
    recorded = hashing.file_sha256(file)
    file.unlink()  # as after `grokatlas restore`
    _train(RUN, [DATA])
    assert store.read_json(RUN / "manifest.json")["inputs"] == {str(file): recorded}
    file.unlink()
    train.execute(layout.spec_path("run", RUN), RUN, "cpu", 1, 300)  # it is finished
    assert not file.exists()


@pytest.mark.usefixtures("here")
def test_the_manifest_of_a_run_vouches_for_all_its_files():
    _train(RUN)
    manifest = store.read_json(RUN / "manifest.json")
    assert manifest["outputs"] == {
        file.name: hashing.file_sha256(file) for file in layout.outputs("run", RUN)
    }
    assert manifest["device"] == {"type": "cpu", "threads": 1}
    assert manifest["members"] == 2
    assert manifest["seeds"] == [0, 1]
    (segment,) = manifest["segments"]
    assert (segment["start_step"], segment["end_step"]) == (0, 30)
    assert {"host", "job"} <= set(segment)
    assert manifest["train_seconds"] > 0
    assert manifest["spec"] == SPEC


@pytest.mark.usefixtures("here")
def test_a_changed_data_set_is_refused():
    data = _made_data()
    file = data / layout.DATA
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    with pytest.raises(UserError, match="is not the file its manifest records"):
        _train(RUN, [DATA])
    assert not (RUN / "manifest.json").exists()


@pytest.mark.usefixtures("here")
def test_a_data_set_of_another_plan_is_refused():
    data = layout.data_folder("0123456789ab")
    job = store.read_json(_job_file(data, "dataset", {"tasks": members.tasks(SPEC)}))
    older = store.sealed({key: job[key] for key in job if key != "seal"} | {"digest": "older"})
    store.write_json(layout.spec_path("dataset", data), older)
    dataset_rule.execute(layout.spec_path("dataset", data), data)
    with pytest.raises(UserError, match="is another data set than the run was planned with; run"):
        _train(RUN, [DATA])
    assert not (RUN / layout.STATE).exists()


@pytest.mark.usefixtures("here")
def test_a_measure_reads_the_run():
    _train(RUN)
    data = _made_data()
    block = {"name": "fourier_features", "parameter": "embedding.0"}
    stem = layout.measure_stem("0123456789ab", "fourier_features-1")
    job = _job_file(stem, "measure", {"measure": block}, [str(RUN), str(data)])
    measure.execute(job, stem)
    (file,) = layout.outputs("measure", stem)
    assert sorted(store.read_parquet(file)["member"].unique()) == [0, 1]


def _table(light):
    cell = {"case": "", "run": RUN.name, "measures": [], "light": light}
    spec = {"experiment": "toys", "paper": "atlas", "scale": "smoke", "cells": [cell]}
    stem = layout.table_stem("smoke", "atlas", "toys")
    table.execute(_job_file(stem, "table", spec, [str(RUN)]), stem)
    return store.read_parquet(layout.outputs("table", stem)[0]).set_index("record")


@pytest.mark.usefixtures("here")
def test_a_table_computes_the_light_measures_of_its_runs():
    history, _ = _train(RUN)
    times = {"name": "grokking_times", "train_accuracy": 0.0, "test_accuracy": 1.0}
    table = _table([times, {"name": "cost"}])
    assert len(table.loc["history"]) == len(history)
    assert table.loc["grokking_times", "t1"].tolist() == [0, 0]
    assert table.loc["cost", "members"].tolist() == [2, 2]
    assert (table.loc["cost", "optimizer.lr"] == 0.01).all()


@pytest.mark.usefixtures("here")
def test_a_changed_run_is_refused_by_its_table():
    _train(RUN)
    file = RUN / layout.HISTORY
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    with pytest.raises(UserError, match="is not the file its manifest records"):
        _table([])


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("block", "what"),
    [
        ({"name": "fourier_features", "parameter": "embedding.0"}, "snapshots"),
        ({"name": "predictor_curve"}, "data"),
    ],
)
def test_a_measure_that_is_not_light_is_refused_by_the_table(block, what):
    _train(RUN)
    with pytest.raises(UserError, match=rf"of run {RUN.name} failed: {what}: a light measure"):
        _table([block])


def test_a_run_record_sorts_snapshots_by_step(here):
    _train(RUN)
    record = FinishedRun(RUN, here / DATA)
    assert list(record.snapshots) == [0, 30]
    assert set(record.snapshots[30]) >= {"hidden.weight", "embedding.0"}
    assert record.spec == SPEC
    assert record.history["step"].max() == 30


def test_a_run_whose_job_file_lies_elsewhere_takes_it_along(here):
    job = _job_file(RUN, "run", SPEC)
    train.execute(job, here / "away", "cpu", 1, 300)
    assert (here / "away/spec.json").read_bytes() == job.read_bytes()


def _entries(root):
    return sorted(path.relative_to(root).as_posix() for path in root.glob("*/*"))


def test_a_finished_run_is_put_into_the_run_store_with_its_data(here, monkeypatch):
    root = here / "store"
    root.mkdir()
    monkeypatch.setenv("GROKATLAS_RUN_STORE", str(root))
    spec = {"tasks": members.tasks(SPEC)}
    data, run = (hashing.of(content)[:12] for content in (spec, SPEC))
    folder = _made_data(data)
    _train(layout.run_folder(run), [str(folder)])
    known = train.run_digests(SPEC, {}).today
    sha256 = hashing.file_sha256(folder / layout.DATA)
    assert _entries(root) == [f"data/{data}-{sha256[:12]}", f"runs/{run}-{known[:12]}"]


@pytest.mark.parametrize("trouble", ["not there", "not writable"])
def test_a_run_store_that_takes_nothing_costs_a_warning(here, monkeypatch, capsys, trouble):
    root = here / "store"
    if trouble == "not writable":
        root.mkdir()
        (root / "runs").write_text("a file where a folder should be")
    monkeypatch.setenv("GROKATLAS_RUN_STORE", str(root))
    _train(RUN)
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("warning: not put into the run store: ")
    assert "no folder" in last or "cannot be written" in last
    assert not (RUN / ".state").exists()


def test_a_job_planned_with_other_code_is_refused(tmp_path):
    job = {
        "kind": "run",
        "digest": "0",
        "spec": {},
        "code": {"grokatlas.engine.training": "0" * 64},
    }
    file = tmp_path / "spec.json"
    store.write_json(file, store.sealed({**job, "inputs": []}))
    with pytest.raises(
        UserError, match=r"code changed since it was planned \(.*grokatlas\.engine\.training"
    ):
        train.execute(file, tmp_path, "cpu", 1, 300)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["spec.json"]


def test_data_are_not_made_by_other_code_than_planned(here, monkeypatch):
    file = _job_file(RUN, "run", SPEC)
    code = code_digest.code
    other = {"grokatlas.components.tasks.modular_addition": "0" * 64}

    def edited(modules):
        return code(modules) | other if modules else {}

    monkeypatch.setattr(code_digest, "code", edited)
    with pytest.raises(UserError, match=r"other data .*\(task modular_addition\); run `snakemake`"):
        train.execute(file, RUN, "cpu", 1, 300)
    assert not (RUN / "manifest.json").exists()


def test_a_state_of_another_kind_of_device_is_left_for_it(here, monkeypatch):
    file = _job_file(RUN, "run", SPEC)
    after = savepoint.Savepoint.after

    def stop(record, step, saved):
        record._asked = signal.SIGTERM if step >= 15 else 0
        after(record, step, saved)

    monkeypatch.setattr(savepoint.Savepoint, "after", stop)
    with pytest.raises(savepoint.InterruptedRunError):
        train.execute(file, RUN, "cpu", 1, 300)
    state = RUN / layout.STATE / savepoint.STATE
    content = store.read_sealed(state)
    del content["seal"]
    store.write_json(state, store.sealed(content | {"device": "cuda"}))
    with pytest.raises(UserError, match="saved on cuda, this is cpu; go on there, or remove"):
        train.execute(file, RUN, "cpu", 1, 300)
    assert store.read_sealed(state)["device"] == "cuda"


def test_the_last_part_of_a_run_ends_where_its_last_member_stopped(here):
    spec = {**SPEC, "train": {**SPEC["train"], "stop": {"train_loss": {"below": 1.5}}}}
    train.execute(_job_file(RUN, "run", spec), RUN, "cpu", 1, 300)
    (segment,) = store.read_json(RUN / "manifest.json")["segments"]
    last = store.read_parquet(layout.outputs("run", RUN)[0])["step"].max()
    assert 0 < segment["end_step"] == last < 30


@pytest.mark.parametrize("command", ["dataset", "train", "measure", "table", "figure", "claims"])
@pytest.mark.usefixtures("here")
def test_a_job_file_of_another_kind_is_refused_in_one_line(command, capsys):
    job = _job_file(layout.claims_stem("smoke"), "atlas", {"scale": "smoke"})
    assert cli.main([command, str(job)]) == 1
    kind = "run" if command == "train" else command
    problem = f"is a job file of kind 'atlas'; give a job file of kind {kind!r}"
    assert capsys.readouterr().err == f"{job}: {problem}\n"


def test_a_file_that_is_no_json_is_not_to_be_removed(here, capsys):
    (here / "README.md").write_text("# Mine")
    assert cli.main(["train", "README.md", "--out", "out"]) == 1
    assert capsys.readouterr().err.startswith("README.md: is no job file: these end in .json; give")


@pytest.mark.parametrize("options", [[], ["--partial"]])
@pytest.mark.usefixtures("here")
def test_the_atlas_needs_its_own_job_file(options, capsys):
    job = _job_file(layout.claims_stem("smoke"), "claims", {"scale": "smoke"})
    assert cli.main(["atlas", str(job), *options]) == 1
    assert "is a job file of kind 'claims'; give" in capsys.readouterr().err


def test_components_that_do_not_fit_together_are_one_line(here):
    spec = {**SPEC, "task": {**SPEC["task"], "encoding": "one_hot"}}
    with pytest.raises(UserError, match="training failed: bilinear_encoder needs pairs of tokens"):
        train.execute(_job_file(RUN, "run", spec), RUN, "cpu", 1, 300)
    mlp = {"name": "mlp", "width": 4, "hidden_layers": 1, "bias": True, "init_scale": 1.0}
    mlp |= {"init_law": "normal_fan_in", "output_scale": 1.0}
    with pytest.raises(UserError, match=r"training failed: .*GROKATLAS_TRACEBACK=1") as caught:
        train.execute(_job_file(RUN, "run", {**SPEC, "model": mlp}), RUN, "cpu", 1, 300)
    assert "\n" not in str(caught.value)


def test_a_figure_may_be_called_claims(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stems = ["results/smoke/claims", "results/smoke/figures/toy/claims"]
    job = job_file(Path("results/smoke/atlas/spec.json"), "atlas", {"scale": "smoke"}, (), stems)
    judged, shown = [], []
    monkeypatch.setattr(claims, "execute", lambda _, stem, partial: judged.append(stem))
    monkeypatch.setattr(atlas, "execute", lambda *given, **_: shown.append(given))
    store.write_json(layout.manifest_of("atlas", layout.target_of(job)), {})
    atlas.from_what_is_there(job)
    assert judged == [Path(stems[0])]
    assert len(shown) == 1
