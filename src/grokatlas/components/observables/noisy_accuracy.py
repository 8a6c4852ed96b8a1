"""Test accuracy under Gaussian noise."""

import torch
from torch import Tensor

from grokatlas.engine.accuracy import accuracy
from grokatlas.engine.contracts import Columns, Observable
from grokatlas.engine.keyword_types import Vector, Whole
from grokatlas.engine.observed import Observed

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing

GOLDEN = -0x61C8864680B583EB  # 2^64 / golden ratio, signed: the stride of SplitMix64

COLUMNS = {"noisy_accuracy.*": "rises"}


def build(*, amplitudes: Vector, spared: Whole, noise_seed: Whole) -> Observable:
    """Accuracy on test inputs plus ``amplitude`` times standard normal noise.

    One draw serves all amplitudes and members; every logged step has its own. Source: arXiv
    2506.12284, figure 4, with amplitudes 0.2 to 1 and the two signal coordinates spared. It is
    logged in the loop, as a snapshot of the network of that figure takes 655 MB.

    Args:
        amplitudes: factors on the noise.
        spared: the first so many coordinates of an input (flattened) get no noise.
        noise_seed: with the step it seeds the draw, which is the same on every device.

    Columns: ``noisy_accuracy.0``, ``noisy_accuracy.1`` ..., one for each amplitude, in [0, 1];
    not a number where an output is not finite.
    """

    def observe(view: Observed) -> Columns:
        inputs = view.data["test_inputs"]
        draw = normal(inputs.numel(), noise_seed, view.step).view(inputs.shape)
        heard = torch.arange(inputs[0].numel(), device=inputs.device) >= spared
        draw = (draw * heard.view(inputs.shape[1:])).to(inputs.dtype)
        targets = view.data["test_targets"]
        accuracies = [
            accuracy(view.model(view.params, inputs + a * draw), targets) for a in amplitudes
        ]
        return {"noisy_accuracy": torch.stack(accuracies)}

    return observe


def normal(count: int, seed: int, step: Tensor) -> Tensor:
    """Standard normal numbers ``[count]`` in float64, by their places, `seed` and `step` alone.

    Torch's generators cannot be seeded inside a mapped program. This is the SplitMix64 generator
    (Steele, Lea & Flood 2014, doi 10.1145/2660193.2660195), then the normal distribution's inverse.
    """
    places = torch.arange(1, count + 1, device=step.device)
    start = _mixed(_mixed(step.to(torch.int64) + 1) + seed)
    words = _mixed(start + GOLDEN * places)
    uniform = (_shifted(words, 11).to(torch.float64) + 0.5) * 2.0**-53
    return 2**0.5 * torch.erfinv(2 * uniform - 1)


def _mixed(words: Tensor) -> Tensor:
    words = (words ^ _shifted(words, 30)) * -0x40A7B892E31B1A47
    words = (words ^ _shifted(words, 27)) * -0x6B2FB644ECCEEE15
    return words ^ _shifted(words, 31)


def _shifted(words: Tensor, bits: int) -> Tensor:
    """Shifted right without the sign."""
    return (words >> bits) & ((1 << (64 - bits)) - 1)
