"""Training by gradients at a fixed norm of the parameters."""

from typing import Any

import torch
from torch import Tensor

from grokatlas.components.dynamics.gradient_training import GradientTraining
from grokatlas.engine.keyword_types import Positive


class FixedNormTraining(GradientTraining):
    """The step of `gradient_training`, then ``params <- params * norm / |params|_2``.

    ``|params|_2`` is of all parameters as one vector, biases included. The state of the optimizer
    is left as it is. The state holds ``norm`` beside what `gradient_training` keeps.

    Source: arXiv 2210.01117, reduced landscapes, and its code (``mnist-landscape.ipynb``).
    """

    def __init__(self, *blocks: Any, relative_norm: float | Tensor) -> None:
        super().__init__(*blocks)
        self.relative_norm = relative_norm

    def init(self, params: dict) -> dict:
        """The state before the first step: the parameters are already of the norm that is kept."""
        scaled = {key: self.relative_norm * value for key, value in params.items()}
        return super().init(scaled) | {"norm": _norm(scaled)}

    def update(self, state: dict, batch: tuple[Tensor, Tensor]) -> dict:
        """The state after one step on a batch, back at its norm."""
        moved = super().update(state, batch)
        factor = state["norm"] / _norm(moved["params"])
        return moved | {"params": {key: factor * value for key, value in moved["params"].items()}}


def _norm(params: dict) -> Tensor:
    return torch.stack([value.square().sum() for value in params.values()]).sum().sqrt()


def build(
    model: Any,
    loss: Any,
    optimizer: Any,
    penalties: list[Any],
    gradients: list[Any],
    inputs: list[Any],
    *,
    relative_norm: Positive,
) -> FixedNormTraining:
    """Training as `gradient_training` does, with the norm of all parameters fixed.

    Args:
        model: as in `gradient_training`, and so are all blocks.
        loss: of the model on a batch.
        optimizer: of the step before the norm is restored.
        penalties: added to the loss.
        gradients: chain of changes.
        inputs: changes of a batch.
        relative_norm: the norm that is kept, over the norm of the member's own initial parameters
            (alpha); these are multiplied by it before the first step.
    """
    blocks = (model, loss, optimizer, penalties, gradients, inputs)
    return FixedNormTraining(*blocks, relative_norm=relative_norm)
