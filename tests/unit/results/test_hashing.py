"""Canonical hashing of plain data."""

import pytest

from grokatlas.results import hashing


def test_canonical_text_ignores_order_and_tells_numbers_apart():
    assert hashing.of({"a": 1, "b": [2.0]}) == hashing.of({"b": [2.0], "a": 1})
    different = [{"a": 1}, {"a": 1.0}, {"a": "1"}, {"a": True}, {"a": [1]}, {"a": None}, {}]
    assert len({hashing.of(data) for data in different}) == len(different)
    assert hashing.of([1, 2]) != hashing.of([2, 1])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_have_no_digest(value):
    with pytest.raises(ValueError, match="Out of range"):
        hashing.of({"a": value})
