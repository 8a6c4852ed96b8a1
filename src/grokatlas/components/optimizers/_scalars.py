"""Hyperparameters that are plain numbers, or zero-dimensional tensors of a member."""

from torch import Tensor

from grokatlas.engine.contracts import Hyperparameter


def is_zero(value: Hyperparameter) -> bool:
    """True for a hyperparameter that is the number 0, so that its term can be left out."""
    return not isinstance(value, Tensor) and value == 0


def double(value: Hyperparameter) -> Hyperparameter:
    """A hyperparameter in float64, as which ``torch.optim`` computes with scalars."""
    return value.double() if isinstance(value, Tensor) else value


def as_weight(value: Hyperparameter, like: Tensor) -> Hyperparameter:
    """A hyperparameter as the weight of `torch.lerp`, which wants the numbers' own dtype."""
    return value.to(like.dtype) if isinstance(value, Tensor) else value
