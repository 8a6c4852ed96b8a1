"""One side of a comparison: the figures and claims of a results tree or of a commit."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grokatlas.claims.view import ClaimView

Row = dict[str, str]
CSV = "its csv"  # the name of a figure's own numbers; others are called after their table


@dataclass(frozen=True)
class Drawn:
    """A figure, or a published table, of one side.

    Attributes:
        key: its paper, and the name of its function.
        scale: smoke, quick or paper; empty where it is not recorded.
        so_far: of how many values it is; empty if it leaves out none.
        path: of the picture or text: in the commit, or absolute for a results tree.
        version: the same for two files of the same bytes.
        read: its picture as png, or its table as Markdown.
        numbers: files of numbers behind it: by name a version, and a function that gives the path.
    """

    key: tuple[str, str]
    scale: str
    so_far: str
    path: str
    version: str
    read: Callable[[], bytes]
    numbers: dict[str, tuple[str, Callable[[], Path]]]


class Judged(ClaimView):
    """A claim of one side; its row also has `statement`, `published` and `unit`, where known."""

    @property
    def key(self) -> tuple[str, str]:
        """Its paper and its id."""
        return self.row["paper"], self.row["id"]

    @property
    def scale(self) -> str:
        """The scale of the tables that it was judged by; empty where it was not."""
        return self.row.get("scale", "")


@dataclass(frozen=True)
class Side:
    """One of two that are compared.

    Attributes:
        label: the user's name of it.
        about: the commit or folder that it is.
        identity: the same for the same commit or folder.
        notes: on parts of it that could not be read.
        figures: all figures and published tables.
        claims: all claims, each judgement once.
    """

    label: str
    about: str
    identity: str
    notes: list[str]
    figures: list[Drawn]
    claims: list[Judged]
