"""The origin that a pdf or png figure carries: digest, commit and runs, read without matplotlib."""

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grokatlas.errors import UserError

LARGEST = 512 * 2**20  # bytes of a figure that is still read
_PNG = b"\x89PNG\r\n\x1a\n"
_ORIGIN = re.compile(r"digest ([0-9a-f]{64})(?:; commit ([^;]+); runs ([0-9a-f ]*))?")
_PDF_ENTRY = re.compile(rb"/(Subject|Title)\s*\(((?:[^()\\]|\\.)*)\)", re.DOTALL)


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
        data = path.read_bytes()
    except OSError as error:
        raise UserError(str(path), f"cannot be read: {error.strerror}") from None
    if data.startswith(_PNG):
        entries = dict(_png_texts(data))
        text, title = entries.get("Description", ""), entries.get("Title", "")
    elif data.startswith(b"%PDF-"):
        entries = _pdf_texts(data)
        text, title = entries.get("Subject", ""), entries.get("Title", "")
    else:
        raise UserError(str(path), "is neither a result here nor a pdf or png figure")
    fields = _ORIGIN.fullmatch(text)
    if not fields:
        raise UserError(str(path), "carries no digest of Grokking Atlas; it was made otherwise")
    safe = "".join(c for c in title if c.isprintable()).removeprefix("Grokking Atlas ")
    runs = tuple((fields[3] or "").split())
    return Origin(safe or "a figure", fields[1], fields[2] or "unknown", runs)


def _png_texts(data: bytes) -> Iterator[tuple[str, str]]:
    """The text chunks of a png whose checksums hold."""
    place = len(_PNG)
    while place + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, place)
        kind, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        checksum = data[place + 8 + length : place + 12 + length]
        place += 12 + length
        if checksum != struct.pack(">I", zlib.crc32(kind + body)):
            return
        key, _, value = body.partition(b"\0")
        if kind == b"tEXt":
            yield key.decode("latin-1"), value.decode("latin-1")
        elif kind == b"iTXt" and value[:1] == b"\0":  # not compressed
            text = value[2:].split(b"\0", 2)[-1]
            yield key.decode("latin-1"), text.decode("utf-8", errors="replace")


def _pdf_texts(data: bytes) -> dict[str, str]:
    """The strings of a pdf's information dictionary that are called Subject and Title."""
    reference = re.findall(rb"/Info (\d+) (\d+) R", data)
    if not reference:
        return {}
    number = rb"%s %s obj" % reference[-1]
    start = data.rfind(b"\n" + number)
    end = data.find(b"endobj", start)
    if start < 0 or end < 0:
        return {}
    entries = _PDF_ENTRY.findall(data[start:end])
    return {key.decode(): _pdf_string(value) for key, value in entries}


def _pdf_string(value: bytes) -> str:
    plain = re.sub(rb"\\([()\\])", rb"\1", value)
    if plain.startswith(b"\xfe\xff"):
        return plain[2:].decode("utf-16-be", errors="replace")
    return plain.decode("latin-1")
