"""A run that starts from a snapshot of another, and what moves of it."""

import copy

import numpy as np
import pytest
import torch

from grokatlas.engine import members, start
from grokatlas.engine.run import Run
from tests.runs import addition, data_of, mlp, schedule, trained

SGD = {"name": "sgd", "lr": 0.1, "momentum": 0.9, "weight_decay": 0.1, "nesterov": False}
ADAM = {"name": "adam", "beta1": 0.9, "beta2": 0.99, "eps": 1e-8}
SPEC = {
    "task": addition(5),
    "model": mlp(6),
    "loss": {"name": "cross_entropy"},
    "optimizer": ADAM | {"lr": 0.01},
    "dynamics": {"name": "gradient_training"},
    "observables": [{"name": "losses"}, {"name": "accuracies"}],
    "ensemble": {"seed": [4, 0, 7]},
    "train": schedule(12, snapshots=[0, 6, 12]),
}


def with_train(spec=SPEC, **train):
    spec = copy.deepcopy(spec)
    spec["train"] |= train
    return spec


def child_of(optimizer, spec=SPEC, **changes):
    child = with_train(spec, steps=6, snapshots=[0, 6]) | changes
    child["train"].pop("optimizer_states", None)
    return child | {"start": {"runs": ["any"], "step": 6, "optimizer": optimizer}}


def snapshot(record, step=6):
    before = f"{step:010d}/"
    found = record.snapshots.items()
    return {key.removeprefix(before): array for key, array in found if key.startswith(before)}


def started(child, *parents, step=6):
    """A child, trained from the snapshots of parents of these specs."""
    made = [(spec, snapshot(trained(spec), step)) for spec in parents]
    return trained(child, start=start.gathered(child, made))


def same(first, second):
    return first.keys() == second.keys() and all(
        np.array_equal(value, second[key]) for key, value in first.items()
    )


KEEPS = with_train(optimizer_states=[6])


@pytest.mark.parametrize("name", ["adam", "sgd"])
def test_with_the_optimizers_state_two_halves_are_a_whole(name):
    spec = SPEC | {"optimizer": SPEC["optimizer"] if name == "adam" else SGD}
    found = started(child_of("kept", spec), with_train(spec, optimizer_states=[6]))
    assert same(snapshot(found), snapshot(trained(spec), 12))
    fresh = started(child_of("fresh", spec), spec)
    assert same(snapshot(fresh, 0), snapshot(trained(spec)))
    assert not same(snapshot(fresh), snapshot(trained(spec), 12))


def test_a_child_logs_its_own_steps_from_the_values_of_its_parent():
    found, whole = started(child_of("kept"), KEEPS).history, trained(SPEC).history
    assert sorted({*found["step"]}) == [*range(7)]
    assert np.array_equal(found["train_loss"], whole["train_loss"][whole["step"] >= 6])


def test_batches_of_a_child_are_those_of_its_own_steps():
    small = {"batch_size": 4, "shuffle": True}
    found = started(child_of("kept", with_train(**small)), with_train(KEEPS, **small))
    drawn = Run(child_of("kept", with_train(**small)), data_of(SPEC), torch.device("cpu"))
    alone = Run(with_train(**small), data_of(SPEC), torch.device("cpu"))
    for _ in range(9):
        both = [run.groups[0].batches.next()[0] for run in (drawn, alone)]
        assert torch.equal(*both)
    assert not same(snapshot(found), snapshot(trained(with_train(**small)), 12))


def test_the_state_is_beside_the_snapshots_that_ask_for_it_and_nothing_else_changes():
    plain, asked = trained(SPEC), trained(KEEPS)
    more = asked.snapshots.keys() - plain.snapshots.keys()
    assert {key.partition(":")[0] for key in more} == {"0000000006/optimizer"}
    assert same({k: v for k, v in asked.snapshots.items() if k not in more}, plain.snapshots)
    assert same(asked.history, plain.history)


def test_a_stopped_member_is_gone_on_with_from_its_own_last_step():
    free = trained(SPEC).history
    losses = free["train_loss"].reshape(-1, 3)
    bound = float(np.sort(losses[3])[1])  # two members are below it by step 3
    stops = with_train(KEEPS, stop={"train_loss": {"below": bound}}, optimizer_states=[12])
    history = trained(stops).history
    ends = [int(history["step"][history["member"] == k].max()) for k in range(3)]
    assert len({*ends}) > 1
    assert min(ends) < 6
    child = child_of("kept")
    found = started(child, stops, step=12).history
    for member, end in enumerate(ends):
        own = found["train_loss"][found["member"] == member]
        left = min(6, 12 - end)
        np.testing.assert_allclose(
            own[: left + 1], losses[end : end + left + 1, member], rtol=1e-12
        )


