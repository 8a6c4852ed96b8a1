"""Archives as a list of plain files: ``.zip``, written reproducibly, read warily.

Only regular files exist here. Reading follows no link, trusts no size that it did not count, and
leaves it to the caller which names are allowed; nothing is extracted by a library.
"""

import contextlib
import hashlib
import io
import shlex
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from grokatlas.errors import UserError
from grokatlas.results import files, hashing

SUFFIX = ".zip"
TOGETHER = "records.zip"  # a member of an archive: its JSON files, packed as one
_CHUNK = 1 << 20
_LARGEST_TOGETHER = 1 << 28  # bytes; it is read as a whole
_ALWAYS_TOGETHER, _RATIO_TOGETHER = 1 << 24, 200  # allowed sizes: bytes, and unpacked to packed
_NO_ARCHIVES = {  # how a file begins that takes the place of an archive, and what it is
    b"PK\x05\x06": "is an empty zip; fetch it again",
    b"version https://git-lfs": "is a pointer of Git LFS; `git lfs pull` fetches it",
}
_DAMAGE = (
    EOFError,
    zlib.error,
    zipfile.BadZipFile,
    NotImplementedError,  # an unknown compression
    RuntimeError,  # an encrypted member
    ValueError,
)


@dataclass(frozen=True)
class FileToPack:
    """A file to be packed.

    `name` is its path in the archive, `source` its path or its bytes, and `sha256` the hash that it
    must have.
    """

    name: str
    source: Path | bytes
    sha256: str
    size: int

    @classmethod
    def of_text(cls, name: str, text: bytes) -> "FileToPack":
        """A file that is nowhere else."""
        return cls(name, text, hashlib.sha256(text).hexdigest(), len(text))

    @classmethod
    def of_file(cls, name: str, file: Path) -> "FileToPack":
        """A file as it is here."""
        return cls(name, file, hashing.file_sha256(file), file.stat().st_size)


@dataclass(frozen=True)
class ArchivedFile:
    """A file of an archive that is read.

    Attributes:
        name: its path in the archive, unchecked.
        size: its declared size; `chunks` never gives more.
        chunks: its bytes, to be consumed before the next entry is asked for.
    """

    name: str
    size: int
    chunks: Iterator[bytes]


def together(members: list[FileToPack]) -> list[FileToPack]:
    """The members with their JSON files as one, a zip that is not compressed itself.

    Job files and manifests are much alike: one by one they take six times the room. Where they are
    too large to be read as a whole the members stay as they are.
    """
    records = [member for member in members if member.name.endswith(".json")]
    others = [member for member in members if not member.name.endswith(".json")]
    if not records or sum(member.size for member in records) > _LARGEST_TOGETHER // 2:
        return members
    packed = io.BytesIO()
    _write(packed, records, zipfile.ZIP_STORED)
    return [FileToPack.of_text(TOGETHER, packed.getvalue()), *others]


def write(out: Path, members: list[FileToPack]) -> None:
    """Write an archive: same files, same bytes (with one version of zlib).

    Raises:
        UserError: the suffix is unknown, a file cannot be read, or is not the one it should be;
            nothing is left behind then.
    """
    if not out.name.endswith(SUFFIX):
        raise UserError(str(out), f"unknown kind of archive; give a name that ends in {SUFFIX}")
    with files.atomic(out) as temporary:
        _write(temporary, members, zipfile.ZIP_DEFLATED)


def _write(out: Path | IO[bytes], members: list[FileToPack], compression: int) -> None:
    with zipfile.ZipFile(out, "w") as archive:
        for member in members:
            info = zipfile.ZipInfo(member.name)  # dated 1980
            info.compress_type = compression
            info.create_system = 3
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            with archive.open(info, "w", force_zip64=member.size >= 1 << 31) as sink:
                _copy(member, sink)


