"""Optimizer steps in one pass over memory, by torch's fused kernels, as pure operations.

A kernel writes over its arguments. The operation here copies them first, so that a program that
uses it stays pure and can be mapped and traced. A trace then has `IN_PLACE` instead, and copies
only what is needed afterwards.
"""

from typing import Any

import torch
from torch import Tensor

Tensors = list[Tensor]


def adam_(
    params: Tensors, grads: Tensors, first: Tensors, second: Tensors, step: Tensor, *rates: float
) -> Tensors:
    """`adam`, written over `params`, `first` and `second`, which must be contiguous."""
    lr, beta1, beta2, eps = rates
    counts = [step.to(torch.float32)] * len(params)
    torch._fused_adam_(
        *(params, [grad.contiguous() for grad in grads], first, second, [], counts),
        lr=lr,
        beta1=beta1,
        beta2=beta2,
        eps=eps,
        weight_decay=0.0,
        amsgrad=False,
        maximize=False,
    )
    return [*params, *first, *second]


@torch.library.custom_op("grokatlas::adam", mutates_args=())
def adam(
    params: Tensors,
    grads: Tensors,
    first: Tensors,
    second: Tensors,
    step: Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
) -> Tensors:
    """A step of Adam without weight decay, of many tensors at once.

    Args:
        params: tensors of one dtype.
        grads: of the same shapes, as the next two.
        first: first moments.
        second: second moments.
        step: number of this step, from 1; ``[]``.
        lr: step size.
        beta1: decay rate of the first moment.
        beta2: decay rate of the second moment.
        eps: added outside the root.

    Returns:
        parameters, first and second moments after the step, one after the other.
    """
    own = [[_copy(tensor) for tensor in given] for given in (params, first, second)]
    return adam_(own[0], grads, own[1], own[2], step, lr, beta1, beta2, eps)


@adam.register_fake
def _(
    params: Tensors, grads: Tensors, first: Tensors, second: Tensors, *rest: Any, **rates: float
) -> Tensors:
    return [_copy(tensor) for tensor in (*params, *first, *second)]


@adam.register_vmap
def _(info: Any, dims: tuple[Any, ...], *arguments: Any) -> tuple[Tensors, list[int]]:
    """Members have taken the same number of steps; entry by entry, their stacks move as one."""
    lists = [
        [_in_front(tensor, axis, info.batch_size) for tensor, axis in zip(given, axes, strict=True)]
        for given, axes in zip(arguments[:4], dims[:4], strict=True)
    ]
    step = arguments[4] if dims[4] is None else arguments[4].select(dims[4], 0)
    moved = adam(*lists, step, *arguments[5:])
    return moved, [0] * len(moved)


def _in_front(tensor: Tensor, axis: int | None, members: int) -> Tensor:
    """A tensor with its member axis first."""
    return tensor.expand(members, *tensor.shape) if axis is None else tensor.movedim(axis, 0)


def _copy(tensor: Tensor) -> Tensor:
    return tensor.clone(memory_format=torch.contiguous_format)


# pure operation: its form in place, and which arguments that writes over, in the order of results
IN_PLACE = {torch.ops.grokatlas.adam.default: (adam_, (0, 2, 3))}
