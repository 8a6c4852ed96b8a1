"""Gradient chains against torch and against the published filters, written anew."""

import pytest
import torch

from grokatlas.components.gradients import (
    clip_norm,
    clip_value,
    gaussian_noise,
    grokfast_ema,
    grokfast_ma,
)

SHAPES = {"weight": (3, 4), "bias": (3,)}


def _grads(steps):
    generator = torch.Generator().manual_seed(0)
    return [
        {
            key: torch.randn(shape, generator=generator, dtype=torch.float64) / (1 + step)
            for key, shape in SHAPES.items()
        }
        for step in range(steps)
    ]


def _through(link, grads):
    state = link.init(grads[0])
    found = []
    for grad in grads:
        changed, state = link.update(grads[0], grad, state)
        found.append(changed)
    return found


def _assert_close(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        for key, value in ours.items():
            torch.testing.assert_close(value, theirs[key], rtol=1e-13, atol=1e-13)


def test_moving_average_begins_as_the_first_gradient():
    grads = _grads(12)
    expected, average = [], grads[0]
    for grad in grads:
        average = {key: 0.8 * average[key] + 0.2 * value for key, value in grad.items()}
        expected.append({key: value + 2.0 * average[key] for key, value in grad.items()})
    _assert_close(_through(grokfast_ema.build(alpha=0.8, lamb=2.0), grads), expected)


@pytest.mark.parametrize("window", [1, 4])
def test_window_amplifies_once_it_is_full(window):
    grads = _grads(10)
    expected = []
    for step, grad in enumerate(grads):
        recent = grads[max(0, step + 1 - window) : step + 1]
        full = len(recent) == window
        means = {key: sum(each[key] for each in recent) / window for key in grad}
        expected.append({key: value + 5.0 * full * means[key] for key, value in grad.items()})
    _assert_close(_through(grokfast_ma.build(window=window, lamb=5.0), grads), expected)


@pytest.mark.parametrize("max_norm", [0.5, 3.0, 100.0])
def test_norm_is_clipped_as_by_torch(max_norm):
    grads = _grads(6)
    expected = []
    for grad in grads:
        params = {key: torch.nn.Parameter(torch.zeros_like(value)) for key, value in grad.items()}
        for key, value in params.items():
            value.grad = grad[key].clone()
        torch.nn.utils.clip_grad_norm_(params.values(), max_norm)
        expected.append({key: value.grad for key, value in params.items()})
    found = _through(clip_norm.build(max_norm=max_norm), grads)
    _assert_close(found, expected)
    for grad in found:
        assert sum(value.square().sum() for value in grad.values()).sqrt() <= max_norm


def test_a_gradient_of_zero_is_not_divided_by_its_norm():
    zero = {"weight": torch.zeros(3, dtype=torch.float64)}
    (found,) = _through(clip_norm.build(max_norm=1.0), [zero])
    assert torch.equal(found["weight"], zero["weight"])


def test_entries_are_clipped_as_by_torch():
    grads = _grads(3)
    expected = []
    for grad in grads:
        params = {key: torch.nn.Parameter(torch.zeros_like(value)) for key, value in grad.items()}
        for key, value in params.items():
            value.grad = grad[key].clone()
        torch.nn.utils.clip_grad_value_(params.values(), 0.3)
        expected.append({key: value.grad for key, value in params.items()})
    _assert_close(_through(clip_value.build(max_value=0.3), grads), expected)


def test_noise_in_a_few_steps_leaves_all_others_as_they_are():
    grads = _grads(4)
    link = gaussian_noise.build(std=0.5, fading=0.0, steps=[0, 2])
    noise = torch.ones(link.noise_shape(grads[0]), dtype=torch.float64)
    changed = _through(link.given(noise), grads)
    added = [
        {"weight": grad["weight"] + by, "bias": grad["bias"] + by}
        for grad, by in zip(grads, (0.5, 0.0, 0.5, 0.0), strict=True)
    ]
    _assert_close(changed, added)
    with pytest.raises(ValueError, match="empty"):
        gaussian_noise.build(std=0.5, fading=0.0, steps=[])
