"""``grokatlas compare``: two sides in, a few lines out, and Markdown where that is asked for."""

import os
import tempfile
from pathlib import Path

from grokatlas.audit import locate
from grokatlas.errors import UserError
from grokatlas.publish.compare import changes, commit_side, summary, tree_side
from grokatlas.publish.compare.sides import Side
from grokatlas.results import layout


def main(first: str, second: str, markdown: Path | None, pictures: str | None) -> int:
    """Compare two commits or results folders, and print what changed; 0 if nothing did, else 1.

    Args:
        first: a branch, tag or commit of this checkout, or a results folder: the one before.
        second: the same of the one after.
        markdown: where the same is appended as Markdown, with pictures; None for none.
        pictures: the address below which a commit's files are, for the Markdown; None for none.
    """
    if first == second:
        raise UserError(first, "is given twice; name two branches, commits or results folders")
    if pictures is not None and markdown is None:
        raise UserError("--pictures", "is of the Markdown; give --markdown FILE as well")
    if markdown is not None and (markdown.is_dir() or not markdown.parent.is_dir()):
        raise UserError(f"--markdown {markdown}", "must name a file in a folder that is there")
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch) / name for name in ("first", "second")]
        a, b = (_opened(n, f) for n, f in zip((first, second), folders, strict=True))
        if a.identity == b.identity and Path(a.identity).is_dir():
            raise UserError(f"{first}, {second}", "are the same folder; name two")
        compared = changes.between(a, b)
        if markdown is not None:
            _append(markdown, summary.markdown(compared, pictures, markdown.parent))
    print("\n".join(summary.lines(compared)))
    return 0 if compared.nothing else 1


def _opened(name: str, scratch: Path) -> Side:
    """The results tree or the commit that a name means; a results tree, if it means both.

    `scratch` is an empty folder of this side alone, for files that are taken out of archives.
    """
    path = Path(name)
    folder = locate.tree_of(path, Path(os.devnull))
    is_tree = path.is_dir() and folder in (path, path / layout.RESULTS)
    side = tree_side.read(name, folder) if is_tree else commit_side.read(name, scratch)
    if not side.figures and not side.claims:
        hint = "; `snakemake` or `make atlas` makes them" if is_tree else ""
        raise UserError(name, f"holds no figure and no claim{hint}")
    return side


def _append(file: Path, text: str) -> None:
    try:
        with file.open("a", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise UserError(f"--markdown {file}", f"cannot be written: {error.strerror}") from None
