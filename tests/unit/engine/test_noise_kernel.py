"""The kernel of noise without a GPU: numbers by an interpreter, operations after compilation."""

import importlib.util
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None,
    reason="Triton is not installed (PyTorch's builds for CUDA bring it)",
)

INTERPRETED = """
import os
os.environ["TRITON_INTERPRET"] = "1"
import torch
from grokatlas.engine import noise, noise_kernel
seeds = torch.tensor([5, 0, 2**32 - 1])
steps = torch.tensor([0, 3, 2**32 - 1, 2**32 + 5, 2**40])
for dtype in (torch.float32, torch.float64):
    for size in (1, 5, 1025, 20_000):
        found = noise_kernel.standard_normal(seeds, 0x9D5C7E1B, steps, size, dtype)
        expected = noise._by_operations(seeds, 0x9D5C7E1B, steps, size, dtype)
        assert torch.equal(found, expected.view_as(found)), (dtype, size)
"""

COMPILED = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from grokatlas.engine import noise_kernel
integers = dict.fromkeys(("stream", "members", "size", "blocks"), "i32") | {"stream": "i64"}
signature = {"drawn": "*fp64", "seeds": "*i64", "steps": "*i64", **integers, "width": "constexpr"}
source = ASTSource(noise_kernel._kernel, signature, {"width": noise_kernel.BLOCK})
target = GPUTarget("cuda", 90, 32)
print(triton.compile(source, target, {"enable_fp_fusion": False}).asm["ptx"])
"""


def _printed(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def test_it_draws_the_bits_of_the_tensor_operations():
    _printed(INTERPRETED)


def test_a_gpu_would_round_each_operation_and_contract_none():
    lines = [line.split() for line in _printed(COMPILED).splitlines()]
    names = [words[0] for words in lines if words and ".f32" in words[0]]
    rounded = {name for name in names if ".rn." in name}
    assert {name.split(".")[0] for name in rounded} >= {"add", "mul", "sub", "div", "sqrt"}
    others = {name for name in names if name not in rounded}
    assert others <= {"mov.f32", "cvt.f64.f32"}  # exact
    assert not [name for name in names if name.startswith(("fma", "mad"))]
