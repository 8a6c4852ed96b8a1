"""A wheel's parts beside its modules, so that a study needs no checkout, and its page's addresses.

The address of the repository is the variable `GROKATLAS_REPOSITORY`, which a release sets, or
``repository-code`` of CITATION.cff. Without one the links of the page stay as README.md has them.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

PARTS = (
    "Snakefile",
    "workflow",
    "profiles",
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


class Metadata(MetadataHookInterface):
    """Gives the page of an index README.md with links that lead somewhere, and addresses."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set ``readme`` and ``urls``."""
        root = Path(self.root)
        cited = (root / "CITATION.cff").read_text(encoding="utf-8")
        found = re.search(r"^repository-code: *(\S+)", cited, re.MULTILINE)
        address = os.environ.get("GROKATLAS_REPOSITORY") or (found[1] if found else "")
        text = (root / "README.md").read_text(encoding="utf-8")
        files = f"{address}/blob/v{metadata['version']}"
        if address:
            text = absolute(text, files)
            metadata["urls"] = {
                "Repository": address,
                "Documentation": f"{files}/docs/index.md",
                "Changelog": f"{files}/CHANGELOG.md",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def absolute(text: str, files: str) -> str:
    """Markdown whose links and pictures of files are addresses below one of all files."""
    pictures = files.replace("/blob/", "/raw/", 1)
    text = re.sub(r"(!\[[^\]]*\]\()(?![a-z]+:|#)", rf"\g<1>{pictures}/", text)
    return re.sub(r"((?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\()(?![a-z]+:|#)", rf"\g<1>{files}/", text)
