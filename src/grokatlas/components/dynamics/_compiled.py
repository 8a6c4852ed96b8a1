"""Loops over many steps, compiled by numba: one member after another, spread over threads.

A member is computed by the same instructions whoever else is there and whichever thread does it,
and a loop keeps nothing between steps but the state. So a result depends neither on the number of
threads and members nor on how a stretch of steps is cut. ``reassoc`` and ``contract`` let sums be
taken in lanes and products be fused: in an order fixed when the loop is compiled for the machine.
"""

import functools
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from grokatlas.engine.contracts import Params, PerMember

try:
    import numba
except ImportError:  # a bare node
    numba = None  # type: ignore[assignment]  # a module or None, which the import cannot say


Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled(loop: Loop) -> Loop:
    """A function compiled at its first call; as it is where numba is absent."""
    if numba is None:
        return loop
    fast = {"reassoc", "contract", "nsz"}
    # what numba returns is called as the loop is
    return numba.njit(nogil=True, error_model="numpy", fastmath=fast)(loop)  # type: ignore[return-value]


def usable(device: torch.device) -> bool:
    """True where compiled loops can run; says once on stderr if only numba is missing."""
    if device.type != "cpu":
        return False
    if numba is None:
        _warn()
    return numba is not None


@functools.cache
def _warn() -> None:
    text = "grokatlas: numba is not installed: the same steps are taken one by one, much slower"
    print(text, file=sys.stderr)


def each_member(work: Callable[[int], None], members: int) -> None:
    """Call `work` with every member's place, on as many threads as torch may use."""
    with ThreadPoolExecutor(min(torch.get_num_threads(), members)) as pool:
        list(pool.map(work, range(members)))


def numbers(keyword: PerMember, like: Tensor) -> np.ndarray:
    """A keyword, one number or ``[M]``, as an array ``[M]`` like ``[M, ...]``."""
    value = torch.as_tensor(keyword, dtype=like.dtype, device=like.device)
    return value.expand(len(like)).numpy()


def broadcast(keyword: PerMember, like: Tensor) -> Tensor:
    """A keyword, one number or ``[M]``, shaped to multiply ``like [M, ...]``."""
    if not isinstance(keyword, Tensor):  # made where it is used: a GPU would wait for a transfer
        return torch.full((), keyword, dtype=like.dtype, device=like.device)
    value = keyword.to(dtype=like.dtype, device=like.device)
    return value.reshape(-1, *[1] * (like.ndim - 1)) if value.ndim else value


def only_parameter(params: Params, dynamics: str, shape: str) -> Tensor:
    """The one parameter of a model, which must be a matrix.

    Raises:
        ValueError: the model has another set of parameters.
    """
    values = list(params.values())
    if len(values) != 1 or values[0].ndim != 2 or (shape == "[1, D]" and len(values[0]) != 1):
        shapes = {key: list(value.shape) for key, value in params.items()}
        raise ValueError(f"{dynamics} needs a model with one parameter {shape}, not {shapes}")
    return values[0]


def real(targets: Tensor, dynamics: str) -> Tensor:
    """Targets ``[..., N, 1]`` as ``[..., N]``.

    Raises:
        ValueError: they are labels, or there is more than one for each sample.
    """
    if not targets.is_floating_point() or targets.shape[-1] != 1:
        raise ValueError(f"{dynamics} needs a task with one real target for each sample")
    return targets[..., 0]
