"""Texts with an axis of the ensemble in braces: ``logs/seed{seed}.csv``."""

import re
from typing import Any

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_.]*)\}")


def filled(text: str, member: dict[str, Any]) -> str:
    """A text with a member's value for each axis in braces; others stay as they are."""
    return PLACEHOLDER.sub(lambda found: str(member.get(found[1], found[0])), text)
