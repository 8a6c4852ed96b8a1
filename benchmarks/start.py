"""Ours as something that takes steps, and the start of one of its members for a peer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from grokatlas.engine import members
from grokatlas.engine.run import Run


class Ours:
    """A run of some members.

    Args:
        spec: of the run.
        data: its data set.
        device: where it trains.
    """

    def __init__(self, spec: dict[str, Any], data: Any, device: torch.device) -> None:
        self.run = Run(spec, data, device)

    @property
    def compiled(self) -> bool:
        """True if many steps are one call of a compiled loop."""
        return self.run.groups[0].programs.advance is not None

    def steps(self, count: int) -> None:
        """Advance every member."""
        self.run.move(count)

    def one_by_one(self) -> None:
        """Let the next step start its operations one by one, so that they can be counted."""
        for group in self.run.groups:
            group.forget()

    def parameters(self) -> dict[str, Tensor]:
        """The parameters of the first member."""
        return {key: value[0] for key, value in self.run.parameters().items()}


@dataclass
class Start:
    """The start of a peer: the first member's parameters, its data and its numbers.

    Attributes:
        spec: of the run, with the member's own numbers in the places of the ensemble's axes.
        params: initial parameters by our names.
        inputs: training inputs ``[N, ...]``.
        targets: training targets.
        device: where the peer trains.
        draw: standard normal numbers of a shape, for random projections.
    """

    spec: dict[str, Any]
    params: dict[str, Tensor]
    inputs: Tensor
    targets: Tensor
    device: torch.device
    draw: Callable[..., Tensor]

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of parameters and real data."""
        return next(iter(self.params.values())).dtype


def start(ours: Ours) -> Start:
    """The first member as it is now, for a peer."""
    run = ours.run
    spec = dict(run.spec)
    for path, value in members.of(spec)[0].items():
        if path != "seed":
            block, keyword = path.split(".")
            spec[block] = spec[block] | {keyword: value}
    inputs, targets = run.data["train_inputs"], run.data["train_targets"]
    if run.groups[0].batches.per_member:
        inputs, targets = inputs[0], targets[0]
    params = {key: value[0].clone() for key, value in run.params.items()}
    dtype, device = next(iter(params.values())).dtype, inputs.device

    def draw(*shape: int) -> Tensor:
        return torch.randn(shape, dtype=dtype, device=device)

    return Start(spec, params, inputs, targets, device, draw)
