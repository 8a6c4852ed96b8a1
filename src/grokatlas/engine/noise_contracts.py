"""Contracts of components that take noise: types alone, as in `engine.contracts`.

Noise is standard normal and belongs to one step of training. Without it a component is what
observables, measures and snapshots see: a noisy model without noise is its evaluation mode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from grokatlas.engine.contracts import (
    GradientLink,
    InputChange,
    Optimizer,
    Params,
    Penalty,
    Shape,
    State,
)
from grokatlas.engine.update_link import UpdateLink

if TYPE_CHECKING:
    from torch import Tensor

Given = TypeVar("Given", covariant=True)


class TakesNoise(Protocol[Given]):
    """The methods of a penalty or a change of inputs that needs random numbers."""

    def noise_shape(self, inputs_shape: Shape, outputs_shape: Shape, /) -> Shape:
        """The shape of noise for a batch of inputs and outputs of these shapes."""

    def given(self, noise: Tensor, /) -> Given:
        """The function of one batch, by noise of that shape in the run's dtype."""


class TakesParameterNoise(Protocol[Given]):
    """The methods of an optimizer, or a link of gradients or updates, that needs random numbers.

    `engine.parameter_noise` has one number for each entry of the parameters.
    """

    def noise_shape(self, params: Params, /) -> Shape:
        """The shape of noise for a step of parameters of these names and shapes."""

    def given(self, noise: Tensor, /) -> Given:
        """The component of one step, by noise of that shape in the run's dtype."""


class NoisyModel(Protocol):
    """The methods of a model that needs random numbers, beside those of an `nn.Module`.

    Several places of noise share one tensor, which the model splits. The engine calls
    ``forward(inputs)`` for evaluation and ``forward(inputs, noise)`` in a step of training, of as
    many samples as the batch has.
    """

    def noise_shape(self, inputs_shape: Shape, outputs_shape: Shape, /) -> Shape:
        """The shape of noise for a batch of inputs and outputs of these shapes."""

    def forward(self, inputs: Tensor, noise: Tensor | None = None, /) -> Tensor:
        """Outputs ``[N, C]`` of inputs ``[N, ...]``, by noise of that shape in the run's dtype."""


class NoisyPenalty(Penalty, TakesNoise[Penalty], Protocol):
    """A penalty that takes noise."""


class NoisyInputChange(InputChange[State], TakesNoise[InputChange[State]], Protocol[State]):
    """A change of inputs that takes noise."""


class NoisyGradientLink(
    GradientLink[State], TakesParameterNoise[GradientLink[State]], Protocol[State]
):
    """A link of gradients that takes noise."""


class NoisyUpdateLink(UpdateLink[State], TakesParameterNoise[UpdateLink[State]], Protocol[State]):
    """A link of updates that takes noise."""


class NoisyOptimizer(Optimizer[State], TakesParameterNoise[Optimizer[State]], Protocol[State]):
    """An optimizer that takes noise."""
