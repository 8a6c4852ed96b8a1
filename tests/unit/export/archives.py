"""Archives of a small tree as anyone could write them, and what a refusal owes."""

import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.errors import UserError
from grokatlas.export import adoption, archive, archive_files


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path there."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def members(file: Path) -> dict[str, bytes]:
    """Every file of an archive, by name."""
    return {entry.name: b"".join(entry.chunks) for entry in archive_files.entries(file)}


def rewrite(file: Path, files: dict[str, bytes], extra=(), inner=False) -> None:
    """Write an archive as anyone could, with an index that fits its files."""
    index = json.loads(files[archive.INDEX])
    index["files"] = {
        name: {"sha256": hashlib.sha256(text).hexdigest(), "size": len(text)}
        for name, text in files.items()
        if name != archive.INDEX
    }
    raw_write(file, {**files, archive.INDEX: json.dumps(index).encode()}, extra, inner)


def raw_write(file: Path, files: dict[str, bytes], extra=(), inner=False) -> None:
    """Write an archive of these files as they are; `extra` are further members, in pairs.

    With `inner` all but the index are in the member that `pack` puts records into.
    """
    if inner:
        within = file.with_name("inner.zip")
        rest = {name: text for name, text in files.items() if name != archive.INDEX}
        raw_write(within, rest, extra)
        extra = ()
        files = {archive.INDEX: files[archive.INDEX]}
        files[archive_files.TOGETHER] = within.read_bytes()
    pairs = [(archive.INDEX, files[archive.INDEX])] if archive.INDEX in files else []
    pairs += [(name, text) for name, text in files.items() if name != archive.INDEX]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for name, text in [*pairs, *extra]:
            out.writestr(name, text)


def assert_refused(file: Path, *words: str, replace: bool = False) -> str:
    """Assert that `adopt` refuses in one line, with exit code 1, and writes nothing."""
    before = content(Path())
    with pytest.raises(UserError) as error:
        adoption.adopt(file, replace)
    assert content(Path()) == before
    assert not list(Path().rglob(".adopt*"))
    text = str(error.value)
    assert "\n" not in text
    for word in words:
        assert word in text
    assert cli.main(["adopt", str(file)]) == 1
    return text
