"""Rows of history on their way to a record, in blocks of bounded size."""

from collections.abc import Callable

import numpy as np

ROWS = 1 << 16  # rows gathered before they are handed on


class History:
    """Gathers what is logged and hands it on in blocks, so that memory does not grow with the run.

    Args:
        hand_on: takes a block: ``member``, ``step`` and one column for every observable.
    """

    def __init__(self, hand_on: Callable[[dict[str, np.ndarray]], None]) -> None:
        self._hand_on = hand_on
        self._columns: dict[str, np.ndarray] = {}
        self._rows = 0

    def add(self, step: int, indices: list[int], seen: dict[str, np.ndarray]) -> None:
        """Log a step: a value of each column for each of the members at `indices`."""
        if self._rows + len(indices) > ROWS:
            self.flush()
        logged = {"member": np.array(indices), "step": np.full(len(indices), step), **seen}
        part = slice(self._rows, self._rows + len(indices))
        for name, values in logged.items():
            if name not in self._columns:
                self._columns[name] = np.empty(max(ROWS, len(indices)), dtype=values.dtype)
            self._columns[name][part] = values
        self._rows = part.stop

    def flush(self) -> None:
        """Hand on what is gathered."""
        if self._rows:
            self._hand_on({key: column[: self._rows] for key, column in self._columns.items()})
        self._columns, self._rows = {}, 0
