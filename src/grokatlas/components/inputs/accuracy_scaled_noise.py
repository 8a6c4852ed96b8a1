"""Gaussian noise on inputs, the less the better the training set is classified."""

from typing import TypedDict

import torch
from torch import Tensor

from grokatlas.engine import accuracy as scoring
from grokatlas.engine.contracts import Hyperparameter, InputChange, Model, Params, Shape
from grokatlas.engine.keyword_types import NonNegative
from grokatlas.engine.noise_contracts import NoisyInputChange


class NoiseLevel(TypedDict):
    """The state: the standard deviation ``[]``."""

    std: Tensor


class AccuracyScaledNoise:
    """``x <- x + std * e``, ``e ~ N(0, 1)`` for each entry, ``std = max(high * (1 - a), low)``.

    ``a`` is the accuracy on the whole training set without noise, renewed before every epoch. The
    state holds ``std``; it is not a number where an output is not finite. Source: the code of arXiv
    2506.12284, with high 0.06 and low 0.03, after Tan & Huang; the paper calls it adversarial
    training, but no gradient is taken.
    """

    def __init__(self, high: Hyperparameter, low: Hyperparameter) -> None:
        self.high = high
        self.low = low

    def init(self, params: Params) -> NoiseLevel:
        """The standard deviation at accuracy 0."""
        some = next(iter(params.values()))
        return {"std": self._std(torch.zeros_like(some.sum()))}

    def begin_epoch(
        self,
        state: NoiseLevel,
        params: Params,
        model: Model,
        train_inputs: Tensor,
        train_targets: Tensor,
    ) -> NoiseLevel:
        """The standard deviation at the present accuracy.

        Raises:
            ValueError: inputs are tokens, or targets neither labels nor one-hot.
        """
        if not train_inputs.is_floating_point():
            raise ValueError("accuracy_scaled_noise needs real inputs; these are tokens")
        outputs = model(params, train_inputs)
        labels = train_targets
        if labels.is_floating_point() and labels.shape == outputs.shape:
            labels = labels.argmax(-1)
        if outputs.shape[-1] < 2 or labels.ndim != 1:
            raise ValueError("accuracy_scaled_noise needs two or more classes: labels or one-hot")
        return {"std": self._std(scoring.accuracy(outputs, labels))}

    def noise_shape(self, inputs_shape: Shape, outputs_shape: Shape) -> Shape:
        """One number for each entry of a batch's inputs."""
        return inputs_shape

    def given(self, noise: Tensor) -> InputChange[NoiseLevel]:
        """The change of one batch."""
        return _Given(self, noise)

    def __call__(self, inputs: Tensor, state: NoiseLevel) -> Tensor:
        """Without noise, inputs as they are."""
        return inputs

    def _std(self, accuracy: Tensor) -> Tensor:
        return torch.maximum(self.high * (1 - accuracy), self.low + torch.zeros_like(accuracy))


class _Given:
    """`AccuracyScaledNoise` with the noise of one batch."""

    def __init__(self, change: AccuracyScaledNoise, noise: Tensor) -> None:
        self.init = change.init
        self.begin_epoch = change.begin_epoch
        self.noise = noise

    def __call__(self, inputs: Tensor, state: NoiseLevel) -> Tensor:
        return inputs + state["std"] * self.noise


def build(*, high: NonNegative, low: NonNegative) -> NoisyInputChange[NoiseLevel]:
    """Noise of standard deviation ``max(high * (1 - training accuracy), low)``.

    Args:
        high: standard deviation at accuracy 0, in units of the inputs.
        low: the least standard deviation.
    """
    return AccuracyScaledNoise(high, low)
