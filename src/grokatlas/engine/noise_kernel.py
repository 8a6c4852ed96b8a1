"""The noise of `engine.noise` by one kernel of Triton, with the same bits.

A draw by `engine.philox` is about 350 tensor operations. Each of them is fast on a GPU; starting it
is not. PyTorch's builds for CUDA bring Triton, by which all of them are one kernel.

The kernel has the operations of `engine.philox` in their order: products of 32-bit words, and sums,
products, quotients and roots of float32 that IEEE 754 rounds correctly. ``enable_fp_fusion=False``
forbids the compiler to contract a product and a sum. The root is that of float32, which rounds as
the root of float64 followed by a rounding to float32 does.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from grokatlas.engine import philox

BLOCK = 256  # counters of one program of the kernel

ROUNDS = tl.constexpr(philox.ROUNDS)
FIRST, SECOND = (tl.constexpr(factor + (1 << 32)) for factor in philox.MULTIPLIERS)
WEYL_FIRST, WEYL_SECOND = (tl.constexpr(step) for step in philox.WEYL)
HALF_WORD = tl.constexpr(1 << 31)
TURN = tl.constexpr(2 / philox.UNIT)
UNIT, EXPONENT = tl.constexpr(philox.UNIT), tl.constexpr(philox.EXPONENT)
ROOT_HALF, LOG_OF_TWO = tl.constexpr(philox.ROOT_HALF), tl.constexpr(philox.LOG_OF_TWO)
LOG_0, LOG_1, LOG_2, LOG_3 = (tl.constexpr(value) for value in philox.LOG)
SINE_0, SINE_1, SINE_2 = (tl.constexpr(value) for value in philox.SINE)
COSINE_0, COSINE_1, COSINE_2 = (tl.constexpr(value) for value in philox.COSINE)


def standard_normal(
    seeds: Tensor, stream: int, steps: Tensor, size: int, dtype: torch.dtype
) -> Tensor:
    """The noise ``[K, M, size]`` of steps ``[K]`` and seeds ``[M]``, on their device.

    Args:
        seeds: int64, from 0 to 2^32 - 1.
        stream: the second word of the key.
        steps: int64, 0 or more.
        size: numbers of one member and step.
        dtype: float32 or float64.
    """
    drawn = torch.empty(len(steps), len(seeds), size, dtype=dtype, device=seeds.device)
    counters = triton.cdiv(size, 4)
    blocks = triton.cdiv(counters, BLOCK)
    grid = (drawn.shape[0] * drawn.shape[1] * blocks,)
    if grid[0]:
        arguments = (drawn, seeds.contiguous(), steps.contiguous(), stream, len(seeds), size)
        _kernel[grid](*arguments, blocks, width=BLOCK, enable_fp_fusion=False)
    return drawn


@triton.jit
def _kernel(drawn, seeds, steps, stream, members, size, blocks, width: tl.constexpr):
    program = tl.program_id(0)
    row = program // blocks
    step = tl.load(steps + row // members)
    place = (program % blocks) * width + tl.arange(0, width)
    first = place.to(tl.uint32)
    second = tl.zeros_like(first)
    third = second + step.to(tl.uint32)
    fourth = second + (step >> 32).to(tl.uint32)
    key = second + tl.load(seeds + row % members).to(tl.uint32)
    other = second + stream.to(tl.uint32)
    first_factor, second_factor = (second + FIRST).to(tl.uint32), (second + SECOND).to(tl.uint32)
    for _ in tl.static_range(ROUNDS):
        high, low = tl.umulhi(third, second_factor), third * second_factor
        other_high, other_low = tl.umulhi(first, first_factor), first * first_factor
        first, third = high ^ second ^ key, other_high ^ fourth ^ other
        second, fourth = low, other_low
        key, other = (key + WEYL_FIRST).to(tl.uint32), (other + WEYL_SECOND).to(tl.uint32)
    one, two = _pair(first, second)
    three, four = _pair(third, fourth)
    start = drawn + row.to(tl.int64) * size
    index = place.to(tl.int64) * 4
    dtype = drawn.dtype.element_ty
    tl.store(start + index, one.to(dtype), mask=index < size)
    tl.store(start + index + 1, two.to(dtype), mask=index + 1 < size)
    tl.store(start + index + 2, three.to(dtype), mask=index + 2 < size)
    tl.store(start + index + 3, four.to(dtype), mask=index + 3 < size)


@triton.jit
def _pair(word, other):
    """Two normal numbers of two words, as `philox.normal`."""
    distance = _distance(word.to(tl.float32) + 0.5)
    turn = (other ^ HALF_WORD).to(tl.int32, bitcast=True).to(tl.float32) * TURN
    square = turn * turn
    sine = ((square * SINE_2 + SINE_1) * square + SINE_0) * turn
    cosine = (square * COSINE_2 + COSINE_1) * square + COSINE_0
    both = sine * cosine
    sine, cosine = sine * sine, cosine * cosine
    distance = tl.div_rn(distance, sine + cosine)
    return (cosine - sine) * distance, both * (distance * 2)


@triton.jit
def _distance(value):
    """``sqrt(-2 ln(value / UNIT))``, as `philox._distance`."""
    bits = value.to(tl.int32, bitcast=True)
    power = (bits - ROOT_HALF) & -EXPONENT
    factor = (bits - power).to(tl.float32, bitcast=True)
    ratio = tl.div_rn(factor - UNIT, factor + UNIT)
    square = ratio * ratio
    rest = (((square * LOG_3 + LOG_2) * square + LOG_1) * square + LOG_0) * ratio
    return tl.sqrt_rn(power.to(tl.float32) * LOG_OF_TWO + rest)
