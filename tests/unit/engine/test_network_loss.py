"""Logits and loss in float64, all else in float32: ``train.loss_dtype``."""

import copy
import math

import numpy as np
import pytest
import torch

from grokatlas.components.dynamics import gradient_training
from grokatlas.components.losses import binary_cross_entropy, cross_entropy
from grokatlas.components.optimizers import gd
from grokatlas.engine.network_loss import network_loss
from grokatlas.engine.run import Run
from tests.runs import begun, trained
from tests.unit.engine.test_run import SPEC

MARGIN = 20.0  # of a memorised point: its loss is 2e-9, below the 6e-8 that float32 resolves at 1
LOGITS = {"logits": torch.tensor([[MARGIN, 0.0]])}
LABELS = torch.tensor([0])
NONE = torch.empty(0)


def _spec(name: str = "cross_entropy", **train: str) -> dict:
    return {"loss": {"name": name}, "train": {"dtype": "float32"} | train}


def _logits(params, inputs):
    return params["logits"]


def _run(**train: object) -> dict:
    spec = copy.deepcopy(SPEC) | {"ensemble": {"optimizer.lr": [0.03], "seed": [0]}}
    spec["train"] |= {"dtype": "float32", "steps": 20, "snapshots": [20]} | train
    del spec["train"]["stop"]
    return spec


def test_the_loss_of_a_memorised_point_is_not_rounded_to_zero():
    loss, exact = cross_entropy.build(), math.log1p(math.exp(-MARGIN))
    single = network_loss(loss, _spec())
    double = network_loss(loss, _spec(loss_dtype="float64"))
    assert single(LOGITS, _logits, NONE, LABELS) == 0
    value = double(LOGITS, _logits, NONE, LABELS)
    assert value.dtype == torch.float64
    assert value.item() == pytest.approx(exact, rel=1e-6)
    pulled = torch.func.grad(single)(LOGITS, _logits, NONE, LABELS)["logits"]
    assert pulled[0, 0] == 0  # the point no longer moves its own logit
    pulled = torch.func.grad(double)(LOGITS, _logits, NONE, LABELS)["logits"]
    assert pulled.dtype == torch.float32
    np.testing.assert_allclose(pulled, [[-exact, exact]], rtol=1e-6)


def test_labels_of_one_output_meet_it_in_float64():
    loss = network_loss(binary_cross_entropy.build(), _spec(loss_dtype="float64"))
    value = loss({"logits": torch.tensor([[MARGIN]])}, _logits, NONE, torch.tensor([1]))
    assert value.item() == pytest.approx(math.log1p(math.exp(-MARGIN)), rel=1e-15)


def test_a_loss_in_another_precision_ends_the_run_before_it_trains(monkeypatch):
    build = cross_entropy.build
    monkeypatch.setattr(
        cross_entropy, "build", lambda: lambda outputs, labels: build()(outputs.float(), labels)
    )
    wrong = r"train\.loss_dtype: loss cross_entropy is torch\.float32 for outputs in float64; rem"
    moved = []
    monkeypatch.setattr(Run, "move", lambda self, steps: moved.append(steps))
    with pytest.raises(ValueError, match=wrong):
        trained(_run(loss_dtype="float64"))
    assert not moved


def test_penalties_see_the_network_in_its_own_precision():
    seen = []

    def penalty(params, model, inputs):
        value = model(params, inputs).sum()
        seen.append(value.dtype)
        return value

    loss = network_loss(cross_entropy.build(), _spec(loss_dtype="float64"))
    dynamics = gradient_training.build(_logits, loss, gd.build(lr=1.0), [penalty], [], [], [], None)
    state = dynamics.update(dynamics.init(LOGITS), (NONE, LABELS))
    assert set(seen) == {torch.float32}
    pulled = torch.func.grad(loss)(LOGITS, _logits, NONE, LABELS)["logits"]
    assert torch.equal(state["params"]["logits"], LOGITS["logits"] - (pulled + 1))


def test_losses_are_logged_in_float64_and_all_else_in_float32():
    double, single = trained(_run(loss_dtype="float64")), trained(_run())
    for column, values in double.history.items():
        if column not in ("member", "step"):
            expected = np.float64 if column.endswith("_loss") else np.float32
            assert values.dtype == expected, column
            assert single.history[column].dtype == np.float32
    assert {values.dtype for values in double.snapshots.values()} == {np.dtype("float32")}
    first = double.history["train_loss"][0]
    assert first != np.float32(first)
    assert first == pytest.approx(single.history["train_loss"][0], rel=1e-6)


def test_what_is_logged_is_what_is_trained_on():
    """The change of the loss over one small step is its own gradient, far below float32's 6e-8."""
    spec = _run(loss_dtype="float64", steps=1, log={"every": 1, "first": 0}, batch_size=None)
    del spec["train"]["batch_size"], spec["train"]["shuffle"], spec["penalties"]
    spec |= {"optimizer": {"name": "gd"}, "observables": [{"name": "losses"}]}
    spec["ensemble"] = {"optimizer.lr": [1e-3], "seed": [0]}
    run = begun(spec)
    before = run.observe(run.parameters(), 0)["train_loss"][0]
    start = {key: value.double() for key, value in run.parameters().items()}
    run.move(1)
    after = run.observe(run.parameters(), 1)["train_loss"][0]
    moved = sum((v.double() - start[k]).square().sum().item() for k, v in run.parameters().items())
    assert before - after == pytest.approx(moved / 1e-3, rel=0.01)


def test_a_whole_run_in_float64_is_the_same_with_the_key_and_without():
    """The cast changes nothing where there is nothing to cast; declaring it is refused."""
    both = (trained(_run(dtype="float64", **key)) for key in ({}, {"loss_dtype": "float64"}))
    first, second = (each.history for each in both)
    assert all(np.array_equal(first[key], second[key]) for key in first)
