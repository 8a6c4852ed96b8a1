"""A parameter that learns at a rate of its own."""

from grokatlas.engine.contracts import GradientLink, Hyperparameter, Params, Tree
from grokatlas.engine.keyword_types import Positive

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing


class Scale:
    """The gradient of one parameter multiplied by a factor."""

    def __init__(self, parameter: str, factor: Hyperparameter) -> None:
        self.parameter = parameter
        self.factor = factor

    def init(self, params: Params) -> Tree:
        """No state.

        Raises:
            ValueError: the model has no such parameter.
        """
        if self.parameter not in params:
            allowed = ", ".join(params)
            raise ValueError(f"no parameter {self.parameter!r} to scale; one of {allowed}")
        return {}

    def update(self, params: Params, grads: Params, state: Tree) -> tuple[Params, Tree]:
        """The gradients, one of them scaled."""
        return grads | {self.parameter: self.factor * grads[self.parameter]}, state


def build(*, parameter: str, factor: Positive) -> GradientLink[Tree]:
    """``factor * gradient`` for one parameter: gradient descent with a step size of its own.

    Args:
        parameter: its name.
        factor: its step size over that of the others. The gradient holds the penalties, so the
            points where training rests stay where they are.
    """
    return Scale(parameter, factor)
