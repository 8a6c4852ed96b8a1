"""Update chains against `torch.optim` and its schedulers, and against what they promise."""

import math

import pytest
import torch
from torch.optim.lr_scheduler import LambdaLR

from grokatlas import registry
from grokatlas.components.dynamics.fixed_norm_training import build as fixed_norm
from grokatlas.components.dynamics.gradient_training import GradientTraining
from grokatlas.components.gradients import orthogonal
from grokatlas.components.optimizers import gd
from grokatlas.components.updates import inverse_sqrt, norm_cap, schedule, weight_decay

STEPS = 40
ADAM = {"lr": 0.02, "beta1": 0.9, "beta2": 0.98, "eps": 1e-8}
DECAYED = ADAM | {"weight_decay": 0.5}
# name and keywords here, and the same of torch
OPTIMIZERS = {
    "gd": ("gd", {"lr": 0.05}, torch.optim.SGD, {"lr": 0.05}),
    "nesterov": (
        "sgd",
        (SGD := {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.1, "nesterov": True}),
        torch.optim.SGD,
        SGD,
    ),
    "adam": ("adam", ADAM, torch.optim.Adam, {"weight_decay": 0.0}),
    "decoupled": ("adamw", DECAYED | {"decay": "decoupled"}, torch.optim.AdamW, {}),
    "coupled": ("adamw", DECAYED | {"decay": "coupled"}, torch.optim.Adam, {}),
}
LINE = {"steps": [0, 10], "factors": [0.0, 1.0], "between": "linear"}
# links, and the factor of `LambdaLR`
SCHEDULES = {
    "constant": (
        [schedule.build(steps=[0], factors=[0.3], between="constant")],
        lambda t: 0.3,
    ),
    "warm-up": ([schedule.build(**LINE)], lambda t: min(t / 10, 1)),
    "steps": (
        [schedule.build(steps=[0, 7, 20], factors=[1, 0.1, 0.01], between="constant")],
        lambda t: 1 if t < 7 else 0.1 if t < 20 else 0.01,
    ),
    "line": (
        [schedule.build(steps=[5, 25], factors=[1, 0], between="linear")],
        lambda t: max(0, 1 - max(0, t - 5) / 20),
    ),
    "warm-up and cosine": (
        [
            schedule.build(**LINE),
            schedule.build(steps=[10, 30], factors=[1, 0.1], between="cosine"),
        ],
        lambda t: (
            t / 10 if t < 10 else 0.1 + 0.9 * (1 + math.cos(math.pi * min((t - 10) / 20, 1))) / 2
        ),
    ),
    "inverse root": (
        [schedule.build(**LINE), inverse_sqrt.build(start=10)],
        lambda t: t / 10 if t < 10 else (t / 10) ** -0.5,
    ),
}


def _params() -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    shapes = {"embed.weight": (5, 4), "layers.0.weight": (3, 4), "layers.0.bias": (3,)}
    return {
        key: torch.randn(shape, generator=generator, dtype=torch.float64)
        for key, shape in shapes.items()
    }


