"""``grokatlas compare``: two sides in, a page and a few lines out."""

import tempfile
from pathlib import Path

from grokatlas.errors import UserError
from grokatlas.publish import one_page
from grokatlas.publish.compare import changes, page, sides, summary
from grokatlas.results import files


def main(first: str, second: str, out: Path, markdown: Path | None, pictures: str | None) -> int:
    """Compare two commits or results folders, write the page, print what changed.

    Args:
        first: a branch, tag or commit of this checkout, or a results folder: what was before.
        second: the same of what is after.
        out: where the page goes.
        markdown: where a summary in Markdown is appended; None for none.
        pictures: the address below which a commit's files are, for that summary; None for none.

    Returns:
        0 if nothing changed, else 1; the command line ends with 2 for an error.

    Raises:
        UserError: an argument means nothing, both mean the same, a file is damaged, or what
            is told cannot be written.
    """
    if first == second:
        raise UserError(first, "is given twice; name two branches, commits or results folders")
    one_page.check_place(f"--out {out}", out, page.GENERATOR)
    if pictures is not None and markdown is None:
        raise UserError("--pictures", "is of the Markdown summary; give --markdown FILE as well")
    if markdown is not None and (markdown.is_dir() or not markdown.parent.is_dir()):
        raise UserError(f"--markdown {markdown}", "must name a file in a folder that is there")
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch) / name for name in ("first", "second")]
        a, b = (sides.opened(n, f) for n, f in zip((first, second), folders, strict=True))
        if a.identity == b.identity and Path(a.identity).is_dir():
            raise UserError(f"{first}, {second}", "are the same folder; name two")
        found = changes.between(a, b)
        with files.atomic(out) as temporary:
            temporary.write_text(page.html(found), encoding="utf-8")
        if markdown is not None:
            _append(markdown, summary.markdown(found, pictures))
    print("\n".join([*summary.lines(found), f"wrote {out}"]))
    return 0 if found.nothing else 1


def _append(file: Path, text: str) -> None:
    try:
        with file.open("a", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise UserError(f"--markdown {file}", f"cannot be written: {error.strerror}") from None
