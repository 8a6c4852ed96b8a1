"""Standard normal noise of all members by one set of tensor operations, without generators.

A number is a function of a member's seed, a block's path, a step and the number's place in the
block's noise, and of nothing else: there is no state to keep or to save. It is the same for a
member alone and in company, in a group of any size, after a resumption, in both precisions and on
every device.

Bits come from the counter-based generator Philox 4x32-10 (Salmon, Moraes, Dror & Shaw 2011, doi
10.1145/2063384.2063405), two words of 32 bits become two normal numbers by the transform of Box &
Muller (1958, doi 10.1214/aoms/1177706645).

Exact: integers fit into 64 bits with a sign. Normal numbers are computed in float32 by operations
that IEEE 754 rounds correctly (conversion, sum, difference, product, quotient), with rational
functions in place of the logarithm and the tangent, and with a root of float64 that is rounded to
float32. Each is an operation of torch's own, so that no device can contract two into one. A device
that follows IEEE 754 gives the same bits; a compiler that fuses operations may not. A run in
float64 gets the same numbers as one in float32.

Approximate: a number is within ``2e-6 + 1e-7 / r`` of the transform in exact arithmetic, with ``r``
the distance from zero of the pair that it is of, and never further from it than 3e-4 (where words
of 32 bits are rounded to the 24 of float32). None is beyond 6.77.
"""

import hashlib
from collections.abc import Iterator

import torch
from torch import Tensor

from grokatlas.engine.contracts import Shape

WORD = (1 << 32) - 1  # the largest word
MULTIPLIERS = (0xD2511F53 - (1 << 32), 0xCD9E8D57 - (1 << 32))  # less 2^32: see `_product`
WEYL = (0x9E3779B9, 0xBB67AE85)  # what the two halves of the key grow by, from round to round
ROUNDS = 10
# Counters at a time: on a CPU their words stay in its cache, elsewhere they take 0.2 GB.
CPU_CHUNK, CHUNK = 1 << 15, 1 << 21
AHEAD, MOST_STEPS = 1 << 17, 64  # numbers, and steps, of which noise is drawn at once

UNIT = 2.0**32  # one more than the largest word
EXPONENT = 1 << 23  # one unit of the exponent in the bits of a float32
ROOT_HALF = 0x3F3504F3 + 32 * EXPONENT  # the bits of sqrt(1/2) UNIT
# All of these are numbers of float32, so that no device rounds them.
LOG_OF_TWO = float.fromhex("-0x1.62e430p-23")  # -2 ln 2 / EXPONENT
# -2 ln((1 + s) / (1 - s)) = s (LOG[0] + LOG[1] s^2 + ...), relative error 7e-10
LOG = tuple(map(float.fromhex, ("-0x1p+2", "-0x1.555588p+0", "-0x1.9957acp-1", "-0x1.326cfep-1")))
# tan(pi y / 2) = y (SINE[0] + SINE[1] y^2 + ...) / (COSINE[0] + ...), error of the angle 5e-8
SINE = tuple(map(float.fromhex, ("0x1.921fb6p+0", "-0x1.bccd24p-2", "0x1.60fd02p-7")))
COSINE = tuple(map(float.fromhex, ("0x1p+0", "-0x1.1957f8p+0", "0x1.957f90p-4")))

