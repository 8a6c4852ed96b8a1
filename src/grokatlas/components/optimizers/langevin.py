"""Langevin dynamics: gradient descent with noise on the updates."""

from torch import Tensor

from grokatlas.engine import parameter_noise
from grokatlas.engine.contracts import Hyperparameter, Optimizer, Params, Shape, Tree
from grokatlas.engine.keyword_types import NonNegative, Positive
from grokatlas.engine.noise_contracts import NoisyOptimizer


class Langevin:
    """``params <- params - lr * grads + sqrt(2 lr temperature) * e``, ``e ~ N(0, 1)``.

    Without noise it is gradient descent. A link of `updates` that scales the step by a factor, such
    as `schedule`, scales the noise too: the temperature is the factor times `temperature` then.
    """

    def __init__(
        self, lr: Hyperparameter, temperature: Hyperparameter, noise: Tensor | None = None
    ) -> None:
        self.lr = lr
        self.temperature = temperature
        self.noise = noise

    def init(self, params: Params) -> Tree:
        """No state."""
        return {}

    def noise_shape(self, params: Params) -> Shape:
        """One number for each entry of the parameters."""
        return parameter_noise.shape(params)

    def given(self, noise: Tensor) -> Optimizer[Tree]:
        """The optimizer of one step."""
        return Langevin(self.lr, self.temperature, noise)

    def update(self, params: Params, grads: Params, state: Tree) -> tuple[Params, Tree]:
        """The parameters after one step."""
        moved = {key: value - self.lr * grads[key] for key, value in params.items()}
        if self.noise is not None:
            std = (2 * self.lr * self.temperature) ** 0.5
            parts = parameter_noise.split(self.noise, params)
            moved = {key: value + std * parts[key] for key, value in moved.items()}
        return moved, state


def build(*, lr: Positive, temperature: NonNegative) -> NoisyOptimizer[Tree]:
    """Stochastic gradient Langevin dynamics (Welling & Teh 2011), without their preconditioner.

    Args:
        lr: step size.
        temperature: of the stationary density ``exp(-objective / temperature)``, which small steps
            of the full batch have.
    """
    return Langevin(lr, temperature)


def noise(parameters: int, samples: int, **_: object) -> int:
    """Numbers of noise in a step of one member (docs/extending.md)."""
    return parameters
