"""The findings of checks, and the one of a check that cannot be made."""

import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from grokatlas.errors import UserError

# a file or an answer that is not as it should be
BROKEN = (OSError, subprocess.SubprocessError, LookupError, ValueError, TypeError, AttributeError)


State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    Attributes:
        state: ok; warn, if it may cost time; fail, if work would stop or never start.
        what: what was looked at, in one word.
        text: what was found and, unless it is ok, what to do.
    """

    state: State
    what: str
    text: str

    def __str__(self) -> str:
        return f"{self.state:<5} {self.what:<11} {' '.join(self.text.split())}"


def of(what: str, check: Callable[..., Iterable[Finding]], *arguments: Any) -> list[Finding]:
    """The findings of a check; that it cannot be made, whatever the reason, is a failure."""
    findings: list[Finding] = []
    try:
        findings.extend(check(*arguments))
    except UserError as error:
        findings.append(Finding("fail", what, str(error)))
    except BROKEN as error:
        findings.append(Finding("fail", what, f"cannot be looked at: {error!r}"))
    return findings
