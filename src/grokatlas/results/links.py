"""Links in a tree of results: ``results`` may be one, and none inside leads out of the tree."""

import os
from pathlib import Path

from grokatlas.errors import UserError
from grokatlas.results import layout


def check() -> None:
    """Check that `results` leads to a folder, where it is a link to another disk."""
    if layout.RESULTS.is_symlink() and not layout.RESULTS.is_dir():
        target = os.path.realpath(layout.RESULTS)
        problem = f"is a link to {target}, and no folder is there"
        raise UserError(str(layout.RESULTS), f"{problem}; mount its disk, or make the folder")


def refusal(path: Path, root: str) -> str:
    """The reason why a link in a tree is not followed; empty for one to a file of the tree."""
    target = os.path.realpath(path)
    if os.path.commonpath([target, root]) != root:
        return "is a link out of the tree; refused"
    return "" if Path(target).is_file() else "is a link to no file of the tree; refused"


def refused_link(results: Path, name: str) -> tuple[str, str] | None:
    """The first link on the way to a file of a tree that is not followed, and why."""
    root, place, way = str(results.resolve()), results, layout.RESULTS.name
    for part in Path(name).parts[1:]:
        place, way = place / part, f"{way}/{part}"
        if place.is_symlink() and (reason := refusal(place, root)):
            return way, reason
    return None
