"""The origin that a pdf or png figure carries: digest, commit and runs, read without matplotlib."""

import re
from dataclasses import dataclass
from pathlib import Path

from grokatlas.errors import UserError

LARGEST = 512 * 2**20  # bytes of a figure that is still read
_ORIGIN = re.compile(r"digest ([0-9a-f]{64})(?:; commit (.+); runs ([0-9a-f ]*))?")


@dataclass(frozen=True)
class Origin:
    """The title of a figure, the digest of the job that drew it, the commit, and the runs drawn."""

    title: str
    digest: str
    commit: str
    runs: tuple[str, ...]

    def __str__(self) -> str:
        runs = ", ".join(self.runs[:8]) + (" ..." if len(self.runs) > 8 else "")
        known = f"{self.title}, digest {self.digest[:12]}, commit {self.commit}"
        return f"{known}, runs {runs}" if runs else known


def origin(path: Path) -> Origin:
    """The origin that a pdf or png figure carries; an error for any other file."""
    try:
        if path.stat().st_size > LARGEST:
            raise UserError(str(path), "is too large for a figure (512 MiB at most)")
        with path.open("rb") as stream:
            is_pdf = stream.read(5) == b"%PDF-"
    except OSError as error:
        raise UserError(str(path), f"cannot be read: {error.strerror}") from None
    try:
        title, text = _of_pdf(path) if is_pdf else _of_png(path)
    except Exception:  # damage has many exceptions there
        raise UserError(str(path), "is neither a result here nor a pdf or png figure") from None
    fields = _ORIGIN.fullmatch(text)
    if not fields:
        raise UserError(str(path), "carries no digest of Grokking Atlas; it was made otherwise")
    safe = "".join(c for c in title if c.isprintable()).removeprefix("Grokking Atlas ")
    runs = tuple((fields[3] or "").split())
    return Origin(safe or "a figure", fields[1], fields[2] or "unknown", runs)


def _of_png(path: Path) -> tuple[str, str]:
    """Title and description of a png; its pixels are not read."""
    from PIL import Image

    with Image.open(path, formats=["PNG"]) as image:
        return image.info.get("Title", ""), image.info.get("Description", "")


def _of_pdf(path: Path) -> tuple[str, str]:
    """Title and subject of a pdf."""
    from PIL import PdfParser

    with PdfParser.PdfParser(str(path)) as pdf:
        return getattr(pdf.info, "Title", ""), getattr(pdf.info, "Subject", "")
