"""Keywords with which the conformance tests build every component, and runs that use every one.

A new component needs keywords in `keywords.yaml` and a place in a run of `runs.yaml`; a new
optimizer also an entry in `REFERENCES` of `optimizer.py`, a new penalty one in `GRADIENTS` of
`penalties.py`. A test names what is missing.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from grokatlas import registry

_SETS, FACTS = (
    yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    for name in ("keywords.yaml", "runs.yaml")
)
# block -> component -> keyword sets of its `build`
EXAMPLES: dict[str, dict[str, list[dict[str, Any]]]] = {
    block: {
        name: [*sets.values()] if isinstance(sets, dict) else sets for name, sets in names.items()
    }
    for block, names in _SETS.items()
}
# a case for each set of keywords
CASES = [
    pytest.param(block, name, keywords, id=f"{block}-{name}-{index}")
    for block, names in EXAMPLES.items()
    for name, sets in names.items()
    for index, keywords in enumerate(sets)
]


def entry(block: str, use: str, **changes: Any) -> dict[str, Any]:
    """A component as a spec names it: a set of `keywords.yaml`, with other values of some."""
    name, _, key = use.partition("/")
    keywords = _SETS[block][name][key] if key else EXAMPLES[block][name][0]
    return {"name": name} | keywords | changes


def names_of(spec: dict[str, Any], block: str) -> set[str]:
    """The components that a run uses in a block."""
    return {each["name"] for *_, each in registry.entries(spec, [block])}