Words = tuple[Tensor, Tensor, Tensor, Tensor]  # int64, from 0 to WORD


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
    rows = step.numel() * len(seeds)  # a row is of one step and member
    steps = step[..., None].expand(several).reshape(rows, 1)
    key = seeds.expand(several).reshape(rows, 1)
    other = int.from_bytes(hashlib.sha256(block.encode()).digest()[:4])
    size = torch.Size(shape).numel()
    counters = -(-size // 4)  # each gives four numbers, which are neighbours
    places = torch.arange(counters, device=seeds.device)
    most = CPU_CHUNK if seeds.device.type == "cpu" else CHUNK
    if rows * counters <= most:
        drawn = _drawn(places, steps, key, other).to(dtype)
    else:
        drawn = torch.empty(rows, counters, 4, dtype=dtype, device=seeds.device)
        for row, column in _chunks(rows, counters, most):
            drawn[row, column] = _drawn(places[column], steps[row], key[row], other)
    return drawn.view(rows, 4 * counters)[:, :size].reshape(*several, *shape)


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

    def at(self, block: str, step: int, shape: Shape) -> Tensor:
        """`standard_normal` of these members; it must not be overwritten."""
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

    def keep(self, indices: list[int]) -> None:
        """Go on with the members at these indices."""
        self.seeds = self.seeds[indices]
        self._drawn.clear()


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


def philox(counter: Words, key: tuple[Tensor, int]) -> Words:
    """Four random words for each counter and key, by Philox 4x32-10.

    Args:
        counter: four words, whose shapes are broadcast.
        key: two words; the first has a shape to broadcast too.
    """
    first, second, third, fourth = counter
    rounds = torch.arange(ROUNDS, device=key[0].device).view(-1, *[1] * key[0].ndim)
    keys = ((rounds * WEYL[0] + key[0]) & WORD).unbind()
    for number, key_of_round in enumerate(keys):
        high, low = _product(third, MULTIPLIERS[1])
        other_high, other_low = _product(first, MULTIPLIERS[0])
        # three rounds broadcast what they mix; then every word has the shape of the result
        xor = torch.bitwise_xor if number < 3 else Tensor.bitwise_xor_
        first = xor(xor(high, second), key_of_round)
        third = xor(xor(other_high, fourth), (key[1] + number * WEYL[1]) & WORD)
        second, fourth = low, other_low
    return first, second, third, fourth


def _product(word: Tensor, multiplier: int) -> tuple[Tensor, Tensor]:
    """The high and the low word of ``word * (multiplier + 2^32)``.

    The multiplier is negative and above -2^31, so that its product is above -2^63.
    """
    product = word * multiplier
    return (product >> 32).add_(word), product.bitwise_and_(WORD)


def normal(words: Words) -> Tensor:
    """Four standard normal numbers in float32 for four words, along a new last axis.

    Of two words ``a`` and ``b``, ``sqrt(-2 ln((a + 1/2) / 2^32))`` is the distance from zero and
    ``pi (b / 2^31 - 1)`` the angle of the point whose coordinates they are.
    """
    first, second, third, fourth = words
    distance = _distance(torch.stack([first, third]).to(torch.float32).add_(0.5))
    turn = torch.stack([second, fourth]).sub_(1 << 31).to(torch.float32).mul_(2 / UNIT)
    square = turn * turn
    sine, cosine = _polynomial(SINE, square).mul_(turn), _polynomial(COSINE, square)
    # of half the angle, and not of length 1
    both = sine * cosine
    sine, cosine = sine.mul_(sine), cosine.mul_(cosine)
    distance = distance.div_(sine + cosine)
    drawn = distance.new_empty(*first.shape, 2, 2)
    pairs = drawn.movedim(-2, 0)
    torch.mul(cosine.sub_(sine), distance, out=pairs[..., 0])
    torch.mul(both, distance.mul_(2), out=pairs[..., 1])
    return drawn.flatten(-2)


def _distance(values: Tensor) -> Tensor:
    """``sqrt(-2 ln(v / UNIT))`` of values ``v`` in (0, UNIT], which are overwritten.

    The logarithm is that of a power of two, and of a factor between ``sqrt(1/2)`` and ``sqrt(2)``.
    """
    bits = values.view(torch.int32)
    power = (bits - ROOT_HALF).bitwise_and_(-EXPONENT)
    factor = bits.sub_(power).view(torch.float32)  # times UNIT
    ratio = (factor - UNIT).div_(factor + UNIT)
    square = ratio * ratio
    rest = _polynomial(LOG, square).mul_(ratio)
    result = power.to(torch.float32).mul_(LOG_OF_TWO).add_(rest)
    # roots of a library may be off by a unit in the last place: of float64, rounding removes it
    return result.to(torch.float64).sqrt_().to(torch.float32)


def _polynomial(coefficients: tuple[float, ...], values: Tensor) -> Tensor:
    """By Horner's rule, the constant first."""
    *others, before, last = coefficients
    result = (values * last).add_(before)
    for coefficient in reversed(others):
        result = result.mul_(values).add_(coefficient)
    return result