def _copy(member: FileToPack, sink: IO[bytes]) -> None:
    """Copy a file while checking that it is the one it should be."""
    digest, size = hashlib.sha256(), 0
    for chunk in _chunks(member):
        digest.update(chunk)
        size += len(chunk)
        sink.write(chunk)
    if (digest.hexdigest(), size) != (member.sha256, member.size):
        rest = f"remove it, then `snakemake -- {member.name}`"
        raise UserError(member.name, f"is not the file its manifest records; {rest}")


def _chunks(member: FileToPack) -> Iterator[bytes]:
    if isinstance(member.source, bytes):
        yield member.source
        return
    try:
        with member.source.open("rb") as source:
            while chunk := source.read(_CHUNK):
                yield chunk
    except OSError as error:
        raise UserError(member.name, f"cannot be read: {error.strerror}") from None


def entries(path: Path) -> Iterator[ArchivedFile]:
    """The files of an archive, in its order, with those that are `together`.

    Raises:
        UserError: it is no archive, is damaged or truncated, or has a member that is no plain file.
    """
    try:
        with path.open("rb") as stream:
            start = stream.read(64)
    except OSError as error:
        raise UserError(str(path), f"cannot be read: {error.strerror}") from None
    if start.startswith(b"\x1f\x8b"):
        problem = f"is a .tar.gz of version 0.2; make a {SUFFIX} of it: mkdir new && cd new"
        unpack = f"tar xzf {shlex.quote(str(path.resolve()))}"
        again = f"zip -qrD ../new{SUFFIX} grokatlas-archive.json results"
        raise UserError(str(path), f"{problem} && {unpack} && {again}")
    if not start.startswith(b"PK\x03\x04"):
        allowed = f"is no {SUFFIX} archive; make one with `grokatlas pack`"
        known = (text for begin, text in _NO_ARCHIVES.items() if start.startswith(begin))
        problem = next(known, allowed) if start else "is empty; fetch it again"
        raise UserError(str(path), problem)
    with _intact(path):
        yield from _entries(path, path)


@contextlib.contextmanager
def _intact(path: Path) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise UserError(str(path), f"is damaged or truncated ({error}); fetch it again") from None
    except OSError as error:
        raise UserError(str(path), f"cannot be read: {error.strerror or error}") from None


def _entries(path: Path, source: Path | IO[bytes]) -> Iterator[ArchivedFile]:
    with zipfile.ZipFile(source) as archive:
        for place, info in enumerate(archive.infolist()):
            kind = stat.S_IFMT(info.external_attr >> 16)
            if info.is_dir() or kind not in (0, stat.S_IFREG) or info.flag_bits & 1:
                raise _no_file(path, info.filename)
            if info.filename != info.orig_filename:
                raise _no_file(path, info.orig_filename)
            with archive.open(info) as stream:
                chunks = _exactly(path, stream, info.file_size)
                if info.filename != TOGETHER or source is not path:
                    yield ArchivedFile(info.filename, info.file_size, chunks)
                    continue
                _check_together(path, place, info)
                yield from _entries(path, io.BytesIO(b"".join(chunks)))


def _check_together(path: Path, place: int, info: zipfile.ZipInfo) -> None:
    """Refuse records that do not come second, so that there is one, or that are too large."""
    if place != 1:
        raise UserError(str(path), f"member {TOGETHER!r} is not the second one; refused")
    ratio = max(_ALWAYS_TOGETHER, _RATIO_TOGETHER * info.compress_size)
    if info.file_size > min(_LARGEST_TOGETHER, ratio):
        raise UserError(str(path), f"member {TOGETHER!r} is too large; refused")


def _exactly(path: Path, stream: IO[bytes], size: int) -> Iterator[bytes]:
    with _intact(path):
        while size > 0:
            chunk = stream.read(min(size, _CHUNK))
            if not chunk:
                raise EOFError("a file ends early")
            size -= len(chunk)
            yield chunk


def _no_file(path: Path, name: str) -> UserError:
    return UserError(str(path), f"member {name!r} is no plain file; refused")
