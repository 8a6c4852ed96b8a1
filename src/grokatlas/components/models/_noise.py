"""Noise that a network has in training alone: dropout, and noise on its weights."""

import torch
from torch import Tensor, nn

from grokatlas.engine import parameter_noise
from grokatlas.engine.contracts import Params, Shape


class Noisy(nn.Module):
    """Noise of a network, for a class that has this one before the network's among its parents.

    The network's ``forward(inputs, masks=...)`` multiplies units by `masks`, of the shape that
    `units` says; None: it drops none. Noise is a number for each of these units, then one for each
    entry of the parameters. A rate that is None has none of its numbers.

    Rates are buffers, as members may differ in them: ``dropout`` ``[2]`` holds the least number of
    a unit that stays and the factor ``1 / (1 - rate)`` of such a unit, ``weight_noise`` ``[]`` a
    standard deviation. The former is rounded to float32, as noise is, so that both precisions drop
    the same units.
    """

    dropout: Tensor | None
    weight_noise: Tensor | None

    def set_rates(self, dropout: float | None, weight_noise: float | None) -> None:
        """Set the share of dropped units, and the standard deviation of noise on parameters."""
        rates: dict[str, Tensor | None] = {"dropout": None, "weight_noise": None}
        if dropout is not None:
            rate = torch.tensor(dropout, dtype=torch.float64)
            least = torch.special.ndtri(rate).float().double()
            rates["dropout"] = torch.stack([least, 1 / (1 - rate)])
        if weight_noise is not None:
            rates["weight_noise"] = torch.tensor(weight_noise, dtype=torch.float64)
        for name, value in rates.items():
            self.register_buffer(name, value)

    def units(self, samples: int) -> Shape:
        """The shape of `masks` for a batch of so many samples."""
        raise NotImplementedError

    def noise_shape(self, inputs_shape: Shape, outputs_shape: Shape) -> Shape:
        """One number for each unit that may be dropped, and for each entry that gets noise."""
        return (self._dropped(inputs_shape[0]) + self._shifted(),)

    def forward(
        self, inputs: Tensor, noise: Tensor | None = None, *, masks: Tensor | None = None
    ) -> Tensor:
        """Outputs ``[N, C]``; without noise those of the network."""
        if noise is None:
            outputs: Tensor = super().forward(inputs, masks=masks)
            return outputs
        samples = len(inputs)
        units, shifts = noise.split([self._dropped(samples), self._shifted()])
        if self.dropout is not None:
            stays = units.view(self.units(samples)) >= self.dropout[0]
            masks = stays.to(noise.dtype) * self.dropout[1]
        params: Params = dict(self.named_parameters())
        if self.weight_noise is not None:
            parts = parameter_noise.split(shifts, params)
            params = {key: value + self.weight_noise * parts[key] for key, value in params.items()}
        return torch.func.functional_call(self, params, (inputs,), {"masks": masks})

    def _dropped(self, samples: int) -> int:
        return 0 if self.dropout is None else torch.Size(self.units(samples)).numel()

    def _shifted(self) -> int:
        if self.weight_noise is None:
            return 0
        return sum(parameter_noise.shape(dict(self.named_parameters())))
