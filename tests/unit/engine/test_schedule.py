from typing import Any

import pytest

from grokatlas.engine.schedule import log_schedule


def log_steps(log: dict[str, Any], steps: int) -> list[int]:
    schedule = log_schedule(log, steps)
    found = [schedule.next(0)]
    while found[-1] < steps:
        found.append(schedule.next(found[-1] + 1))
    return found


SCHEDULES = [
    {"every": 1, "first": 0},
    {"every": 10, "first": 0},
    {"every": 10, "first": 25},
    {"every": 1000, "first": 7},
    {"points": 2, "first": 0},
    {"points": 30, "first": 0},
    {"points": 30, "first": 50},
]


@pytest.mark.parametrize("steps", [1, 2, 99, 100, 20_000])
@pytest.mark.parametrize("log", SCHEDULES)
def test_steps_are_sorted_distinct_and_hold_both_ends(log, steps):
    found = log_steps(log, steps)
    assert found == sorted(set(found))
    assert (found[0], found[-1]) == (0, steps)
    assert set(range(min(log["first"], steps) + 1)) <= set(found)


def test_every_keeps_its_multiples_and_the_last_step():
    assert log_steps({"every": 4, "first": 2}, 10) == [0, 1, 2, 4, 8, 10]


def test_points_are_even_in_the_logarithm():
    found = log_steps({"points": 4, "first": 0}, 999)
    assert found == [0, 9, 99, 999]


def test_points_lose_their_duplicates_only():
    assert log_steps({"points": 100, "first": 0}, 5) == [0, 1, 2, 3, 4, 5]
    assert len(log_steps({"points": 100, "first": 0}, 10**8)) <= 100
