"""Texts with an axis of the ensemble in braces: ``logs/seed{seed}.csv``."""

import functools
import re
from typing import Any

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_.]*)\}")


def filled(text: str, member: dict[str, Any]) -> str:
    """A text with a member's value for each axis in braces; others stay as they are."""
    return PLACEHOLDER.sub(lambda found: str(member.get(found[1], found[0])), text)


@functools.cache
def pattern(texts: tuple[str, ...]) -> re.Pattern[str]:
    """What matches each of some texts, with any value for an axis in braces."""
    parts = (PLACEHOLDER.split(text) for text in texts)
    fixed = (map(re.escape, part[::2]) for part in parts)  # the odd ones are names of axes
    return re.compile("|".join(".*".join(part) for part in fixed))
