"""Members in groups: who shares a group changes no result, nor does how a run is cut."""

import copy

import numpy as np
import pytest
import torch

from grokatlas.engine import history, run
from tests.runs import addition, begun, mlp, schedule, trained
from tests.tiers import every, exhaustive

SPEC = {
    "task": addition(split_seed="member"),
    "model": mlp(12),
    "loss": {"name": "cross_entropy"},
    "optimizer": {"name": "adam", "beta1": 0.9, "beta2": 0.99, "eps": 1e-8},
    "penalties": [{"name": "jacobian", "weight": 0.01, "form": "norm", "projections": 1}],
    "dynamics": {"name": "gradient_training"},
    "observables": [{"name": "losses"}, {"name": "accuracies"}],
    "ensemble": {"optimizer.lr": [0.03, 0.01], "seed": [0, 1, 2]},
    "train": schedule(
        60, every=5, snapshots=[0, 30, 60], batch_size=4, shuffle=True, stop={"train_accuracy": 0.8}
    ),
}


@pytest.mark.parametrize(("bytes_of_a_group", "sizes"), [(1, [1] * 6), (1 << 30, [6])])
def test_a_group_is_as_large_as_its_cache(bytes_of_a_group, sizes, monkeypatch):
    monkeypatch.setattr(run, "CACHE", bytes_of_a_group)
    assert [len(group.indices) for group in begun(SPEC).groups] == sizes


@exhaustive
@pytest.mark.parametrize("split", ["member", 0])
def test_results_do_not_depend_on_the_groups(split, monkeypatch):
    spec = SPEC | {"task": SPEC["task"] | {"split_seed": split}}
    together = trained(spec)
    monkeypatch.setattr(run, "_bytes_written", lambda model, inputs: 100)
    monkeypatch.setattr(run, "CACHE", 250)
    assert [len(group.indices) for group in begun(spec).groups] == [2, 2, 2]
    apart = trained(spec)
    ends = {
        member: together.history["step"][together.history["member"] == member].max()
        for member in range(6)
    }
    assert len(set(ends.values())) > 2
    for key, column in together.history.items():
        np.testing.assert_allclose(apart.history[key], column, rtol=1e-10, err_msg=key)
    for key, value in together.snapshots.items():
        np.testing.assert_allclose(apart.snapshots[key], value, rtol=1e-10, err_msg=key)


def test_a_run_in_groups_goes_on_where_it_was_saved(monkeypatch):
    monkeypatch.setattr(run, "CACHE", 1)
    straight, cut = begun(SPEC), begun(SPEC)
    straight.move(7)
    straight.keep({0, 2, 5})
    straight.move(6)
    cut.move(7)
    cut.keep({0, 2, 5})
    again = begun(SPEC)
    again.restore(copy.deepcopy(cut.saved()))
    again.move(6)
    assert again.indices == straight.indices == [0, 2, 5]
    for key, value in straight.parameters().items():
        assert torch.equal(value, again.parameters()[key])


@pytest.mark.parametrize("cuts", every(3, [[13], [1, 12], [5, 5, 3]], first=2))
def test_how_a_stretch_is_cut_changes_no_number(cuts):
    whole, cut = begun(SPEC), begun(SPEC)
    whole.move(13)
    for steps in cuts:
        cut.move(steps)
    for key, value in whole.parameters().items():
        assert torch.equal(value, cut.parameters()[key])


def test_history_is_handed_on_in_blocks_of_bounded_size(monkeypatch):
    monkeypatch.setattr(history, "ROWS", 10)
    blocks = []
    gathered = history.History(blocks.append)
    for step in range(11):
        gathered.add(step, [0, 1, 3], {"loss": np.array([0.1, 0.2, 0.3]) + step})
    gathered.flush()
    gathered.flush()
    sizes = [len(block["step"]) for block in blocks]
    assert sizes == [9, 9, 9, 6]
    assert np.concatenate([b["step"] for b in blocks]).tolist() == np.repeat(range(11), 3).tolist()
    assert blocks[0]["member"].tolist() == [0, 1, 3] * 3
    assert blocks[-1]["loss"][-1] == 10.3


def test_a_state_of_other_groups_is_refused(monkeypatch):
    monkeypatch.setattr(run, "CACHE", 1)
    saved = begun(SPEC).saved()
    monkeypatch.setattr(run, "CACHE", 1 << 30)
    with pytest.raises(RuntimeError, match="other groups of members"):
        begun(SPEC).restore(saved)


def test_a_loss_sees_the_targets_before_anything_trains():
    xor = {"name": "xor_clusters", "features": 6, "train_points": 8, "test_points": 5}
    spec = SPEC | {"task": xor | {"amplitude": 0.05, "data_seed": 0}}
    with pytest.raises(ValueError, match="needs targets 0 and 1, not -1"):
        begun(spec | {"loss": {"name": "binary_cross_entropy"}})
