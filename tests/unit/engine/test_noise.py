"""Noise by counters: the published generator, the normal law, and nothing else that counts."""

import hashlib
import os
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
import torch
from scipy import stats
from torch.fx.experimental.proxy_tensor import make_fx

from grokatlas.engine import noise
from grokatlas.engine import philox as words
from grokatlas.engine.noise import standard_normal
from grokatlas.engine.philox import normal, philox
from tests.tiers import every

WORDS = [0, 1, 2, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF]
SEEDS = torch.tensor([5, 0, 2**32 - 1])
LARGE = 200_000  # numbers of one member for the law


def _draw(seeds=SEEDS, block="penalties.0", step=3, shape=(7, 3), dtype=torch.float64):
    return standard_normal(seeds, block, step, shape, dtype)


def _words(*values):
    return tuple(torch.tensor(value) for value in values)


# The files kat_vectors of Random123 1.14: counter, key, result
@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ("00000000 " * 4, "00000000 " * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff " * 4, "ffffffff " * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            "243f6a88 85a308d3 13198a2e 03707344",
            "a4093822 299f31d0",
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_bits_are_those_of_the_published_generator(counter, key, expected):
    counter, key, expected = (
        [int(word, 16) for word in text.split()] for text in (counter, key, expected)
    )
    found = philox(_words(*counter), (torch.tensor(key[0]), key[1]))
    assert [int(word) for word in found] == expected


def _philox_of_whole_numbers(counter, key):
    for _ in range(10):
        first, third = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        high, other = third >> 32 ^ counter[1] ^ key[0], first >> 32 ^ counter[3] ^ key[1]
        counter = [high, third & 0xFFFFFFFF, other, first & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def test_words_are_those_of_numbers_without_bounds():
    random = np.random.default_rng(0)
    rows = [*random.integers(0, 2**32, (200, 6)).tolist(), *random.choice(WORDS, (200, 6)).tolist()]
    for *counter, seed, other in rows:
        found = philox(_words(*counter), (torch.tensor(seed), other))
        assert [int(word) for word in found] == _philox_of_whole_numbers(counter, [seed, other])


@pytest.mark.parametrize("wide", range(4))
def test_the_shapes_of_a_counter_are_broadcast(wide):
    counter = [torch.tensor(5), torch.tensor(6), torch.tensor(7), torch.tensor(8)]
    counter[wide] = torch.arange(5)
    key = (torch.arange(3).view(3, 1), 7)
    whole = tuple(word.expand(3, 5).contiguous() for word in counter)
    for found, expected in zip(philox(tuple(counter), key), philox(whole, key), strict=True):
        assert torch.equal(found, expected)


def _pairs():
    """Words at all ends of their range and elsewhere, ``[N]`` each."""
    random = np.random.default_rng(1)
    near = [2**k + d for k in range(33) for d in (-1, 0, 1) if 0 <= 2**k + d < 2**32]
    near += [2**32 - 8 * k for k in range(1, 100)]  # whose float32 is far from them, for a root
    ends = [(a, b) for a in near for b in near]
    return np.concatenate([np.array(ends), random.integers(0, 2**32, (200_000, 2))]).T


def _numpy_normal(first, second):
    """The same operations, each rounded to float32 by NumPy."""
    single = np.float32

    def polynomial(coefficients, values):
        result = single(coefficients[-1])
        for coefficient in coefficients[-2::-1]:
            result = result * values + single(coefficient)
        return result

    values = first.astype(single) + single(0.5)
    bits = values.view(np.int32)
    power = (bits - np.int32(words.ROOT_HALF)) & np.int32(-(1 << 23))
    factor = (bits - power).view(single)
    ratio = (factor - single(2.0**32)) / (factor + single(2.0**32))
    rest = polynomial(words.LOG, ratio * ratio) * ratio
    distance = np.sqrt(power.astype(single) * single(words.LOG_OF_TWO) + rest)
    turn = (second - 2**31).astype(single) * single(2.0**-31)
    sine = polynomial(words.SINE, turn * turn) * turn
    cosine = polynomial(words.COSINE, turn * turn)
    distance = distance / (sine * sine + cosine * cosine)
    both = sine * cosine * (distance * single(2))
    return np.stack([(cosine * cosine - sine * sine) * distance, both], -1)


def test_numbers_are_those_of_correctly_rounded_operations():
    first, second = _pairs()
    found = normal(tuple(map(torch.from_numpy, (first, second, first[::-1].copy(), second))))
    assert found.dtype == torch.float32
    np.testing.assert_array_equal(found[:, :2].numpy(), _numpy_normal(first, second))
    np.testing.assert_array_equal(found[:, 2:].numpy(), _numpy_normal(first[::-1], second))


def test_numbers_are_the_transform_of_box_and_muller():
    first, second = _pairs()
    words = tuple(map(torch.from_numpy, (first, second, first, second)))
    distance = np.sqrt(-2 * np.log((first + 0.5) / 2**32))
    angle = np.pi * (second / 2**31 - 1)
    expected = np.stack([distance * np.cos(angle), distance * np.sin(angle)], -1)
    found = normal(words).numpy().astype(np.float64)
    error = np.abs(found[:, :2] - expected).max(-1)
    assert (error < 2e-6 + 1e-7 / distance).all()
    assert error.max() < 3e-4
    assert 6.7 < np.abs(found).max() < 6.77


def test_every_constant_is_a_number_of_float32():
    for value in (
        words.LOG_OF_TWO,
        *words.LOG,
        *words.SINE,
        *words.COSINE,
    ):
        assert float(np.float32(value)) == value


@pytest.fixture(scope="module")
def large():
    return standard_normal(torch.arange(5), "inputs.0", 11, (LARGE,), torch.float64).numpy()


def test_the_distribution_is_the_normal_one(large):
    assert stats.kstest(large.ravel(), "norm").pvalue > 1e-3
    for member in large:
        assert stats.kstest(member, "norm").pvalue > 1e-4
    first = standard_normal(torch.arange(20_000), "inputs.0", 0, (1,), torch.float64)
    assert stats.kstest(first.ravel().numpy(), "norm").pvalue > 1e-4


def test_numbers_are_uncorrelated(large):
    """Of members, of neighbours within a block, of steps, of blocks; and so are their squares."""
    others = [("inputs.0", 12), ("inputs.0", 0), ("inputs.1", 11), ("penalties.0", 11)]
    pairs = [*combinations(large, 2)]
    for block, step in others:
        pairs.append((large[0], _draw(torch.tensor([0]), block, step, (LARGE,))[0].numpy()))
    pairs += [(large[0][:-lag], large[0][lag:]) for lag in (1, 2, 3, 4, 5, 8, 1000)]
    for first, second in pairs:
        for one, two in ((first, second), (first**2, second**2), (first, second**2)):
            assert abs(np.corrcoef(one, two)[0, 1]) < 4.5 * len(one) ** -0.5


def test_a_member_alone_and_in_other_company_gets_its_own():
    company = _draw()
    assert torch.equal(_draw(SEEDS[1:2]), company[1:2])
    assert torch.equal(_draw(SEEDS.flip(0)), company.flip(0))


def test_each_of_seed_block_and_step_makes_another_draw():
    drawn = [*_draw(), *_draw(block="penalties.1"), *_draw(step=4), *_draw(step=3 + 2**32)]
    for one, two in combinations(drawn, 2):
        assert not (one == two).any()


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 21])
def test_a_number_does_not_depend_on_how_many_follow(size):
    whole = _draw(shape=(40,))
    assert torch.equal(_draw(shape=(size,)), whole[:, :size])
    assert torch.equal(_draw(shape=(size, 1)), whole[:, :size, None])


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 40])
def test_how_a_draw_is_cut_into_chunks_changes_no_number(chunk, monkeypatch):
    expected = _draw(shape=(5, 6))
    monkeypatch.setattr(noise, "CPU_CHUNK", chunk)
    assert torch.equal(_draw(shape=(5, 6)), expected)


