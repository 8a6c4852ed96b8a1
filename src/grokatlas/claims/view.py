"""A judged claim as text: our number, its range and its interval, for every page and list."""

import math
from dataclasses import dataclass

from grokatlas import text as words
from grokatlas.claims.verdicts import MISSED, NOT_RUN

MOST = 15  # digits, which a float64 has


@dataclass(frozen=True)
class ClaimView:
    """A claim's row as readers see it.

    Attributes:
        row: as in ``claims.csv``, every cell as its text; a column may be absent.
        digits: of a number that is not whole.
    """

    row: dict[str, str]
    digits: int = 4

    def numbers(self, *names: str) -> tuple[float | None, ...]:
        """Some columns as numbers; None where a cell is empty or absent."""
        return tuple(float(self.row[name]) if self.row.get(name) else None for name in names)

    @property
    def value(self) -> str:
        """Our number without its unit; empty where there is none."""
        return self._text("value")

    @property
    def number(self) -> str:
        """Our number with its unit; empty where there is none."""
        return self._with_unit(self.value) if self.value else ""

    @property
    def ends(self) -> str:
        """The lowest and the highest number over seeds."""
        return f"{self._text('lowest')} to {self._text('highest')}"

    @property
    def range(self) -> str:
        """The same; empty where the two are the same."""
        return self.ends if self._text("lowest") != self._text("highest") else ""

    @property
    def values(self) -> str:
        """The count of numbers: ``5 values``."""
        return words.count(int(float(self.row.get("count") or 0)), "value")

    @property
    def expected(self) -> str:
        """The interval with its unit."""
        low, high = self.numbers("expected_low", "expected_high")
        return self._with_unit(words.interval(low, high))

    @property
    def afterwards(self) -> str:
        """``set afterwards`` of such an interval, else empty."""
        return self.row.get("afterwards", "")

    @property
    def control(self) -> str:
        """The negative control, with its number: ``fails with lambda halved: 0.18``."""
        name, verdict = self.row.get("control", ""), self.row.get("control_verdict", "")
        if not name or verdict == NOT_RUN:
            return f"control not judged: {name}" if name else ""
        verb = "fails with" if verdict == MISSED else "does not fail with"
        return f"{verb} {name}: {self._with_unit(self._text('control_value'))}"

    def _text(self, name: str) -> str:
        """A column in as many digits as show on which side of the interval's ends it is."""
        (value,) = self.numbers(name)
        ends = [e for e in self.numbers("expected_low", "expected_high") if e not in (None, value)]
        digits = self.digits
        if value is not None and math.isfinite(value):
            while digits < MOST and any(_crosses(value, end, digits) for end in ends):
                digits += 1
        return words.number(value, words.infinite(self.row.get("unit", "")), digits)

    def _with_unit(self, text: str) -> str:
        return text if text == words.NEVER else f"{text} {self.row.get('unit', '')}".strip()


def _crosses(value: float, end: float, digits: int) -> bool:
    """True if a value in so many digits is on another side of an end than the value itself."""
    rounded = float(words.number(value, digits=digits).replace(",", ""))
    return (value < end, value > end) != (rounded < end, rounded > end)
