"""Noise on inputs that falls as the training set is learnt."""

import pytest
import torch

from grokatlas.components.inputs import accuracy_scaled_noise

HIGH, LOW = 0.6, 0.1
# outputs are inputs: right on the first `right` samples
INPUTS = torch.eye(4, dtype=torch.float64)


def _identity(params, inputs):
    return inputs


def _labels(right):
    labels = torch.arange(4)
    labels[right:] = (labels[right:] + 1) % 4
    return labels


def _change():
    return accuracy_scaled_noise.build(high=HIGH, low=LOW)


def _begun(labels):
    change = _change()
    state = change.init({"p": INPUTS})
    return change.begin_epoch(state, {"p": INPUTS}, _identity, INPUTS, labels)


def test_noise_is_highest_before_the_first_epoch():
    assert _change().init({"p": INPUTS})["std"].item() == HIGH


@pytest.mark.parametrize(("right", "std"), [(0, 0.6), (1, 0.45), (2, 0.3), (3, 0.15), (4, 0.1)])
def test_noise_falls_with_accuracy_down_to_its_least(right, std):
    one_hot = torch.nn.functional.one_hot(_labels(right), 4).to(torch.float64)
    for labels in (_labels(right), one_hot):
        assert _begun(labels)["std"].item() == pytest.approx(std)


def test_noise_is_scaled_and_added():
    change, state = _change(), _begun(_labels(2))
    assert change.noise_shape((2, 4), (2, 9)) == (2, 4)
    noise = torch.arange(16, dtype=torch.float64).view(4, 4)
    torch.testing.assert_close(change.given(noise)(INPUTS, state), INPUTS + 0.3 * noise)
    assert torch.equal(change(INPUTS, state), INPUTS)


@pytest.mark.parametrize(
    ("inputs", "targets", "words"),
    [
        (torch.zeros(4, 2, dtype=torch.int64), _labels(4), "needs real inputs"),
        (INPUTS, INPUTS[:, :2], "two or more classes"),
        (INPUTS[:, :1], torch.tensor([0, 1, 1, 0]), "two or more classes"),
    ],
)
def test_tasks_without_accuracy_are_refused(inputs, targets, words):
    with pytest.raises(ValueError, match=words):
        _change().begin_epoch({}, {}, _identity, inputs, targets)
