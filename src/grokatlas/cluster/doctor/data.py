"""Image files that missing runs need: at hand under their hash, or to be fetched."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.cluster.doctor.findings import Finding
from grokatlas.declare.signatures import defines
from grokatlas.plan.jobs import Job


def images(missing: list[Job]) -> Iterator[Finding]:
    """The files of each image task of the data sets that are not made yet."""
    specs = [job.spec for job in missing if job.kind == "dataset"]
    points: dict[str, int] = {}
    for task in (task for spec in specs for task in spec["tasks"]):
        name = task["name"]
        if defines("task", name, "needed_files"):
            most = max(task["train_points"], task["test_points"])
            points[name] = max(points.get(name, 0), most)
    if not points:
        yield Finding("ok", "data", "no image files are needed")
    for name, most in points.items():
        yield _finding(name, most)


def _finding(name: str, points: int) -> Finding:
    from grokatlas.components import image_files as files

    folder = os.environ.get(files.FOLDER)
    try:
        needed = registry.load("task", name).needed_files(points)
        absent = [file for file in needed if files.provided(file) is None and not _cached(file)]
    except ValueError as error:
        return Finding("fail", "data", str(error))
    if not absent:
        return Finding("ok", "data", f"{name}: its files are here, under their hashes")
    where = f"not in {folder}" if folder else "in no data folder"
    hint = "to be fetched; without network put them into a folder and name it as data_dir"
    return Finding("warn", "data", f"{name}: {absent[0].name} and others {where}; {hint}")


def _cached(file: Any) -> bool:
    """Test for an earlier download, whole."""
    import pooch

    from grokatlas.results import hashing

    path = Path(pooch.os_cache("grokatlas"), file.name)
    return path.is_file() and hashing.file_sha256(path) == file.sha256
