"""Results of which a tree keeps the records and not the files, as an archive of tables has them.

Their job files and manifests are enough to walk from a figure to its origin. A list in the tree
names them, so that `verify` can tell what was never handed on from what was lost.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from grokatlas.results import files, layout
from grokatlas.results.result import Result

LIST = "records_only.json"  # in the tree: the sha256 of each one's manifest, by target


def update(results: Iterable[Result]) -> None:
    """List those of some results in the tree here whose files are not in it; the others are not.

    Args:
        results: sound ones.
    """
    listed = read(layout.RESULTS)
    found = dict(listed)
    for result in results:
        found.pop(result.target, None)
        if not all(Path(name).exists() for name in result.outputs):
            found[result.target] = manifest_sha256(result)
    if not found:
        (layout.RESULTS / LIST).unlink(missing_ok=True)
    elif found != listed:
        files.write_json(layout.RESULTS / LIST, found)


def read(tree: Path) -> dict[str, str]:
    """The list of a tree: the sha256 of a manifest by target; empty where it cannot be read."""
    try:
        found = json.loads((tree / LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    sound = isinstance(found, dict) and all(isinstance(value, str) for value in found.values())
    return found if sound else {}


def manifest_sha256(result: Result) -> str:
    """The sha256 of a result's manifest; empty where there is none."""
    return hashlib.sha256(result.manifest.text).hexdigest() if result.manifest else ""
