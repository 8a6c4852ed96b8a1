"""What a wheel holds beside the modules: the workflow, so that a study needs no checkout."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PARTS = (
    "Snakefile",
    "workflow",
    "profiles",
    "config/schema",
    "config/benchmark",
    "environment.yml",
    "CITATION.cff",
)


class Hook(BuildHookInterface):
    """Puts `PARTS` into the package's folder."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files; an editable installation finds them in the checkout."""
        if version != "editable":
            build_data["force_include"] |= {part: f"grokatlas/{part}" for part in PARTS}
