"""The noise of a run's members is each member's own, however they move and whenever they resume."""

import copy

import pytest
import torch

from grokatlas.code import code_digest
from grokatlas.engine import noise, run
from grokatlas.engine.noise import Ahead, standard_normal
from tests.runs import addition, begun, mlp, schedule
from tests.tiers import every

DOUBLE = torch.float64
SEEDS = torch.tensor([5, 0, 2**32 - 1])
SPEC = {
    "task": addition(split_seed="member"),
    "model": mlp(6, dropout=0.2, weight_noise=0.02),
    "loss": {"name": "cross_entropy"},
    "optimizer": {"name": "langevin", "lr": 0.1, "temperature": 1e-4},
    "gradients": [{"name": "gaussian_noise", "std": 0.01, "fading": 0.5}],
    "inputs": [{"name": "accuracy_scaled_noise", "high": 0.5, "low": 0.4}],
    "penalties": [{"name": "jacobian", "weight": 0.01, "form": "norm", "projections": 2}],
    "dynamics": {"name": "gradient_training"},
    "observables": [{"name": "losses"}],
    "ensemble": {"seed": [3, 1, 4]},
    "train": schedule(12, every=5, batch_size=4, shuffle=True),
}
STEPS = 10
PARAMETERS = 101  # of the network


@pytest.fixture
def heard(monkeypatch):
    """(seed, block) -> the noise of each step that a program was given."""
    found = {}
    real = noise.Ahead.before

    def listening(self, step, shapes):
        given = real(self, step, shapes)
        for block, values in given.items():
            for seed, value in zip(self.seeds.tolist(), values, strict=True):
                found.setdefault((seed, block), []).append(value.clone())
        return given

    monkeypatch.setattr(noise.Ahead, "before", listening)
    return found


def _together(spec, monkeypatch):
    begun(spec).move(STEPS)


def _alone(spec, monkeypatch):
    for seed in spec["ensemble"]["seed"]:
        begun(spec | {"ensemble": {"seed": [seed]}}).move(STEPS)


def _in_another_order(spec, monkeypatch):
    begun(spec | {"ensemble": {"seed": [4, 8, 3, 1]}}).move(STEPS)


def _in_groups(spec, monkeypatch):
    monkeypatch.setattr(run, "CACHE", 1)
    made = begun(spec)
    assert len(made.groups) == 3
    made.move(STEPS)


def _resumed(spec, monkeypatch):
    first = begun(spec)
    first.move(6)
    saved = copy.deepcopy(first.saved())
    again = begun(spec)
    again.restore(saved)
    again.move(STEPS - 6)


def _while_others_stop(spec, monkeypatch):
    made = begun(spec | {"ensemble": {"seed": [8, 3, 1, 9, 4]}})
    made.move(4)
    made.keep({1, 2, 4})
    made.move(STEPS - 4)


WAYS = [_together, _alone, _in_another_order, _in_groups, _resumed, _while_others_stop]


@pytest.mark.parametrize("way", every(3, WAYS, first=1))
def test_a_member_hears_its_own_noise(way, heard, monkeypatch):
    way(SPEC, monkeypatch)
    shapes = {"inputs.0": lambda n: (n, 2, 5), "penalties.0": lambda n: (2, n, 5)}
    shapes |= {"model": lambda n: (6 * n + PARAMETERS,), "optimizer": lambda n: (PARAMETERS,)}
    shapes["gradients.0"] = shapes["optimizer"]
    for seed in SPEC["ensemble"]["seed"]:
        for block, shape in shapes.items():
            given = heard[seed, block]
            assert len(given) == STEPS
            for step, values in enumerate(given):
                size = shape(3 if step % 4 == 3 else 4)
                own = standard_normal(torch.tensor([seed]), block, step, size, DOUBLE)[0]
                assert torch.equal(values, own)


def test_parameters_that_do_not_move_have_no_noise_of_an_optimizer():
    """The model's noise is on all of them."""
    made = begun(SPEC | {"train": SPEC["train"] | {"only": ["layers.0.*"]}})
    shapes = made.groups[0].programs.noise_shapes
    blocks = ("optimizer", "gradients.0", "model")
    found = {block: shapes[block]((4, 2, 5), (4, 5)) for block in blocks}
    assert found == {"optimizer": (66,), "gradients.0": (66,), "model": (24 + PARAMETERS,)}
    before = {key: value.clone() for key, value in made.parameters().items()}
    made.move(3)
    moved = {key for key, value in made.parameters().items() if not torch.equal(value, before[key])}
    assert moved == {"layers.0.weight", "layers.0.bias"}


def test_both_precisions_of_a_run_hear_the_same(heard):
    begun(SPEC).move(3)
    double = {key: [value.float() for value in values] for key, values in heard.items()}
    heard.clear()
    begun(SPEC | {"train": SPEC["train"] | {"dtype": "float32"}}).move(3)
    for key, values in heard.items():
        assert all(map(torch.equal, values, double[key]))


def test_a_group_saves_its_step_and_no_noise():
    made = begun(SPEC)
    made.move(5)
    (saved,) = made.saved().values()
    assert saved.keys() == {"places", "state", "step", "batches"}
    assert int(saved["step"]) == 5


def test_a_state_of_earlier_code_is_refused():
    """It has states of generators in place of a step."""
    made = begun(SPEC)
    made.move(5)
    saved = made.saved()
    del saved["0"]["step"]
    saved["0"]["noise"] = {"inputs.0": torch.zeros(3, 5056, dtype=torch.uint8)}
    with pytest.raises(RuntimeError, match=r"has no step.*; remove its folder \.state to train"):
        begun(SPEC).restore(saved)


def test_code_of_noise_is_code_of_every_run():
    """So a state that other code saved has another key, and is set aside."""
    modules = code_digest.code(code_digest.run_modules(SPEC))
    assert "grokatlas.engine.noise" in modules


@pytest.mark.parametrize("most", [1, 2, 64])
def test_noise_drawn_ahead_is_that_of_each_step(most, monkeypatch):
    monkeypatch.setattr(noise, "MOST_STEPS", most)
    ahead = Ahead(SEEDS, DOUBLE)
    for step in (0, 1, 2, 3, 4, 130, 7, 8):
        for block, shape in (("inputs.0", (4, 2)), ("penalties.0", (3,)), ("inputs.0", (2, 2))):
            expected = standard_normal(SEEDS, block, step, shape, DOUBLE)
            assert torch.equal(ahead.before(step, {block: shape})[block], expected)


def test_noise_drawn_ahead_goes_on_for_those_that_stay():
    ahead = Ahead(SEEDS, DOUBLE)
    ahead.before(3, {"inputs.0": (4,)})
    ahead.keep([2, 0])
    expected = standard_normal(SEEDS[[2, 0]], "inputs.0", 4, (4,), DOUBLE)
    assert torch.equal(ahead.before(4, {"inputs.0": (4,)})["inputs.0"], expected)


def test_what_is_drawn_ahead_is_bounded(monkeypatch):
    calls = []
    real = noise.standard_normal

    def counted(*arguments):
        calls.append(real(*arguments))
        return calls[-1]

    monkeypatch.setattr(noise, "standard_normal", counted)
    ahead = Ahead(SEEDS, DOUBLE)
    for step in range(64):
        ahead.before(step, {"inputs.0": (4,)})
    assert len(calls) == 1
    assert calls.pop().shape == (64, 3, 4)
    for step in range(3):
        ahead.before(step, {"inputs.0": (noise.AHEAD // 4,)})
    assert {call.shape for call in calls} == {(3, noise.AHEAD // 4)}
    assert len(calls) == 3
