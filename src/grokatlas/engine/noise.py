"""Standard normal noise of all members at once, without generators.

A number is a function of a member's seed, a block's path, a step and the number's place in the
block's noise, and of nothing else: there is no state to keep or to save. It is the same for a
member alone and in company, in a group of any size, after a resumption, in both precisions and on
every device.

`engine.philox` makes the numbers, by operations that every device rounds alike;
`engine.noise_kernel` does the same on a GPU, as one kernel. A run in float64 gets the numbers of a
run in float32.
"""

import functools
import hashlib
from collections.abc import Iterator
from types import ModuleType

import torch
from torch import Tensor

from grokatlas.engine.contracts import Noise, Shape
from grokatlas.engine.philox import WORD, normal, philox

# Counters at a time: on a CPU their words stay in its cache, elsewhere they take 0.2 GB.
CPU_CHUNK, CHUNK = 1 << 15, 1 << 21
AHEAD, MOST_STEPS = 1 << 17, 64  # numbers, and steps, of which noise is drawn at once


def standard_normal(
    seeds: Tensor, block: str, step: int | Tensor, shape: Shape, dtype: torch.dtype
) -> Tensor:
    """The noise ``[M, *shape]`` of one block of all members at one step, where `seeds` are.

    Args:
        seeds: one for each member, int64 ``[M]``, from 0 to 2^32 - 1.
        block: its path, such as ``penalties.0``; every block has a stream of its own.
        step: 0 or more. As an int64 tensor ``[]`` on the device of `seeds` it is never read here;
            of many steps ``[K]`` the noise is ``[K, M, *shape]``.
        shape: of one member's noise; at most 2^34 numbers.
        dtype: of the result.
    """
    if isinstance(step, int):
        step = torch.full((), step, device=seeds.device)  # made there: nothing is copied
    several = (*step.shape, len(seeds))
    stream = int.from_bytes(hashlib.sha256(block.encode()).digest()[:4])
    size = torch.Size(shape).numel()
    kernel = _kernel(seeds.device)
    if kernel is not None:
        drawn = kernel.standard_normal(seeds, stream, step.reshape(-1), size, dtype)
    else:
        drawn = _by_operations(seeds, stream, step, size, dtype)
    return drawn.reshape(*several, *shape)


def source(seeds: Tensor, dtype: torch.dtype) -> "Ahead | InStep":
    """The noise of members, drawn within their step if one kernel draws it, else before."""
    return Ahead(seeds, dtype) if _kernel(seeds.device) is None else InStep(seeds, dtype)


class InStep:
    """The noise of some members, drawn within a step: a recorded step draws its own.

    Args:
        seeds: one for each member ``[M]``.
        dtype: of the noise.
    """

    def __init__(self, seeds: Tensor, dtype: torch.dtype) -> None:
        self.seeds = seeds
        self.dtype = dtype

    def before(self, step: int, shapes: dict[str, Shape]) -> Noise:
        """The number of the step, for each block."""
        number = torch.full((), step, device=self.seeds.device)
        return dict.fromkeys(shapes, number)

    def within(self, given: Noise, shapes: dict[str, Shape]) -> Noise:
        """The noise ``[M, ...]`` of each block, from what `before` gave."""
        return {
            block: standard_normal(self.seeds, block, given[block], shape, self.dtype)
            for block, shape in shapes.items()
        }

    def keep(self, indices: list[int]) -> None:
        """Go on with the members at these indices."""
        self.seeds = self.seeds[indices]


class Ahead:
    """The noise of some members, step after step: of many steps by one call where they are small.

    Nothing depends on how many steps are drawn at once, and nothing has to be saved.

    Args:
        seeds: one for each member ``[M]``.
        dtype: of the noise.
    """

    def __init__(self, seeds: Tensor, dtype: torch.dtype) -> None:
        self.seeds = seeds
        self.dtype = dtype
        self._drawn: dict[tuple[str, Shape], tuple[int, Tensor]] = {}  # first step, [K, M, ...]

    def before(self, step: int, shapes: dict[str, Shape]) -> Noise:
        """The noise ``[M, ...]`` of each block at a step; it must not be overwritten."""
        return {block: self._at(block, step, shape) for block, shape in shapes.items()}

    def within(self, given: Noise, shapes: dict[str, Shape]) -> Noise:
        """The result of `before`."""
        return given

    def keep(self, indices: list[int]) -> None:
        """Go on with the members at these indices."""
        self.seeds = self.seeds[indices]
        self._drawn.clear()

    def _at(self, block: str, step: int, shape: Shape) -> Tensor:
        size = len(self.seeds) * torch.Size(shape).numel()
        count = min(MOST_STEPS, AHEAD // max(size, 1))
        if count <= 1:
            return standard_normal(self.seeds, block, step, shape, self.dtype)
        first, drawn = self._drawn.get((block, shape), (0, self.seeds[:0]))
        if not first <= step < first + len(drawn):
            steps = torch.arange(step, step + count, device=self.seeds.device)
            first, drawn = step, standard_normal(self.seeds, block, steps, shape, self.dtype)
            self._drawn[block, shape] = first, drawn
        return drawn[step - first]


@functools.cache
def _kernel(device: torch.device) -> ModuleType | None:
    """`engine.noise_kernel` on a GPU, where PyTorch brings Triton; else None."""
    if device.type != "cuda":
        return None
    try:
        from grokatlas.engine import noise_kernel
    except ImportError:
        return None
    return noise_kernel


def _by_operations(
    seeds: Tensor, stream: int, step: Tensor, size: int, dtype: torch.dtype
) -> Tensor:
    """The noise ``[R, size]`` of all steps and seeds by tensor operations."""
    several = (*step.shape, len(seeds))
    rows = step.numel() * len(seeds)  # a row is of one step and member
    steps = step[..., None].expand(several).reshape(rows, 1)
    key = seeds.expand(several).reshape(rows, 1)
    counters = -(-size // 4)  # each gives four numbers, which are neighbours
    places = torch.arange(counters, device=seeds.device)
    most = CPU_CHUNK if seeds.device.type == "cpu" else CHUNK
    if rows * counters <= most:
        drawn = _drawn(places, steps, key, stream).to(dtype)
    else:
        drawn = torch.empty(rows, counters, 4, dtype=dtype, device=seeds.device)
        for row, column in _chunks(rows, counters, most):
            drawn[row, column] = _drawn(places[column], steps[row], key[row], stream)
    return drawn.view(rows, 4 * counters)[:, :size]


def _chunks(rows: int, counters: int, most: int) -> Iterator[tuple[slice, slice]]:
    """Parts of ``[R, Q]`` of at most so many counters; those of a row are nearly equal."""
    columns = -(-counters // -(-counters // most))
    height = most // columns
    for row in range(0, rows, height):
        for column in range(0, counters, columns):
            yield slice(row, row + height), slice(column, column + columns)


def _drawn(places: Tensor, steps: Tensor, key: Tensor, other: int) -> Tensor:
    """``[R, Q, 4]`` of places ``[Q]``, and of steps and seeds ``[R, 1]``."""
    counter = (places, torch.zeros_like(places[:1]), steps & WORD, steps >> 32)
    return normal(philox(counter, (key, other)))
