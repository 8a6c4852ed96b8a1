"""Keywords with which the conformance tests build every component, and runs that use every one.

One file for each block. A new component needs an entry in the `EXAMPLES` of its block and a place
in `runs.RUNS`; a new optimizer also one in `REFERENCES`, a new penalty one in `GRADIENTS`. A test
names what is missing.
"""

import importlib
from typing import Any

from grokatlas import registry

# block -> component -> keyword sets of its `build`
EXAMPLES: dict[str, dict[str, list[dict[str, Any]]]] = {
    block: importlib.import_module(f"{__name__}.{block}").EXAMPLES for block in registry.FOLDERS
}
