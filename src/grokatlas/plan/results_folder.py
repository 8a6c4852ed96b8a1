"""``results`` on another disk: its folders are links into one folder, which names the checkout.

``results`` itself stays a folder of the repository, as git tracks a file in it. Which links of a
tree may lead out of it is decided here, for all who read results.
"""

import contextlib
import os
from pathlib import Path

from grokatlas.declare.settings import home_expanded
from grokatlas.errors import UserError
from grokatlas.results import layout

FOLDERS = ("data", "runs", "measures", "smoke", "quick", "paper")  # all that jobs write
MARK = ".grokatlas-checkout"  # in the other folder: the path of the checkout's ``results``


def link(named: str | None, place: str) -> None:
    """Make the folders of ``results`` links into another folder, which is made if need be.

    Args:
        named: the other folder, as the setting ``results`` names it; None: nothing is done.
        place: where it is named, for errors.

    Raises:
        UserError: the folder cannot be used, or other results are in the way; nothing was changed.
    """
    if named is None:
        return
    folder = home_expanded(named).resolve()
    if not folder.parent.is_dir():
        raise UserError(place, f"no folder {folder.parent}; make it, or use null")
    if folder == layout.RESULTS.resolve() or layout.RESULTS.resolve() in folder.parents:
        raise UserError(place, f"{folder} is in {layout.RESULTS} itself; name one elsewhere")
    if os.path.lexists(folder) and not folder.is_dir():
        raise UserError(place, f"{folder} is no folder; name one, or use null")
    _refuse_another_checkout(folder, place)
    missing = [name for name in FOLDERS if not _linked(layout.RESULTS / name, folder / name)]
    full = [f"{layout.RESULTS / name}" for name in missing if _has_files(layout.RESULTS / name)]
    if full:
        problem = f"the setting `results` names {folder}; move what is here there"
        hint = f"mkdir -p {folder} && mv {' '.join(full)} {folder}/"
        raise UserError(", ".join(full), f"{problem} (`{hint}`), or set it to null")
    try:
        if missing or not _marked(folder, layout.RESULTS):
            folder.mkdir(exist_ok=True)
            (folder / MARK).write_text(f"{layout.RESULTS.resolve()}\n", encoding="utf-8")
        for name in missing:
            link, target = layout.RESULTS / name, folder / name
            target.mkdir(exist_ok=True)
            if link.is_dir():
                link.rmdir()
            link.parent.mkdir(exist_ok=True)
            with contextlib.suppress(FileExistsError):  # another process was faster
                link.symlink_to(target)
    except OSError as error:
        name = error.filename or folder
        raise UserError(place, f"{name} cannot be written: {error.strerror or error}") from None


def _linked(link: Path, target: Path) -> bool:
    """Whether a folder of ``results`` is the link that it should be.

    Raises:
        UserError: it is a link to somewhere else.
    """
    if link.is_symlink():
        if link.resolve() != target:
            problem = f"is a link to {link.resolve()}, not to {target}; move what is there to"
            raise UserError(str(link), f"{problem} {target.parent} and remove the link")
        return target.is_dir()
    return False


def _has_files(folder: Path) -> bool:
    there = os.path.lexists(folder) and not folder.is_symlink()
    return there and (not folder.is_dir() or any(folder.iterdir()))


def _refuse_another_checkout(folder: Path, place: str) -> None:
    """Refuse a folder whose checkout is another one that still has links to it."""
    other = _mark(folder)
    if other is None or other == layout.RESULTS.resolve():
        return
    if any((other / name).resolve() == folder / name for name in FOLDERS):
        problem = f"{folder} holds the results of the checkout {other.parent}; name another folder"
        raise UserError(place, f"{problem} (finished runs are shared by `run_store`)")


def _mark(folder: Path) -> Path | None:
    with contextlib.suppress(OSError, ValueError):
        return Path((folder / MARK).read_text(encoding="utf-8").removesuffix("\n"))
    return None


def _marked(folder: Path, results: Path) -> bool:
    return _mark(folder) == results.resolve()


def accepted(results: Path, name: str) -> bool:
    """Whether a folder of a results tree is a link that `link` made.

    The folder that it leads to must name the tree: nobody who hands on a tree with links in it can
    have written that.
    """
    link = results / name
    if name not in FOLDERS or not link.is_symlink():
        return False
    target = link.resolve()
    return target.name == name and target.is_dir() and _marked(target.parent, results)


def roots(results: Path) -> dict[str, str]:
    """Where the files of a tree are on disk, by the name of a folder from the tree's parent."""
    root = layout.RESULTS.name
    found = {root: str(results.resolve())}
    for name in FOLDERS:
        if accepted(results, name):
            found[f"{root}/{name}"] = str((results / name).resolve())
    return found


def refusal(path: Path, allowed: dict[str, str]) -> str:
    """Why a link in a tree is not followed; empty for one to a file of the tree.

    Args:
        path: the link.
        allowed: the tree's `roots`.
    """
    target = os.path.realpath(path)
    if not any(os.path.commonpath([target, root]) == root for root in allowed.values()):
        return "is a link out of the tree; refused"
    return "" if Path(target).is_file() else "is a link to no file of the tree; refused"


def refused_link(results: Path, name: str) -> tuple[str, str] | None:
    """The first link on the way to a file of a tree that is not followed, and why.

    Args:
        results: the tree.
        name: of a file, from the tree's parent.
    """
    allowed, place, way = roots(results), results, layout.RESULTS.name
    for part in Path(name).parts[1:]:
        place, way = place / part, f"{way}/{part}"
        if place.is_symlink() and way not in allowed:
            reason = refusal(place, allowed)
            if reason:
                return way, reason
    return None
