"""Which cases run with `make test`, and which with `make test-all` alone (see README.md here)."""

from collections.abc import Iterable
from typing import Any

import pytest

exhaustive = pytest.mark.exhaustive


def every(step: int, cases: Iterable[Any], first: int = 0) -> list[Any]:
    """Cases of a test, of which one in `step` runs with `make test`.

    Args:
        step: 1 for all of them.
        cases: values, tuples of values, or `pytest.param`.
        first: index of the first one that does.
    """
    made = []
    for index, case in enumerate(cases):
        marks = () if index % step == first else (exhaustive,)
        if hasattr(case, "values") and hasattr(case, "marks"):
            made.append(pytest.param(*case.values, marks=(*case.marks, *marks), id=case.id))
        else:
            values = case if isinstance(case, tuple) else (case,)
            made.append(pytest.param(*values, marks=marks))
    return made
