"""Image files of known content: from the user's data folder, else fetched; and choosing samples.

A file is used only if its sha256 is the pinned one, so a run's data are the same wherever its bytes
came from. The folder is no part of a spec: it reaches jobs in the environment.
"""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

FOLDER = "GROKATLAS_DATA"  # environment variable: the folder looked at first


@dataclass(frozen=True)
class File:
    """A file that never changes.

    Attributes:
        name: its path in a data folder and in the cache, such as ``mnist/a.gz``.
        sha256: of its bytes, as 64 hexadecimal digits.
        urls: where it may be fetched, tried in this order.
    """

    name: str
    sha256: str
    urls: tuple[str, ...] = ()


def read(file: File, note: str = "") -> bytes:
    """The bytes of a file: from the data folder, from the cache, or fetched into the cache.

    Args:
        file: which one.
        note: what the error adds, if the file is nowhere.

    Raises:
        ValueError: the data folder has another file under that name, or the file is not there and
            cannot be fetched.
    """
    content = provided(file)
    return _fetched(file, note) if content is None else content


def provided(file: File) -> bytes | None:
    """The bytes of a file of the data folder; None where it is not there.

    Raises:
        ValueError: the data folder has another file under that name.
    """
    folder = os.environ.get(FOLDER)
    path = Path(folder, file.name) if folder else None
    if path is None or not path.is_file():
        return None
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != file.sha256:
        problem = f"{path} has sha256 {digest}, must be {file.sha256}; it is not used"
        raise ValueError(f"{problem}: replace or remove it")
    return content


def _fetched(file: File, note: str) -> bytes:
    problem = "no known address"
    for url in file.urls:
        try:
            import pooch

            path = pooch.retrieve(
                url,
                known_hash=f"sha256:{file.sha256}",
                fname=Path(file.name).name,
                path=pooch.os_cache("grokatlas") / Path(file.name).parent,
            )
            content = Path(path).read_bytes()
        except ImportError:
            problem = "package pooch is not installed"
            break
        except (OSError, ValueError) as error:
            problem = type(error).__name__
            continue
        if hashlib.sha256(content).hexdigest() == file.sha256:
            return content
        problem = f"{path} was changed"
    folder = os.environ.get(FOLDER)
    where = f"not in {folder}" if folder else "in no data folder"
    raise ValueError(
        f"{file.name} (sha256 {file.sha256}) is {where} and could not be fetched ({problem})"
        f"{f'; {note}' if note else ''}; put it under that name in the folder that `data_dir` of "
        f"config.yaml or {FOLDER} names, or run where {file.urls[0]} can be reached"
    )


def chosen_classes(classes: list[int] | Literal["all"], known: int) -> list[int]:
    """The classes that samples are taken of.

    Args:
        classes: as a YAML gives them.
        known: number of classes that there are.

    Raises:
        ValueError: there is none, one is listed twice, or one is unknown.
    """
    wanted = [*range(known)] if classes == "all" else [*classes]
    if not wanted or len({*wanted}) < len(wanted) or not {*wanted} <= {*range(known)}:
        allowed = f"different ones of 0 to {known - 1}, or all"
        raise ValueError(f"classes {wanted} are not allowed: give {allowed}")
    return wanted


def first(
    labels: np.ndarray, classes: list[int], points: int, per_class: bool, what: str
) -> np.ndarray:
    """Places of the first samples of some classes, in the order of the file.

    Args:
        labels: ``[N]`` of the whole file.
        classes: the classes to take.
        points: number of samples of all these classes, or of each of them.
        per_class: whether it is of each.
        what: the samples, for the error.

    Raises:
        ValueError: there are fewer.
    """
    groups = [[each] for each in classes] if per_class else [classes]
    chosen = []
    for group in groups:
        places = np.flatnonzero(np.isin(labels, group))
        if len(places) < points:
            given = f"class {group[0]}" if per_class else f"classes {group}"
            raise ValueError(f"{what} has {len(places)} samples of {given}, {points} asked for")
        chosen.append(places[:points])
    return np.sort(np.concatenate(chosen))


def positions(labels: np.ndarray, classes: list[int]) -> np.ndarray:
    """Labels ``[N]`` as places in a list of classes, 0 to C - 1."""
    return (labels[:, None] == np.array(classes)).argmax(axis=1)
