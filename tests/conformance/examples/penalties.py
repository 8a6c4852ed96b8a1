"""The gradient of every penalty in closed form."""

from typing import Any

import torch

from grokatlas import registry

from . import entry

DEEP_MLP = registry.keywords(entry("model", "mlp/deep"))


def _l1(penalty: Any, params: dict, model: Any, inputs: Any, weight: float) -> dict:
    return {key: weight * value.sign() for key, value in params.items()}


def _l2(penalty: Any, params: dict, model: Any, inputs: Any, weight: float, squared: bool) -> dict:
    norms = {key: value.square().sum().sqrt() for key, value in params.items()}
    return {k: weight * (2 * v if squared else v / norms[k]) for k, v in params.items()}


def _nuclear(penalty: Any, params: dict, model: Any, inputs: Any, weight: float) -> dict:
    gradients = {key: torch.zeros_like(value) for key, value in params.items()}
    for key, value in params.items():
        if value.ndim == 2:
            left, _, right = torch.linalg.svd(value, full_matrices=False)
            gradients[key] = weight * left @ right
    return gradients


def _squares(penalty: Any, params: dict, inputs: Any) -> tuple[torch.Tensor, dict]:
    """``s_n`` of `DEEP_MLP` and its derivatives by parameter ``[N, ...]``, by hand.

    With ``J = c W_3 D_2 W_2 D_1 W_1`` (D masks) and ``u = v^T J`` the derivative of ``|u|^2`` by
    ``W_l`` is twice the outer product of what ``v`` is before ``W_l``, going back, and of what
    ``u`` is behind ``W_(l-1)``, going forward. Biases have none.
    """
    first, second, third = (params[f"layers.{k}.weight"] for k in range(3))
    hidden = inputs.flatten(1) @ first.T + params["layers.0.bias"]
    mask1 = (hidden > 0).to(hidden.dtype)
    mask2 = ((hidden * mask1) @ second.T + params["layers.1.bias"] > 0).to(hidden.dtype)
    outputs, samples = len(third), len(inputs)
    if hasattr(penalty, "noise_shape"):
        generator = torch.Generator().manual_seed(0)  # as the conformance tests draw it
        shape = penalty.noise_shape(tuple(inputs.shape), (samples, outputs))
        noise = torch.randn(shape, generator=generator, dtype=hidden.dtype)
        directions = noise / torch.linalg.vector_norm(noise, dim=-1, keepdim=True)
        directions = directions * (outputs / len(directions)) ** 0.5
    else:
        directions = torch.eye(outputs, dtype=hidden.dtype)[:, None].expand(-1, samples, -1)
    back3 = DEEP_MLP["output_scale"] * directions  # [K, N, C]
    back2 = (back3 @ third) * mask2
    back1 = (back2 @ second) * mask1
    rows = back1 @ first
    ahead1 = (rows @ first.T) * mask1
    ahead2 = (ahead1 @ second.T) * mask2
    gradients = {key: value.new_zeros(samples, *value.shape) for key, value in params.items()}
    for layer, (back, ahead) in enumerate([(back1, rows), (back2, ahead1), (back3, ahead2)]):
        gradients[f"layers.{layer}.weight"] = 2 * torch.einsum("kno,kni->noi", back, ahead)
    return rows.square().sum((0, 2)), gradients


def _mean(values: dict, factors: torch.Tensor) -> dict:
    return {key: torch.einsum("n,n...->...", factors, v) for key, v in values.items()}


def _jacobian(
    penalty: Any,
    params: dict,
    model: Any,
    inputs: Any,
    weight: float,
    form: str,
    projections: int | None,
) -> dict:
    squares, gradients = _squares(penalty, params, inputs)
    slope = 1 / (2 * squares.sqrt()) if form == "norm" else torch.full_like(squares, 0.5)
    return _mean(gradients, weight * slope / len(squares))


def _jacobian_level(
    penalty: Any,
    params: dict,
    model: Any,
    inputs: Any,
    weight: float,
    level: float,
    projections: int | None,
) -> dict:
    squares, gradients = _squares(penalty, params, inputs)
    sign = (squares.sqrt().mean() - level).sign()
    return _mean(gradients, sign * weight / (2 * squares.sqrt() * len(squares)))


# penalty -> gradients by parameter in closed form, from its `build`'s object, parameters, the model
# (an MLP), inputs and keywords
GRADIENTS = {
    "jacobian": _jacobian,
    "jacobian_level": _jacobian_level,
    "l1": _l1,
    "l2": _l2,
    "nuclear": _nuclear,
}
