"""Steps that are recorded and replayed give the bytes of steps one by one; no GPU is needed."""

import copy
import itertools

import numpy as np
import pytest
import torch

from grokatlas.engine import capture, noise, training
from grokatlas.engine.record import Record
from grokatlas.engine.run import Run
from tests.pretended_graphs import Pretended
from tests.runs import addition, data_of, mlp, schedule
from tests.tiers import every

CPU = torch.device("cpu")
TASK = addition(7, "summed", train_fraction=0.5)
SPEC = {
    "task": TASK,
    "model": mlp(8),
    "loss": {"name": "cross_entropy"},
    "optimizer": {"name": "adam", "lr": 1e-2, "beta1": 0.9, "beta2": 0.98, "eps": 1e-8},
    "dynamics": {"name": "gradient_training"},
    "observables": [{"name": "losses"}, {"name": "accuracies"}],
    "train": schedule(207, every=25, snapshots=[100, 207], first=3, dtype="float32"),
    "ensemble": {"optimizer.lr": [1e-2, 3e-2], "seed": [0, 1]},
}
NOISE = {"name": "jacobian", "form": "norm", "projections": 1, "weight": 1e-2}
SCALED = {"name": "accuracy_scaled_noise", "high": 0.5, "low": 0.1}


def _spec(*, train=None, **blocks):
    spec = copy.deepcopy(SPEC) | blocks
    spec["train"] |= train or {}
    return spec


CASES = {
    "full_batch": _spec(),
    "one_rate": _spec(ensemble={"seed": [0, 1, 2]}),
    "own_data": _spec(task=TASK | {"split_seed": "member"}),
    "batches": _spec(train={"batch_size": 8, "shuffle": True}),  # three, so every size is one
    "uneven_batches": _spec(train={"batch_size": 7, "shuffle": True}),  # 24 samples: 7, 7, 7, 3
    "batches_in_order": _spec(train={"batch_size": 7, "shuffle": False}),
    "own_data_in_batches": _spec(
        task=TASK | {"split_seed": "member"}, train={"batch_size": 7, "shuffle": True}
    ),
    "noise": _spec(penalties=[NOISE]),
    "noise_and_batches": _spec(penalties=[NOISE], train={"batch_size": 7, "shuffle": True}),
    "epochs": _spec(inputs=[SCALED], train={"batch_size": 7, "shuffle": True}),
    "epochs_of_one_step": _spec(inputs=[SCALED]),
    "updates": _spec(
        updates=[
            {"name": "schedule", "steps": [0, 9], "factors": [0.1, 1.0], "between": "linear"},
            {"name": "weight_decay", "rate": 1e-3, "parameters": ["*"], "towards": "initial"},
        ]
    ),
    "window": _spec(gradients=[{"name": "grokfast_ma", "window": 3, "lamb": 1.0}]),
}


@pytest.fixture
def pretended(monkeypatch):
    """Every run records its steps, by a recorder that the test sees."""
    made = Pretended()
    monkeypatch.setattr(capture, "recorder", lambda device: made)
    return made


def _trained(spec, record=None):
    record = training.train(spec, data_of(spec), CPU, record)
    return record.history, record.snapshots


