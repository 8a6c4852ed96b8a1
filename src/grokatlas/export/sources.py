"""The sources of a study: what its results are handed on with, as they lie here."""

import os
from pathlib import Path, PurePosixPath

from grokatlas import registry
from grokatlas.code import code_digest
from grokatlas.export.archive_files import FileToPack

FOLDER = "sources"  # in an archive, where results have their own folder
SETTINGS = "config/config.yaml"
FILES = (
    *(registry.STUDY, "Snakefile", "workflow/**/*", "README.md", "LICENSE", "*.lock"),
    *("config/**/*", "tests/**/*", "profiles/**/*", *(f"{room}/**/*" for room in registry.ROOMS)),
)


def of_study(below: str = "") -> list[FileToPack]:
    """The files of the study that this process runs in, sorted; none outside a study.

    Args:
        below: folder of their names.
    """
    root = registry.study()
    if root is None:
        return []
    paths = {file for glob in FILES for file in registry.own_files(root, glob)}
    names = [".".join(("grokatlas", *m.with_suffix("").parts)) for m in registry.modules_of_study()]
    paths.add(root / ".gitignore")
    read = (file for each in code_digest.files(names).values() for file in each)
    paths |= {Path(os.path.normpath(file)) for file in read}
    files = [
        file
        for file in sorted(paths)
        if file.is_file() and file.is_relative_to(root) and "__pycache__" not in file.parts
    ]
    return [
        FileToPack.of_file((PurePosixPath(below) / file.relative_to(root)).as_posix(), file)
        for file in files
    ]


def holds(name: str) -> bool:
    """True for the name of a source in an archive, which leads to no other folder."""
    folder, *inner = name.split("/")
    odd = {"", ".", ".."} & {*inner} or "\\" in name or ":" in name
    return folder == FOLDER and bool(inner) and not odd and not Path(name).is_absolute()
