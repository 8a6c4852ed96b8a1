"""Image files that missing runs need: at hand under their hash, or to be fetched."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.operate.doctor.findings import Finding
from grokatlas.plan.jobs import Job

NAMES = ("mnist", "cifar10")


def images(missing: list[Job]) -> Iterator[Finding]:
    """The files of each image task of the data sets that are not made yet."""
    specs = [job.spec for job in missing if job.kind == "dataset"]
    tasks = [task for spec in specs for task in spec["tasks"] if task["name"] in NAMES]
    if not tasks:
        yield Finding("ok", "data", "no image files are needed")
        return
    for name in NAMES:
        points = [max(t["train_points"], t["test_points"]) for t in tasks if t["name"] == name]
        if points:
            yield _finding(name, max(points))


def _finding(name: str, points: int) -> Finding:
    from grokatlas.components import image_files as files

    folder = os.environ.get(files.FOLDER)
    try:
        absent = [f for f in _needed(name, points) if files.provided(f) is None and not _cached(f)]
    except ValueError as error:
        return Finding("fail", "data", str(error))
    if not absent:
        return Finding("ok", "data", f"{name}: its files are here, under their hashes")
    where = f"not in {folder}" if folder else "in no data folder"
    hint = "to be fetched; without network put them into a folder and name it as data_dir"
    return Finding("warn", "data", f"{name}: {absent[0].name} and others {where}; {hint}")


def _needed(name: str, points: int) -> list[Any]:
    """The pinned files that a task with at most so many points of a set reads."""
    from grokatlas.components import image_files as files

    task = registry.load("task", name)
    if name == "mnist":
        return [files.File(f"mnist/{file}", sha256) for file, sha256 in task.SHA256.items()]
    few = [task.FIRST[part] for part in sorted(task.FIRST)]
    if files.provided(task.ARCHIVE) is None:
        held = [files.provided(file) for file in few]
        if all(content and len(content) >= points * task.RECORD for content in held):
            return few
    return [task.ARCHIVE]


def _cached(file: Any) -> bool:
    """Whether an earlier download is there, whole."""
    import pooch

    from grokatlas.results import hashing

    path = Path(pooch.os_cache("grokatlas"), file.name)
    return path.is_file() and hashing.file_sha256(path) == file.sha256