def test_members_are_found_by_their_axes():
    rates = {"optimizer.lr": [0.01, 0.03], "seed": [0, 4]}
    parent = SPEC | {"ensemble": rates, "optimizer": ADAM}
    split = [parent | {"ensemble": {**rates, "seed": [seed]}} for seed in (4, 0)]
    child = child_of("fresh", parent) | {"ensemble": {"optimizer.lr": [0.03], "seed": [0, 4]}}
    whole, parts = started(child, parent), started(child, *split)
    assert same(whole.snapshots, parts.snapshots)
    there = snapshot(trained(parent))["layers.0.weight"]
    assert np.array_equal(snapshot(whole, 0)["layers.0.weight"], there[[2, 3]])
    assert members.origins(child, [parent]) == [[(0, 2)], [(0, 3)]]
    assert members.origins(child, split) == [[(1, 1)], [(0, 1)]]
    broad = child | {"ensemble": {"optimizer.lr": [0.03, 0.5], "seed": [4]}}
    lacks = SPEC | {"ensemble": {"seed": [4, 0]}}
    assert members.origins(broad, [lacks]) == [[(0, 0)], [(0, 0)]]
    assert members.origins(lacks, [parent]) == [[(0, 1), (0, 3)], [(0, 0), (0, 2)]]
    assert members.origins(SPEC, [lacks])[2] == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": mlp(7)}, r"layers\.0\.weight is \[7, 10\] of float64 here, and \[6, 10\] of"),
        ({"model": mlp(6, bias=False)}, "this run has no parameter layers.0.bias, and the parent"),
        ({"model": mlp(6, 2)}, r"the parent has no parameter layers\.2\.bias, and this run"),
    ],
)
def test_another_model_is_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        started(child_of("fresh") | changes, SPEC)


def test_another_precision_is_refused():
    with pytest.raises(ValueError, match=r"of float32 here, and .* of float64 in the parent"):
        started(with_train(child_of("fresh"), dtype="float32"), SPEC)


def test_a_run_that_is_given_no_snapshot_is_refused():
    with pytest.raises(ValueError, match="starts from another's snapshot, and none is given"):
        trained(child_of("fresh"))


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_what_does_not_move_keeps_its_bits(optimizer):
    decays = {"name": "adamw", "lr": 0.1, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8}
    decays |= {"weight_decay": 1.0, "decay": "decoupled"}
    blocks = {"optimizer": decays if optimizer == "adamw" else SGD}
    blocks |= {"penalties": [{"name": "l2", "squared": True, "weight": 0.1}]}
    record = trained(with_train(SPEC | blocks, only=["layers.1.*"], optimizer_states=[6]))
    before, after = snapshot(record, 0), snapshot(record, 12)
    for key, value in before.items():
        assert np.array_equal(value, after[key]) == key.startswith("layers.0.")
    state = [key for key in snapshot(record) if "layers" in key and key.startswith("optimizer:")]
    assert state
    assert all(":layers.1." in key for key in state)


def test_a_frozen_part_is_as_if_it_were_a_constant():
    """By hand: gradient descent of the last layer alone."""
    spec = SPEC | {"optimizer": {"name": "gd", "lr": 0.1}}
    found = snapshot(trained(with_train(spec, steps=1, snapshots=[0, 1], only=["*1.bias"])), 1)
    whole = snapshot(trained(with_train(spec, steps=1, snapshots=[0, 1])), 1)
    first = snapshot(trained(with_train(spec, steps=1, snapshots=[0, 1])), 0)
    assert np.array_equal(found["layers.1.bias"], whole["layers.1.bias"])
    assert np.array_equal(found["layers.1.weight"], first["layers.1.weight"])


def test_what_moves_may_go_on_with_a_part_of_the_state_and_not_with_more():
    part = with_train(child_of("kept"), only=["layers.1.*"])
    assert not same(snapshot(started(part, KEEPS)), snapshot(started(child_of("kept"), KEEPS)))
    words = r"has no state optimizer:first:layers\.0\.weight, as its train\.only may say"
    with pytest.raises(ValueError, match=words):
        started(child_of("kept"), with_train(KEEPS, only=["layers.1.*"]))


def test_an_unknown_parameter_is_refused_where_the_model_is_built():
    words = r"no parameter 'layer\.1\.weight'; did you mean 'layers\.1\.weight'\? allowed: layers"
    with pytest.raises(ValueError, match=words):
        Run(with_train(only=["layer.1.weight"]), data_of(SPEC), torch.device("cpu"))
