"""Dropout and noise on weights: they act in steps of training, and nowhere else."""

import copy
import re
from pathlib import Path

import pytest
import torch

from grokatlas import registry
from grokatlas.engine import parameter_noise
from grokatlas.engine.network import Network
from grokatlas.engine.noise import standard_normal
from grokatlas.engine.rebuilt import restored
from tests.runs import addition, begun, data_of, finished, mlp, schedule

PAGE = Path(__file__).parents[3] / "docs" / "extending.md"
DOUBLE = torch.float64
TRANSFORMER = {"name": "transformer", "dimension": 6, "heads": 2, "head_dimension": 3, "width": 8}
TRANSFORMER |= {"embedding": "learned", "unembedding": "learned"}
MODELS = {"mlp": mlp(7, 2), "transformer": TRANSFORMER}
TASKS = {"mlp": addition(), "transformer": addition(encoding="tokens_equals")}
SPEC = {
    "loss": {"name": "cross_entropy"},
    "optimizer": {"name": "gd", "lr": 0.1},
    "dynamics": {"name": "gradient_training"},
    "observables": [{"name": "losses"}, {"name": "accuracies"}],
    "ensemble": {"seed": [3, 1]},
    "train": schedule(6, snapshots=[0, 6]),
}


def spec_of(name, **rates):
    return copy.deepcopy(SPEC) | {"task": TASKS[name], "model": MODELS[name] | rates}


def built(name, **rates):
    spec = spec_of(name, **rates)
    build = registry.load("model", name).build
    keywords = registry.keywords(spec["model"])
    return build(data=data_of(spec), generator=torch.Generator().manual_seed(0), **keywords)


def inputs_of(name):
    return torch.from_numpy(data_of(spec_of(name)).train_inputs)


def noise_of(model, inputs, step=0):
    shape = model.noise_shape(tuple(inputs.shape), (len(inputs), 5))
    return standard_normal(torch.tensor([5]), "model", step, shape, DOUBLE)[0]


each_model = pytest.mark.parametrize("name", MODELS)


@each_model
@pytest.mark.parametrize("rates", [{}, {"dropout": None, "weight_noise": None}])
def test_a_model_without_rates_is_that_of_before(name, rates):
    """Neither a buffer nor a method is added: its trace and the ids of its runs stay."""
    model = built(name, **rates)
    assert not hasattr(model, "noise_shape")
    assert not any("dropout" in key or "noise" in key for key in model.state_dict())
    assert begun(spec_of(name, **rates)).groups[0].programs.noise_shapes == {}


@each_model
def test_rates_move_no_draw_of_parameters_and_no_output_without_noise(name):
    plain, noisy = built(name), built(name, dropout=0.5, weight_noise=0.3)
    inputs = inputs_of(name)
    assert list(dict(plain.named_parameters())) == list(dict(noisy.named_parameters()))
    for key, value in plain.named_parameters():
        assert torch.equal(value, noisy.get_parameter(key))
    assert torch.equal(plain(inputs), noisy(inputs))


@each_model
def test_dropout_is_that_of_torch_by_the_same_masks(name, monkeypatch):
    """The MLP's hidden units; of the transformer what each layer adds to the last position."""
    model, inputs = built(name, dropout=0.4), inputs_of(name)
    noise = noise_of(model, inputs)
    stays = noise.view(model.units(len(inputs))) >= torch.special.ndtri(torch.tensor(0.4))
    masks = stays.double() / 0.6
    if name == "mlp":
        hidden = inputs.flatten(1)
        for layer, mask in zip(model.layers, masks, strict=False):
            hidden = torch.relu(layer(hidden)) * mask
        expected = model.layers[-1](hidden)
    else:
        plain, added = built(name), []
        zero = {"mlp_out": torch.zeros(6, 8), "mlp_out_bias": torch.zeros(6)}
        unembedding = {"unembedding": torch.eye(6)}
        last = (model.embed(inputs) + model.position)[:, -1]

        def stream(**changes):
            changes = {key: value.double() for key, value in changes.items()}
            return torch.func.functional_call(plain, changes, (inputs,))

        added.append(stream(**zero, **unembedding) - last)
        middle = last + added[0] * masks[0]
        hidden = torch.relu(middle @ plain.mlp_in.T + plain.mlp_in_bias)
        added.append(hidden @ plain.mlp_out.T + plain.mlp_out_bias)
        expected = (middle + added[1] * masks[1]) @ plain.unembedding
    torch.testing.assert_close(model(inputs, noise), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.9])
