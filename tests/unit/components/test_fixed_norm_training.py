"""Training at a fixed norm, against a loop of torch's optimizer that rescales by hand."""

import numpy as np
import pytest
import torch

from grokatlas.engine import dataset, training
from tests.runs import addition, mlp, schedule

RATE = 0.01
TASK = addition()
SPEC = {
    "task": TASK,
    "model": mlp(12),
    "loss": {"name": "mse", "reduction": "mean", "half": False},
    "optimizer": {"name": "adam", "lr": RATE, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8},
    "dynamics": {"name": "fixed_norm_training"},
    "observables": [{"name": "losses"}, {"name": "norms", "orders": ["l2"]}],
    "ensemble": {"dynamics.relative_norm": [0.3, 1.0, 4.0], "seed": [0, 1]},
    "train": schedule(40, snapshots=[0, 40]),
}
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def data():
    return dataset.make([TASK])


@pytest.fixture(scope="module")
def drawn(data):
    """Initial parameters of both seeds, as `gradient_training` starts from them."""
    spec = SPEC | {"dynamics": {"name": "gradient_training"}, "ensemble": {"seed": [0, 1]}}
    spec["train"] = SPEC["train"] | {"steps": 1, "snapshots": [0]}
    return _parameters(training.train(spec, data, CPU), 0)


def _parameters(result, step):
    prefix = f"{step:010d}/"
    found = result.snapshots.items()
    return {k.removeprefix(prefix): v for k, v in found if k.startswith(prefix)}


def _norm(params):
    return np.sqrt(sum(np.square(value).sum() for value in params.values()))


def _by_hand(data, params, relative_norm, steps):
    """Torch's Adam on a network of torch, all parameters rescaled to their norm after each step."""
    inputs, width = params["layers.0.weight"].shape[1], params["layers.0.weight"].shape[0]
    first, last = torch.nn.Linear(inputs, width), torch.nn.Linear(width, data.outputs)
    network = torch.nn.Sequential(torch.nn.Flatten(), first, torch.nn.ReLU(), last).double()
    names = ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"]
    for name, value in zip(names, network.parameters(), strict=True):
        value.data = relative_norm * torch.from_numpy(params[name])
    norm = torch.nn.utils.parameters_to_vector(network.parameters()).norm()
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    x = torch.from_numpy(data.train_inputs)
    y = torch.nn.functional.one_hot(torch.from_numpy(data.train_targets)).double()
    for _ in range(steps):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(network(x), y).backward()
        optimizer.step()
        moved = torch.nn.utils.parameters_to_vector(network.parameters()).norm()
        for value in network.parameters():
            value.data *= norm / moved
    return {k: v.detach().numpy() for k, v in zip(names, network.parameters(), strict=True)}


def test_every_member_follows_the_loop_written_by_hand(data, drawn):
    found = _parameters(training.train(SPEC, data, CPU), SPEC["train"]["steps"])
    member = 0
    for relative_norm in SPEC["ensemble"]["dynamics.relative_norm"]:
        for seed in range(2):
            start = {key: value[seed] for key, value in drawn.items()}
            expected = _by_hand(data, start, relative_norm, SPEC["train"]["steps"])
            for key, value in expected.items():
                np.testing.assert_allclose(found[key][member], value, rtol=1e-9, atol=1e-11)
            member += 1


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-13), ("float32", 1e-6)])
def test_each_member_keeps_its_share_of_its_own_initial_norm(data, drawn, dtype, tolerance):
    result = training.train(SPEC | {"train": SPEC["train"] | {"dtype": dtype}}, data, CPU)
    own = [_norm({key: value[seed] for key, value in drawn.items()}) for seed in range(2)]
    assert own[0] != pytest.approx(own[1], rel=1e-3)
    expected = np.outer(SPEC["ensemble"]["dynamics.relative_norm"], own).reshape(-1)
    norms = result.history["l2_norm"].reshape(-1, len(expected))
    assert len(norms) == SPEC["train"]["steps"] + 1
    np.testing.assert_allclose(norms, np.broadcast_to(expected, norms.shape), rtol=tolerance)
    losses = result.history["train_loss"].reshape(norms.shape)
    assert (losses[-1] < losses[0]).all()
