"""Standard normal numbers of 32-bit words, and the words of a counter.

Bits come from the counter-based generator Philox 4x32-10 (Salmon, Moraes, Dror & Shaw 2011, doi
10.1145/2063384.2063405), two words of 32 bits become two normal numbers by the transform of Box &
Muller (1958, doi 10.1214/aoms/1177706645).

Exact: integers fit into 64 bits with a sign. Normal numbers are computed in float32 by operations
that IEEE 754 rounds correctly (conversion, sum, difference, product, quotient), with rational
functions in place of the logarithm and the tangent, and with a root of float64 that is rounded to
float32. Each is an operation of torch's own, so that no device can contract two into one. A device
that follows IEEE 754 gives the same bits; a compiler that fuses operations may not.

Approximate: a number is within ``2e-6 + 1e-7 / r`` of the transform in exact arithmetic, with ``r``
the distance from zero of the pair that it is of, and never further from it than 3e-4 (where words
of 32 bits are rounded to the 24 of float32). None is beyond 6.77.

`engine.noise_kernel` is the same as one kernel, with the numbers below.
"""

import torch
from torch import Tensor

WORD = (1 << 32) - 1  # the largest word
MULTIPLIERS = (0xD2511F53 - (1 << 32), 0xCD9E8D57 - (1 << 32))  # less 2^32: see `_product`
WEYL = (0x9E3779B9, 0xBB67AE85)  # what the two halves of the key grow by, from round to round
ROUNDS = 10

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
