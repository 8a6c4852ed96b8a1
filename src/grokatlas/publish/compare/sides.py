"""One side of a comparison: the figures and claims of a results tree or of a commit."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from grokatlas.audit import locate
from grokatlas.claims.view import ClaimView
from grokatlas.errors import UserError
from grokatlas.results import layout

Row = dict[str, str]
CSV = "its csv"  # the name of a figure's own numbers; others are called after their table
NUMBERS = ("expected_low", "expected_high", "value", "lowest", "highest")
_NOWHERE = Path("/dev/null")


@dataclass(frozen=True)
class Drawn:
    """A figure, or a published table, of one side.

    Attributes:
        paper: its paper's name.
        name: of its function.
        scale: smoke, quick or paper; empty where it is not recorded.
        so_far: of how many values it is; empty if it leaves out none.
        path: of the picture or text: in the commit, or absolute for a results tree.
        version: the same for two files of the same bytes.
        read: its picture as png, or its table as Markdown.
        numbers: files of numbers behind it: by name a version, and a function that gives the path.
    """

    paper: str
    name: str
    scale: str
    so_far: str
    path: str
    version: str
    read: Callable[[], bytes]
    numbers: dict[str, tuple[str, Callable[[], Path]]]

    @property
    def key(self) -> tuple[str, str]:
        """Its name on both sides."""
        return self.paper, self.name

    @property
    def is_table(self) -> bool:
        """True if it is one of the paper's tables: text instead of a picture."""
        return layout.is_published_table(self.name)


class Judged(ClaimView):
    """A claim of one side; its row also has `statement`, `published` and `unit`, where known."""

    @property
    def key(self) -> tuple[str, str]:
        """Its name on both sides."""
        return self.row["paper"], self.row["id"]

    @property
    def scale(self) -> str:
        """Of the tables that it was judged by; empty where it was not."""
        return self.row.get("scale", "")


class Side(Protocol):
    """One of two that are compared.

    Attributes:
        label: the user's name of it.
        about: the commit or folder that it is.
        identity: the same for the same commit or folder.
        notes: on parts of it that could not be read.
    """

    label: str
    about: str
    identity: str
    notes: list[str]

    def figures(self) -> list[Drawn]:
        """All figures and published tables."""

    def claims(self) -> list[Judged]:
        """All claims, each judgement once."""


def opened(name: str, scratch: Path) -> Side:
    """The results tree or the commit that a name means; a results tree, if it means both.

    `scratch` is an empty folder of this side alone, for files that are taken out of archives.
    """
    from grokatlas.publish.compare.commit_side import CommitSide
    from grokatlas.publish.compare.tree_side import TreeSide

    path = Path(name)
    folder = locate.tree_of(path, _NOWHERE)
    is_tree = path.is_dir() and folder in (path, path / layout.RESULTS)
    side: Side = TreeSide(name, folder) if is_tree else CommitSide(name, scratch)
    if not side.figures() and not side.claims():
        hint = "; `snakemake` or `make atlas` makes them" if is_tree else ""
        raise UserError(name, f"holds no figure and no claim{hint}")
    return side
