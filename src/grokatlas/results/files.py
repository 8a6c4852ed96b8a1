"""Reading and writing of results.

A file is written under a temporary name in its own folder, synced, then renamed; a read checks the
sha256 that the manifest beside the file records. Nothing here unpickles.
"""

import contextlib
import errno
import json
import os
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from grokatlas.errors import UserError
from grokatlas.results import hashing, layout

UNKNOWN = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)  # to a disk: what is asked
DAY = 86400.0  # seconds: a temporary file that is younger may still be written
METADATA = "metadata"  # of the arrays of a file: a JSON text under this key


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A temporary path that becomes `path` when the block ends well, and vanishes otherwise.

    The file may be read and written by whom the process's umask allows: a group, for instance.

    Raises:
        UserError: the folder cannot be written or the disk is full.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        mode = stat.S_IMODE(temporary.stat().st_mode)
    except OSError as error:
        raise UserError(str(path), f"cannot be written: {error.strerror}") from None
    try:
        yield temporary
        allow(temporary, mode)
        with temporary.open("rb") as stream:
            sync(stream)
        temporary.replace(path)
    except OSError as error:
        raise UserError(str(path), f"cannot be written: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def allow(path: Path, mode: int) -> None:
    """Give a file or folder a mode, if it has another and its disk lets it be changed."""
    if stat.S_IMODE(path.stat().st_mode) != mode:
        with contextlib.suppress(OSError):
            path.chmod(mode)


def sync(stream: IO[bytes]) -> None:
    """Bring a file's bytes to its disk, if that knows how; disks of a network may not."""
    try:
        os.fsync(stream.fileno())
    except OSError as error:
        if error.errno not in UNKNOWN:
            raise


def json_text(data: Any) -> str:
    """Plain data as every JSON file here spells it: sorted keys, one space of indent."""
    return json.dumps(data, sort_keys=True, indent=1, allow_nan=False) + "\n"


def write_text(path: Path, text: str) -> None:
    """Write a text file."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, data: Any) -> None:
    """Write plain data as indented, sorted JSON."""
    write_text(path, json_text(data))


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """A manifest's or job file's content with its `seal`: the sha256 of everything else in it."""
    rest = {key: value for key, value in content.items() if key != "seal"}
    return {**rest, "seal": hashing.of(rest)}


def seal_holds(content: dict[str, Any]) -> bool:
    """True if content is as it was when it was sealed."""
    return sealed(content)["seal"] == content.get("seal")


def read_json(path: Path) -> Any:
    """Read JSON; an error if the file is missing or damaged, or cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(str(path), "no such file; run `snakemake` to make it") from None
    except OSError as error:
        problem = f"cannot be read: {error.strerror}; give a file that this account may read"
        raise UserError(str(path), problem) from None
    except ValueError as error:
        raise UserError(str(path), f"cannot be read as JSON ({error}); remove it") from None


def read_sealed(path: Path) -> dict[str, Any]:
    """Read a manifest or a job file, and refuse one that was edited after it was written."""
    content = read_json(path)
    try:
        if isinstance(content, dict) and seal_holds(content):
            return content
    except ValueError:  # not finite, so never written here
        pass
    raise UserError(str(path), "was edited after it was written; remove it and run `snakemake`")


def verified(path: Path) -> Path:
    """`path`, after its sha256 was found equal to the one its manifest records; else an error."""
    recorded = read_sealed(layout.manifest_path(path)).get("outputs", {}).get(path.name)
    if recorded is None:
        raise UserError(
            str(path), f"is not named in {layout.manifest_path(path)}; remove both and rerun"
        )
    try:
        sha256 = hashing.file_sha256(path)
    except OSError as error:
        raise UserError(str(path), f"cannot be read: {error.strerror}") from None
    if sha256 != recorded:
        raise UserError(str(path), "is not the file its manifest records; remove it and rerun")
    return path


def write_parquet(path: Path, frame: Any) -> None:
    """Write a data frame without its index, in little room.

    Curves repeat no value, so a dictionary of them is of no use; but the bytes of one order of
    magnitude stand together, which makes a file of curves smaller by two fifths.
    """
    floats = [name for name in frame if frame[name].dtype in ("float64", "float32")]
    layout_of_columns = {
        "use_byte_stream_split": floats,
        "use_dictionary": [name for name in frame if name not in floats],
    }
    with atomic(path) as temporary:
        keywords = {"compression": "zstd", "compression_level": 9, **layout_of_columns}
        frame.to_parquet(temporary, index=False, **keywords)


def write_csv(path: Path, frame: Any) -> None:
    """Write a data frame as text (no index)."""
    with atomic(path) as temporary:
        frame.to_csv(temporary, index=False, lineterminator="\n")


def read_parquet(path: Path) -> Any:
    """Read a data frame, verified."""
    import pandas as pd
    import pyarrow as pa

    try:
        return pd.read_parquet(verified(path))
    except (pa.ArrowException, OSError) as error:
        raise UserError(str(path), f"is no parquet file ({error}); remove it and rerun") from None


def write_arrays(path: Path, arrays: dict[str, Any], metadata: dict[str, str]) -> None:
    """Write NumPy arrays as safetensors, the same bytes for the same contents.

    The format's own metadata come in any order; all of ours are one text of it.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    with atomic(path) as temporary:
        try:
            text = {METADATA: json.dumps(metadata, sort_keys=True)} if metadata else {}
            save_file(arrays, temporary, metadata=text)
        except SafetensorError as error:  # a full disk is no OSError here
            raise UserError(str(path), f"cannot be written: {error}") from None


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Read NumPy arrays and their metadata, verified."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(verified(path), framework="numpy") as file:
            arrays = {key: file.get_tensor(key) for key in sorted(file.keys())}
            metadata = file.metadata() or {}
            # a file of an earlier version has them one by one
            return arrays, json.loads(metadata[METADATA]) if METADATA in metadata else metadata
    except SafetensorError as error:
        raise UserError(str(path), f"is no safetensors file ({error}); remove it") from None


def is_old(path: Path) -> bool:
    """Tell if nothing was written to a file or folder, or moved there, for a day."""
    try:
        newest = max(each.lstat().st_ctime for each in (path, *path.rglob("*")))
    except OSError:
        return False  # it just changed
    return time.time() - newest > DAY


def size(path: Path) -> int:
    """The bytes of a file, or of all files of a folder; 0 of what was removed meanwhile."""
    try:
        inner = [path] if path.is_file() else path.rglob("*")
        return sum(each.lstat().st_size for each in inner if each.is_file())
    except OSError:
        return 0