def test_the_share_of_dropped_units_is_the_rate(rate):
    model = built("mlp", dropout=rate)
    noise = standard_normal(torch.tensor([5]), "model", 0, (200_000,), DOUBLE)[0]
    dropped = float((noise < model.dropout[0]).double().mean())
    assert dropped == pytest.approx(rate, abs=4 * (rate * (1 - rate) / 200_000) ** 0.5 + 1e-4)
    assert float(model.dropout[1]) == pytest.approx(1 / (1 - rate))


@each_model
def test_dropout_of_rate_0_and_noise_of_deviation_0_change_nothing(name):
    model, inputs = built(name, dropout=0.0, weight_noise=0.0), inputs_of(name)
    torch.testing.assert_close(model(inputs, noise_of(model, inputs)), model(inputs))


@each_model
def test_noise_on_weights_moves_every_parameter_by_its_own_numbers(name):
    model, inputs = built(name, weight_noise=0.1), inputs_of(name)
    noise = noise_of(model, inputs)
    parts = parameter_noise.split(noise, dict(model.named_parameters()))
    moved = {key: value + 0.1 * parts[key] for key, value in model.named_parameters()}
    expected = torch.func.functional_call(built(name), moved, (inputs,))
    torch.testing.assert_close(model(inputs, noise), expected, rtol=1e-12, atol=1e-12)


@each_model
def test_noise_on_weights_after_dropout_leaves_the_dropped_units(name):
    """Units have the first numbers, and a number depends on its place alone."""
    inputs = inputs_of(name)
    alone, both = built(name, dropout=0.4), built(name, dropout=0.4, weight_noise=0.1)
    first = noise_of(alone, inputs)
    assert torch.equal(noise_of(both, inputs)[: len(first)], first)


@each_model
def test_observables_snapshots_and_measures_have_no_noise(name):
    run = finished(spec_of(name, dropout=0.5, weight_noise=0.3))
    last = run.history[run.history["step"] == 6]
    for view in restored(run):
        outputs, targets = view.outputs(view.data["train_inputs"]), view.data["train_targets"]
        assert torch.equal(outputs, view.outputs(view.data["train_inputs"]))
        if view.step == 6:
            loss = torch.nn.functional.cross_entropy(outputs.double(), targets)
            assert last["train_loss"].iloc[view.member] == pytest.approx(float(loss), rel=1e-12)


def test_steps_and_members_have_noise_of_their_own():
    model, inputs = built("mlp", dropout=0.5), inputs_of("mlp")
    first, second = (model(inputs, noise_of(model, inputs, step)) for step in (0, 1))
    assert not torch.equal(first, second)


def test_a_part_of_the_batch_has_no_noise_of_its_own():
    model, inputs = built("mlp", dropout=0.5), inputs_of("mlp")
    network = Network(model, dict(model.named_buffers()), noise_of(model, inputs), len(inputs))
    params = dict(model.named_parameters())
    assert network(params, inputs).shape == (15, 5)
    with pytest.raises(ValueError, match=r"of 15 samples, not of 1; call it with the whole"):
        network(params, inputs[:1])


def test_a_dynamics_of_its_own_equation_refuses_a_noisy_model():
    spec = spec_of("mlp", dropout=0.5)
    spec["task"] = addition(pairs="unordered", encoding="summed")
    spec |= {"model": mlp(24, bias=False, dropout=0.1), "loss": {"name": "mse"}}
    spec["loss"] |= {"reduction": "sample_mean", "half": False}
    spec["dynamics"] = {"name": "isolated_first_layer", "rate": 0.01}
    del spec["optimizer"]
    with pytest.raises(ValueError, match=r"^model: it takes noise, and dynamics isolated_first_la"):
        begun(spec)


def test_the_model_of_the_docs_drops_at_two_places():
    page = PAGE.read_text(encoding="utf-8")
    found = re.search(r"```python\n(class TwoDropouts.*?)```", page, re.DOTALL)
    names = {"nn": torch.nn, "torch": torch, "Tensor": torch.Tensor, "Shape": tuple}
    exec(found[1], names)
    first, second = torch.nn.Linear(50, 40), torch.nn.Linear(40, 40, bias=False)
    first.bias.data.fill_(1.0)
    first.weight.data.zero_()
    second.weight.data.copy_(torch.eye(40))
    model, inputs = names["TwoDropouts"](first, second).double(), torch.ones(200, 50).double()
    noise = noise_of(model, inputs)
    outputs = model(inputs, noise)
    assert set(outputs.unique().tolist()) == {0.0, 2.0}
    assert float((outputs == 0).double().mean()) == pytest.approx(0.5, abs=0.03)
    assert torch.equal(outputs == 0, noise[:, 50:] <= 0)
    assert float((noise[:, :50] > -0.8416).double().mean()) == pytest.approx(0.8, abs=0.02)
    assert torch.equal(model(inputs), torch.ones(200, 40).double())
