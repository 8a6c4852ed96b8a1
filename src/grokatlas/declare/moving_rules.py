"""Runs that may say by ``train.only`` what moves: those whose dynamics takes the names."""

from typing import Any

from grokatlas import registry
from grokatlas.declare import signatures

BLOCK = "only"  # of a dynamics' `build`: the names of the parameters that move


def why_not_only(spec: dict[str, Any]) -> tuple[list[str], str] | None:
    """The mistake in ``train.only``, if there is one.

    Returns:
        the place in the spec, and what is wrong and allowed there.
    """
    name = spec["dynamics"]["name"]
    if "only" not in spec["train"] or BLOCK in signatures.signature("dynamics", name).blocks:
        return None
    known = registry.names("dynamics")
    allowed = [each for each in known if BLOCK in signatures.signature("dynamics", each).blocks]
    problem = f"dynamics {name} moves all parameters; remove it"
    return ["train", "only"], f"{problem} (allowed with: {', '.join(allowed)})"
