"""Weight decay of parameters by name, towards zero or towards the initial weights."""

from typing import Any, Literal, TypedDict

from grokatlas.engine import moving
from grokatlas.engine.contracts import Hyperparameter, Params
from grokatlas.engine.keyword_types import NonNegative
from grokatlas.engine.update_link import UpdateLink

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing


class Origin(TypedDict):
    """The state: the initial weights of the parameters that decay towards them, else nothing."""

    initial: Params


class WeightDecay:
    """``p' - rate (p - origin)`` in place of ``p'``; ``p`` are the parameters before the step."""

    def __init__(self, rate: Hyperparameter, parameters: list[str], to_initial: bool) -> None:
        self.rate = rate
        self.parameters = parameters
        self.to_initial = to_initial

    def init(self, params: Params) -> Origin:
        """The initial weights, where they are the origin.

        Raises:
            ValueError: a pattern matches no parameter.
        """
        keys = moving.names(self.parameters, list(params), "parameters")
        return {"initial": {key: params[key] for key in keys if self.to_initial}}

    def update(self, before: Params, after: Params, state: Origin) -> tuple[Params, Origin]:
        """The parameters after the step, some of them closer to the origin, and the state."""
        decayed = dict(after)
        for key in moving.names(self.parameters, list(before), "parameters"):
            origin = state["initial"].get(key)
            distance = before[key] if origin is None else before[key] - origin
            decayed[key] = after[key] - self.rate * distance
        return decayed, state


def build(
    *, rate: NonNegative, parameters: list[str], towards: Literal["zero", "initial"]
) -> UpdateLink[Origin]:
    """Decoupled weight decay (Loshchilov & Hutter 2019), whatever the optimizer.

    A link of `updates` that follows, such as a schedule, scales it as the rest of the step; one
    before does not. Groups of parameters with rates of their own are a link for each.

    Args:
        rate: share of the distance to the origin that a step removes: ``lr * weight_decay`` of
            ``torch.optim.AdamW``.
        parameters: names, or patterns such as ``*.bias``; ``*`` is all.
        towards: the origin: ``zero``, or the ``initial`` weights of the run.
    """
    return WeightDecay(rate, parameters, towards == "initial")


def kept(*, towards: str, **_: Any) -> int:
    """Copies of the parameters in the state (docs/extending.md), at most."""
    return 1 if towards == "initial" else 0
