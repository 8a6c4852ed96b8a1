"""Pages that are one file each, in the look of the atlas: their templates, and their places."""

from pathlib import Path
from typing import TYPE_CHECKING

from grokatlas import text as words
from grokatlas.audit import locate
from grokatlas.errors import UserError
from grokatlas.registry import PACKAGE

if TYPE_CHECKING:
    import jinja2

ATLAS = PACKAGE / "atlas"  # whose style and templates the pages share


def environment(folder: Path) -> "jinja2.Environment":
    """The templates of a folder, and of the atlas, with the filters of both.

    Args:
        folder: of the page's own template and style.
    """
    import jinja2

    pages = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, ATLAS / "templates", ATLAS / "static"]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters |= {name: getattr(words, name) for name in ("slug", "plain", "sentence")}
    pages.filters |= {"counted": words.count, "duration": words.duration}
    return pages


def check_place(option: str, out: Path, generator: str) -> None:
    """Refuse a path at which something else lies, or that is in a results folder.

    Args:
        option: what names the path, for errors.
        out: the path.
        generator: what a page of the same command says that it was made by.

    Raises:
        UserError: the page cannot go there.
    """
    if out.suffix != ".html":
        raise UserError(option, "must end with .html")
    if not out.parent.is_dir():
        raise UserError(option, "its folder is not there; make it")
    if out.exists() and f'content="{generator}"' not in _start(option, out):
        raise UserError(option, "holds something else, which the page would replace")
    inside = locate.tree_of(out.resolve(), Path("/dev/null"))
    if inside in out.resolve().parents:
        raise UserError(option, "is in a results folder; write it elsewhere")


def _start(option: str, file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            return stream.read(1000)
    except OSError as error:
        raise UserError(option, f"cannot be replaced: {error.strerror}") from None