def _plainly(spec, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(capture, "recorder", lambda device: None)
        return _trained(spec)


def _equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert one.keys() == other.keys()
        for key, values in one.items():
            np.testing.assert_array_equal(values, other[key], err_msg=key)


@pytest.mark.parametrize("case", every(4, CASES))
def test_replayed_steps_give_the_bytes_of_steps_one_by_one(case, pretended, monkeypatch):
    expected = _plainly(CASES[case], monkeypatch)
    assert not pretended.recorded
    _equal(_trained(CASES[case]), expected)
    assert pretended.recorded
    assert pretended.replayed > 15


@pytest.mark.parametrize("case", every(1, ["noise", "noise_and_batches", "epochs"]))
def test_a_recorded_step_that_draws_its_own_noise_gives_the_same_bytes(
    case, pretended, monkeypatch
):
    expected = _plainly(CASES[case], monkeypatch)
    monkeypatch.setattr(noise, "source", noise.InStep)
    _equal(_trained(CASES[case]), expected)
    assert pretended.replayed > 15


@pytest.mark.parametrize("case", every(2, ["full_batch", "noise_and_batches"], first=1))
def test_members_that_stop_leave_the_others_to_be_recorded_anew(case, pretended, monkeypatch):
    spec = copy.deepcopy(CASES[case])
    rows = _plainly(spec, monkeypatch)[0]
    losses = rows["train_loss"].reshape(-1, 4)
    early = losses[: len(losses) * 2 // 3]
    level = float(np.sort(early.min(axis=0))[1]) + 1e-6  # two of four members reach it by then
    spec["train"]["stop"] = {"train_loss": {"below": level}}
    expected = _plainly(spec, monkeypatch)
    assert 0 < len(expected[0]["step"]) < len(rows["step"])
    _equal(_trained(spec), expected)
    assert pretended.recorded >= 4  # a step and a chunk, before and after


RESUMED = ("full_batch", "noise_and_batches", "epochs", "window")


class _Killed(Record):
    """A record that keeps the state of a step, and another that begins there."""

    def __init__(self, at=None, state=None):
        super().__init__()
        self.at, self.state = at, state

    def restored(self):
        return self.state

    def after(self, step, saved):
        if self.at is not None and step >= self.at and self.state is None:
            self.state = copy.deepcopy(saved())


@pytest.mark.parametrize(("at", "case"), every(8, itertools.product([1, 31, 133], RESUMED)))
@pytest.mark.usefixtures("pretended")
def test_a_run_that_goes_on_from_a_saved_state_gives_the_same_bytes(at, case):
    first = _Killed(at)
    whole, snapshots = _trained(CASES[case], first)
    rest, again = _trained(CASES[case], _Killed(state=first.state))
    count = len(rest["step"])
    assert 0 < count < len(whole["step"])
    _equal(
        (rest, again), ({k: v[-count:] for k, v in whole.items()}, snapshots_of(again, snapshots))
    )


def snapshots_of(some, snapshots):
    return {key: snapshots[key] for key in some}


def _moved(spec, stretches):
    run = Run(spec, data_of(spec), CPU)
    for steps in stretches:
        run.move(steps)
    return run.saved()


@pytest.mark.parametrize("stretches", every(2, [[1] * 60, [60], [7, 23, 30], [33, 1, 26]], first=1))
@pytest.mark.usefixtures("pretended")
def test_a_state_does_not_depend_on_how_a_stretch_is_cut(stretches):
    spec = CASES["noise_and_batches"]
    expected, found = _moved(spec, [10] * 6), _moved(spec, stretches)
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


def test_chunks_are_replayed_at_once_and_the_rest_step_by_step(pretended):
    run = Run(CASES["one_rate"], data_of(CASES["one_rate"]), CPU)
    assert len(run.groups) == 1
    run.move(1 + capture.WARM)
    assert (pretended.recorded, pretended.replayed) == (0, 0)
    run.move(3 * capture.CHUNK + 2)
    assert (pretended.recorded, pretended.replayed) == (2, 3 + 2)
    assert run.groups[0].how == "captured"


def test_fewer_steps_wait_where_their_batches_are_large(pretended, monkeypatch):
    spec = CASES["noise_and_batches"]
    expected = _moved(spec, [40])
    replayed = pretended.replayed
    monkeypatch.setattr(capture, "WAITING", 1)
    torch.testing.assert_close(_moved(spec, [40]), expected, rtol=0, atol=0)
    assert pretended.replayed - replayed == 40 - 1 - 2 * capture.WARM


def test_what_cannot_be_recorded_is_computed_one_by_one(pretended, monkeypatch):
    pretended.refuses = True
    expected = _plainly(CASES["noise_and_batches"], monkeypatch)
    _equal(_trained(CASES["noise_and_batches"]), expected)
    run = Run(CASES["full_batch"], data_of(CASES["full_batch"]), CPU)
    run.move(30)
    assert run.groups[0].how == ("one by one: operation not permitted when stream is capturing")


def test_a_step_that_waits_for_the_host_is_never_recorded(pretended, monkeypatch):
    monkeypatch.setattr(capture, "WAITS", ("_log_softmax.default",))
    run = Run(CASES["full_batch"], data_of(CASES["full_batch"]), CPU)
    run.move(30)
    assert pretended.recorded == 0
    assert run.groups[0].how == "one by one: aten._log_softmax.default waits for the host"


def test_one_switch_turns_recording_off(monkeypatch):
    made = []
    monkeypatch.setattr(capture, "CudaRecorder", lambda device: made.append(device) or Pretended())
    gpu = torch.device("cuda")
    assert capture.recorder(CPU) is None
    assert isinstance(capture.recorder(gpu), Pretended)
    monkeypatch.setenv("GROKATLAS_CAPTURE", "0")
    assert capture.recorder(gpu) is None
    assert made == [gpu]


def test_tensors_that_change_places_are_written_over_in_the_right_order():
    state = {"a": torch.tensor([1.0]), "b": {"c": torch.tensor([2.0]), "d": torch.tensor([3.0])}}
    kept = [state["a"], state["b"]["c"], state["b"]["d"]]
    following = {"b": {"d": state["a"], "c": state["b"]["c"]}, "a": state["b"]["d"]}
    capture.overwrite(state, following)
    assert [float(tensor) for tensor in kept] == [3.0, 2.0, 1.0]
