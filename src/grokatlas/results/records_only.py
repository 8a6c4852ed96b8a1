"""Files that an archive left out, whose records it handed on: the tree can still be walked.

Job files and manifests are enough to walk from a figure to its origin. A list in the tree names the
files that were left out, so that `verify` can tell what was never handed on from what was lost.

Such a file may be here all the same, made by the same job with other bytes, as another machine
does. What was handed on with the record is then no less sound: it was made from the file that is
listed.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from grokatlas.results import files, layout
from grokatlas.results.result import Result

LIST = "records_only.json"  # in the tree: the sha256 of each file, as its manifest records it


def update(results: Iterable[Result], placed: set[str], twins: set[str]) -> None:
    """Renew the list of the tree here: what is in it is not listed.

    Args:
        results: sound ones, of an archive.
        placed: the targets of those that were not here before; a file of another one was lost.
        twins: the targets of those that are here with other bytes, of the same digest.
    """
    listed = read(layout.RESULTS)
    renewed = dict(listed)
    for result in results:
        for name, sha256 in result.outputs.items():
            there = Path(name).exists() and result.target not in twins
            if there and renewed.get(name) == sha256:
                del renewed[name]
            elif result.target in placed | twins and not there:
                renewed[name] = sha256
    if not renewed:
        (layout.RESULTS / LIST).unlink(missing_ok=True)
    elif renewed != listed:
        files.write_json(layout.RESULTS / LIST, renewed)


def was_made_from(file: Path, sha256: str) -> bool:
    """Test for a file of the tree here that an archive left out, with this hash."""
    return read(layout.RESULTS).get(file.as_posix()) == sha256


def read(tree: Path) -> dict[str, str]:
    """The list of a tree: sha256 by the file's name; empty where it cannot be read."""
    try:
        listed = json.loads((tree / LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    sound = isinstance(listed, dict) and all(isinstance(value, str) for value in listed.values())
    return listed if sound else {}
