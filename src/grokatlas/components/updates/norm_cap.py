"""Weights of bounded norm."""

import torch

from grokatlas.engine import moving
from grokatlas.engine.contracts import Hyperparameter, Params, Tree
from grokatlas.engine.keyword_types import Positive
from grokatlas.engine.update_link import UpdateLink

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing


class NormCap:
    """``p' <- p' * min(1, max_norm / |p'|_2)``, ``|p'|_2`` over the parameters chosen together."""

    def __init__(self, max_norm: Hyperparameter, parameters: list[str]) -> None:
        self.max_norm = max_norm
        self.parameters = parameters

    def init(self, params: Params) -> Tree:
        """No state.

        Raises:
            ValueError: a pattern matches no parameter.
        """
        moving.names(self.parameters, list(params), "parameters")
        return {}

    def update(self, before: Params, after: Params, state: Tree) -> tuple[Params, Tree]:
        """The parameters after the step, scaled down if they are too long."""
        keys = moving.names(self.parameters, list(after), "parameters")
        norm = torch.stack([after[key].square().sum() for key in keys]).sum().sqrt()
        factor = (self.max_norm / norm).clamp(max=1.0)  # 1 at a norm of 0
        return {**after, **{key: factor * after[key] for key in keys}}, state


def build(*, max_norm: Positive, parameters: list[str]) -> UpdateLink[Tree]:
    """Weights of Euclidean norm at most `max_norm` after every step.

    The initial weights stay as they are. A bound for each of several parameters is a link for each.

    Args:
        max_norm: the bound.
        parameters: names, or patterns such as ``*.weight``; ``*`` is all of them, as one vector.
    """
    return NormCap(max_norm, parameters)
