"""Normal noise on gradients, in every step, fading or not, or in a few steps alone."""

from typing import Any, TypedDict

import torch
from torch import Tensor

from grokatlas.engine import parameter_noise
from grokatlas.engine.contracts import GradientLink, Hyperparameter, Params, Shape
from grokatlas.engine.keyword_types import NonNegative, Whole
from grokatlas.engine.noise_contracts import NoisyGradientLink

DEFAULTED = {"steps": None}


class Steps(TypedDict):
    """The state: the number of steps ``[]`` in float64."""

    step: Tensor


class GaussianNoise:
    """``g <- g + std (1 + t)^(-fading / 2) * e``, ``e ~ N(0, 1)``, in step ``t`` from 0.

    With `steps` the noise is 0 in all others.
    """

    def __init__(
        self,
        std: Hyperparameter,
        fading: Hyperparameter,
        steps: list[int] | None,
        noise: Tensor | None = None,
    ) -> None:
        self.std = std
        self.fading = fading
        self.steps = steps
        self.noise = noise

    def init(self, params: Params) -> Steps:
        """No steps."""
        some = next(iter(params.values()))
        return {"step": torch.zeros_like(some.sum(), dtype=torch.float64)}

    def noise_shape(self, params: Params) -> Shape:
        """One number for each entry of the gradients."""
        return parameter_noise.shape(params)

    def given(self, noise: Tensor) -> GradientLink[Steps]:
        """The link of one step."""
        return GaussianNoise(self.std, self.fading, self.steps, noise)

    def update(self, params: Params, grads: Params, state: Steps) -> tuple[Params, Steps]:
        """The gradients with noise."""
        if self.noise is not None:
            step = state["step"]
            std = self.std * (1 + step) ** (-0.5 * self.fading)
            if self.steps is not None:
                std = torch.stack([step == each for each in self.steps]).any(0) * std
            parts = parameter_noise.split(self.noise, grads)
            grads = {key: grad + std.to(grad.dtype) * parts[key] for key, grad in grads.items()}
        return grads, {"step": state["step"] + 1}


def build(
    *, std: NonNegative, fading: NonNegative, steps: list[Whole] | None
) -> NoisyGradientLink[Steps]:
    """Noise on gradients of Neelakantan et al., arXiv 1511.06807.

    Args:
        std: standard deviation in the first step.
        fading: power of the variance's decay; 0 for none, 0.55 in the source.
        steps: numbers of steps before those that get noise; null for all steps.

    Raises:
        ValueError: `steps` is empty.
    """
    if steps == []:
        raise ValueError("gaussian_noise.steps is empty; null is all steps, std: 0 none")
    return GaussianNoise(std, fading, steps)


def noise(parameters: int, samples: int, **_: Any) -> int:
    """Numbers of noise in a step of one member (docs/extending.md)."""
    return parameters
