"""The least time that a device needs for the operations of a step.

A step's operations are counted as they are dispatched: floating point operations of matrix products
(multiplications and additions), and bytes of every tensor that an operation other than a view reads
or writes. Divided by what the device was measured to do, the greater of both times is the floor of
this list of operations; caches may beat the bytes' part of it.
"""

import time
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.timing import wait


class Bytes(TorchDispatchMode):
    """Counts what operations read and write.

    Attributes:
        total: bytes.
        operations: how many were not views.
        by_name: bytes and number of each operation.
    """

    def __init__(self) -> None:
        super().__init__()
        self.total = 0
        self.operations = 0
        self.by_name: dict[str, list[int]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Count one operation and do it."""
        result = func(*args, **(kwargs or {}))
        if func.is_view:
            return result
        tensors = [t for t in tree_leaves((args, kwargs, result)) if isinstance(t, torch.Tensor)]
        moved = sum(_touched(tensor) for tensor in tensors)
        self.total += moved
        self.operations += 1
        entry = self.by_name.setdefault(str(func), [0, 0])
        entry[0] += moved
        entry[1] += 1
        return result


def count(contender: Any) -> dict[str, Any]:
    """Operations, flops and bytes of one step of a contender that was warmed up."""
    bytes_moved = Bytes()
    with FlopCounterMode(display=False) as flops, bytes_moved:
        contender.steps(1)
    return {
        "flops": flops.get_total_flops(),
        "bytes": bytes_moved.total,
        "operations": bytes_moved.operations,
    }


def device_speed(device: torch.device, dtype: torch.dtype) -> dict[str, float]:
    """Flops per second of a large matrix product, and bytes per second of a large copy."""
    size, numbers = (8192, 2**27) if device.type == "cuda" else (2048, 2**24)
    own = torch.Generator(device)  # PyTorch's own cannot be used after a recording that failed
    matrix = torch.rand(size, size, dtype=dtype, device=device, generator=own)
    source = torch.rand(numbers, dtype=dtype, device=device, generator=own)
    target = torch.empty_like(source)
    product = _best(lambda: torch.mm(matrix, matrix), device)
    copy = _best(lambda: target.copy_(source), device)
    moved = 2 * numbers * source.element_size()
    return {"flops_per_second": 2 * size**3 / product, "bytes_per_second": moved / copy}


def seconds(counted: dict[str, Any], speed: dict[str, float]) -> float:
    """The floor of a step."""
    of_flops = counted["flops"] / speed["flops_per_second"]
    return max(of_flops, counted["bytes"] / speed["bytes_per_second"])


def _best(call: Any, device: torch.device) -> float:
    best = float("inf")
    for _ in range(6):
        before = time.perf_counter()
        call()
        wait(device)
        best = min(best, time.perf_counter() - before)
    return best


def _touched(tensor: torch.Tensor) -> int:
    """Bytes of distinct numbers of a tensor; an expanded axis is read from one place."""
    numbers = 1
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        numbers *= size if stride or size == 0 else 1
    return numbers * tensor.element_size()
