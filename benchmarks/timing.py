"""Steps per second of several contenders, in turns, so that what disturbs one disturbs all."""

import statistics
import time
from dataclasses import dataclass, field
from typing import Any

import torch

BLOCKS = 3  # timed without a pause, whose median is one sample; one if a step fills a block


@dataclass
class Samples:
    """The medians of seconds per step of one contender.

    Attributes:
        count: steps of a block.
        medians: one for each round.
    """

    count: int
    medians: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        """The least disturbed round's median, in seconds per step."""
        return min(self.medians)


def compare(
    contenders: dict[str, Any], device: torch.device, budget: float, block: float
) -> dict[str, Samples]:
    """Time contenders in turns until the budget is spent, two rounds at least.

    Args:
        contenders: objects with ``steps(count)``, by name; each warmed up here.
        device: where they work; a GPU is waited for at the ends of a block.
        budget: seconds for all of them together.
        block: seconds that one block should take; one step at least.
    """
    ends = time.perf_counter() + budget
    timed = {name: Samples(_fitting(each, device, block)) for name, each in contenders.items()}
    rounds = 0
    while rounds < 2 or time.perf_counter() < ends:
        begins = time.perf_counter()
        for name, samples in timed.items():
            blocks = range(BLOCKS if samples.count > 1 else 1)
            one = [_seconds(contenders[name], samples.count, device) for _ in blocks]
            samples.medians.append(statistics.median(one) / samples.count)
        rounds += 1
        if rounds >= 2 and 2 * time.perf_counter() - begins > ends:
            break
    return timed


def _fitting(contender: Any, device: torch.device, block: float) -> int:
    """The number of steps that fit a block, seen while warming up."""
    contender.steps(2)
    count = 1
    while True:
        taken = _seconds(contender, count, device)
        if taken >= block / 4:
            return max(1, round(count * block / taken))
        count = max(count + 1, min(10 * count, int(count * block / (2 * taken + 1e-9))))


def _seconds(contender: Any, count: int, device: torch.device) -> float:
    wait(device)
    before = time.perf_counter()
    contender.steps(count)
    wait(device)
    return time.perf_counter() - before


def wait(device: torch.device) -> None:
    """Wait until a GPU has done what it was given; a CPU always has."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