def _gradients(params: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {key: torch.sin(5 * value) for key, value in params.items()}


def _moved(optimizer, links, steps=STEPS):
    """Parameters after each step of an optimizer and a chain."""
    params, history = _params(), []
    state, own = optimizer.init(params), [link.init(params) for link in links]
    for _ in range(steps):
        after, state = optimizer.update(params, _gradients(params), state)
        for k, link in enumerate(links):
            after, own[k] = link.update(params, after, own[k])
        params = after
        history.append(params)
    return history


def _by_torch(kind, keywords, factor):
    """The same of torch with `LambdaLR`."""
    params = {key: torch.nn.Parameter(value) for key, value in _params().items()}
    optimizer = kind(params.values(), **keywords)
    scheduler, history = LambdaLR(optimizer, factor), []
    for _ in range(STEPS):
        for key, grad in _gradients({k: v.detach() for k, v in params.items()}).items():
            params[key].grad = grad
        optimizer.step()
        scheduler.step()
        history.append({key: value.detach().clone() for key, value in params.items()})
    return history


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("curve", SCHEDULES)
def test_a_schedule_is_that_of_torch_for_every_optimizer(optimizer, curve):
    name, keywords, kind, theirs = OPTIMIZERS[optimizer]
    links, factor = SCHEDULES[curve]
    if name in ("adam", "adamw"):
        own = {key: keywords[key] for key in keywords.keys() & {"lr", "eps", "weight_decay"}}
        theirs = own | {"betas": (keywords["beta1"], keywords["beta2"])}
    found = _moved(registry.load("optimizer", name).build(**keywords), links)
    for ours, expected in zip(found, _by_torch(kind, theirs, factor), strict=True):
        for key, value in ours.items():
            torch.testing.assert_close(value, expected[key], rtol=0, atol=5e-15)


def test_a_factor_of_one_is_the_step_itself_and_of_zero_none():
    optimizer = registry.load("optimizer", "adam").build(**ADAM)
    curve = schedule.build(steps=[2, 3], factors=[0.0, 1.0], between="constant")
    found, plain = _moved(optimizer, [curve], 5), _params()
    assert all(torch.equal(found[1][key], value) for key, value in plain.items())
    after, expected = {}, {}
    for factor, store in ((1.0, after), (None, expected)):
        flat = schedule.build(steps=[0, 9], factors=[1.0, 1.0], between="cosine")
        store |= _moved(optimizer, [flat] if factor else [])[-1]
    assert all(torch.equal(after[key], value) for key, value in expected.items())


@pytest.mark.parametrize(
    ("keywords", "problem"),
    [
        ({"steps": [0, 1], "factors": [1.0]}, "2 steps and 1 factors"),
        ({"steps": [0, 5, 5], "factors": [1.0, 0.5, 0.1]}, "do not increase"),
    ],
)
def test_a_curve_that_is_none_is_refused(keywords, problem):
    with pytest.raises(ValueError, match=problem):
        schedule.build(**keywords, between="linear")


def test_decay_to_zero_is_that_of_adamw_and_a_schedule_scales_what_is_before_it():
    adam = registry.load("optimizer", "adam").build(**ADAM)
    link = weight_decay.build(rate=0.02 * 0.5, parameters=["*"], towards="zero")
    links, factor = SCHEDULES["warm-up"]
    keywords = {"lr": 0.02, "betas": (0.9, 0.98), "eps": 1e-8, "weight_decay": 0.5}
    expected = _by_torch(torch.optim.AdamW, keywords, factor)
    for ours, theirs in zip(_moved(adam, [link, *links]), expected, strict=True):
        for key, value in ours.items():
            torch.testing.assert_close(value, theirs[key], rtol=0, atol=5e-15)


def test_groups_by_name_decay_at_rates_of_their_own():
    links = [
        weight_decay.build(rate=0.1, parameters=["*.weight"], towards="zero"),
        weight_decay.build(rate=0.5, parameters=["embed.*"], towards="zero"),
    ]
    still = {key: 1.0 * value for key, value in _params().items()}
    after = still
    for link in links:
        after, _ = link.update(still, after, link.init(still))
    rates = {"embed.weight": 0.6, "layers.0.weight": 0.1, "layers.0.bias": 0.0}
    for key, rate in rates.items():
        torch.testing.assert_close(after[key], (1 - rate) * still[key])


def test_decay_towards_the_initial_weights_ends_there():
    link = weight_decay.build(rate=0.5, parameters=["layers.*"], towards="initial")
    initial, far = _params(), {key: value + 1 for key, value in _params().items()}
    state = link.init(initial)
    for _ in range(60):
        far, state = link.update(far, far, state)
    torch.testing.assert_close(far["layers.0.bias"], initial["layers.0.bias"])
    torch.testing.assert_close(far["embed.weight"], initial["embed.weight"] + 1)


@pytest.mark.parametrize("build", [weight_decay.build, norm_cap.build])
@pytest.mark.parametrize("patterns", [["*.weight", "unembed*"], []])
def test_a_pattern_without_parameter_is_refused(build, patterns):
    keywords = {"rate": 0.1, "towards": "zero"} if build is weight_decay.build else {"max_norm": 1}
    with pytest.raises(
        ValueError, match=r"parameters: the model has no parameter .* allowed: embed.weight"
    ):
        build(parameters=patterns, **keywords).init(_params())


def test_a_norm_is_capped_and_a_short_one_left_alone():
    link, params = norm_cap.build(max_norm=2.0, parameters=["*.weight"]), _params()
    after, _ = link.update(params, params, link.init(params))
    weights = torch.cat([after[key].flatten() for key in ("embed.weight", "layers.0.weight")])
    assert weights.norm().item() == pytest.approx(2.0)
    assert torch.equal(after["layers.0.bias"], params["layers.0.bias"])
    short = {key: 0.1 * value for key, value in params.items()}
    zero = {key: 0 * value for key, value in params.items()}
    for given in (short, zero):
        after, _ = link.update(params, given, {})
        assert all(torch.equal(after[key], value) for key, value in given.items())


def test_orthogonal_gradients_are_those_of_the_authors():
    """``OrthoGrad`` of the authors' code, written anew."""
    params = _params() | {"scale": torch.ones(1, dtype=torch.float64)}
    grads = _gradients(params)
    found, _ = orthogonal.build().update(params, grads, {})
    for key, value in list(params.items())[:3]:
        w, g = value.flatten(), grads[key].flatten()
        across = g - torch.dot(w, g) / (torch.dot(w, w) + 1e-30) * w
        expected = across * (g.norm() / (across.norm() + 1e-30))
        torch.testing.assert_close(found[key].flatten(), expected)
        assert torch.dot(w, found[key].flatten()).abs() < 1e-14
    assert found["scale"].item() == 0.0


def _one_step(links, build=GradientTraining, **keywords):
    def model(params, inputs):
        return inputs @ params["w"]

    def loss(params, model, inputs, targets):
        return (model(params, inputs) - targets).square().sum()

    batch = (torch.eye(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64))
    training = build(model, loss, gd.build(lr=0.1), [], [], [], links, **keywords)
    state = training.init({"w": torch.arange(3.0, dtype=torch.float64)})
    return training.update(state, batch)


def test_both_dynamics_take_the_chain_and_one_restores_its_norm_after_it():
    half = [schedule.build(steps=[0], factors=[0.5], between="constant")]
    start = torch.arange(3.0, dtype=torch.float64)
    step = -0.1 * 2 * (start - 1)
    torch.testing.assert_close(_one_step(half)["params"]["w"], start + step / 2)
    normed = _one_step(half, fixed_norm, relative_norm=1.0)["params"]["w"]
    expected = (start + step / 2) * start.norm() / (start + step / 2).norm()
    torch.testing.assert_close(normed, expected)