def test_many_chunks_are_the_numbers_of_one(monkeypatch):
    shape = (2 * 4 * noise.CPU_CHUNK + 9,)
    cut = _draw(SEEDS[:2], shape=shape)
    monkeypatch.setattr(noise, "CPU_CHUNK", 1 << 40)
    assert torch.equal(_draw(SEEDS[:2], shape=shape), cut)


def test_both_precisions_get_the_same_numbers():
    assert torch.equal(_draw(dtype=torch.float32).double(), _draw())


@pytest.mark.parametrize("step", [0, 3, 2**32 - 1, 2**32 + 5])
def test_a_step_may_be_a_tensor_or_one_of_many(step):
    expected = _draw(step=step)
    assert torch.equal(_draw(step=torch.tensor(step)), expected)
    many = _draw(step=torch.tensor([9, step, step + 1]))
    assert many.shape == (3, 3, 7, 3)
    assert torch.equal(many[1], expected)
    assert torch.equal(many[0], _draw(step=9))


def test_a_recorded_program_counts_its_own_step():
    def step_on(seeds, step):
        drawn = standard_normal(seeds, "inputs.0", step, (4, 5), torch.float32)
        return drawn, step.add_(1)

    count = torch.tensor(0)
    recorded = make_fx(step_on)(SEEDS, count.clone())
    for step in range(3):
        found, _ = recorded(SEEDS, count)
        assert torch.equal(found, _draw(block="inputs.0", step=step, shape=(4, 5)).float())


def test_no_value_is_read_and_nothing_leaves_the_device():
    """The meta device has no values: to read one, or to mix devices, is an error there."""
    found = _draw(SEEDS.to("meta"), step=torch.tensor(3, device="meta"))
    assert found.device.type == "meta"
    assert found.shape == (3, 7, 3)
    assert _draw(SEEDS.to("meta"), step=3, shape=(9 * noise.CHUNK,)).device.type == "meta"


def test_the_stream_is_the_one_of_earlier_results():
    """Whoever changes these numbers makes every run with noise another run."""
    found = _draw(torch.tensor([1]), "inputs.0", 2, (4,)).ravel().tolist()
    assert found == PINNED


PINNED = [-0.750931978225708, 0.09249920397996902, -1.5421810150146484, -0.6788550019264221]


@pytest.mark.parametrize("kernels", every(2, ["avx2", "default"]))
def test_other_kernels_of_a_processor_give_the_same_bits(kernels):
    program = (
        "import hashlib, torch; from grokatlas.engine.noise import standard_normal\n"
        "drawn = standard_normal(torch.arange(3), 'inputs.0', 1, (50001,), torch.float32)\n"
        "print(hashlib.sha256(drawn.numpy().tobytes()).hexdigest())"
    )
    drawn = _draw(torch.arange(3), "inputs.0", 1, (50_001,), torch.float32)
    command = [sys.executable, "-c", program]
    found = subprocess.run(
        command,
        env={**os.environ, "ATEN_CPU_CAPABILITY": kernels},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == hashlib.sha256(drawn.numpy().tobytes()).hexdigest()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is visible here")
@pytest.mark.parametrize("size", [5, 200_000])
def test_a_gpu_gives_the_same_bits(size):
    found = _draw(SEEDS.cuda(), step=torch.tensor(3).cuda(), shape=(size,))
    assert torch.equal(found.cpu(), _draw(shape=(size,)))
