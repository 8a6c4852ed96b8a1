"""CIFAR-10: colour photographs of ten classes, 32 x 32 pixels."""

import io
import tarfile
from typing import Any, Literal

import numpy as np

from grokatlas.components import image_files
from grokatlas.engine.dataset import Dataset
from grokatlas.engine.keyword_types import Count

ARCHIVE = image_files.File(
    "cifar10/cifar-10-binary.tar.gz",
    "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
    (
        "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
        "https://mindspore-website.obs.cn-north-4.myhuaweicloud.com/notebook/datasets/"
        "cifar-10-binary.tar.gz",
    ),
)
# the first records of the archive's files, taken from a data folder that has not the archive
FIRST = {
    "train": image_files.File(
        "cifar10/data_batch_1_first1024.bin",
        "50632eed9f548defd023dafe5d51d77dcfff5d195022a5da38e8f96f9a4bf48e",
    ),
    "test": image_files.File(
        "cifar10/test_batch_first1000.bin",
        "8314c96d7cd65618193bab23acdd5d4c4af15bf6dd00a1781d55beedf3be1ef5",
    ),
}
BATCHES = {
    "train": [f"cifar-10-batches-bin/data_batch_{k}.bin" for k in range(1, 6)],
    "test": ["cifar-10-batches-bin/test_batch.bin"],
}
RECORD = 1 + 3 * 32 * 32  # a label, then the planes R, G, B, row by row
# of the 50,000 training images' pixels, range [0, 1]
MEANS, DEVIATIONS = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)


def build(
    *, train_points: Count, test_points: Count, pixels: Literal["standardised", "unit"]
) -> Dataset:
    """The first images of the training and of the test set, as ``[N, 3, 32, 32]``.

    Args:
        train_points: number of training images.
        test_points: number of test images.
        pixels: ``unit`` is the range [0, 1]; ``standardised`` is then (x - mean) / deviation of
            each channel.

    The canonical archive is taken from the data folder; where it is not there, files of the first
    records, if they have enough; else the archive is fetched. arXiv 2506.12284 (authors' code) has
    the first 1024 of each set.

    Raises:
        ValueError: a file is missing or is another one, or has too few images.
    """
    made: dict[str, Any] = {}  # arrays of the data set, by name
    for part, points in (("train", train_points), ("test", test_points)):
        records = _records(part, points)
        values = records[:, 1:].reshape(-1, 3, 32, 32) / 255
        if pixels == "standardised":
            means, deviations = np.array(MEANS), np.array(DEVIATIONS)
            values = (values - means[:, None, None]) / deviations[:, None, None]
        made[f"{part}_inputs"] = values
        made[f"{part}_targets"] = records[:, 0].astype(np.int64)
    return Dataset(**made, outputs=10)


def _records(part: str, points: int) -> np.ndarray:
    """The first records of a set ``[points, RECORD]``, as bytes."""
    archive = image_files.provided(ARCHIVE)
    few = image_files.provided(FIRST[part]) if archive is None else None
    name = FIRST[part].name
    if few is not None and len(few) >= points * RECORD:
        content = few
    else:
        name = ARCHIVE.name
        note = f"{FIRST[part].name} has {len(few) // RECORD} of {points} images" if few else ""
        content = _batches(archive or image_files.read(ARCHIVE, note), part, points)
    if len(content) % RECORD or len(content) < points * RECORD:
        held = len(content) / RECORD
        raise ValueError(f"{name} has {held:g} {part} images, {points} asked for")
    records = np.frombuffer(content, np.uint8).reshape(-1, RECORD)[:points]
    if records[:, 0].max() > 9:
        raise ValueError(f"{name} has labels above 9: it is no CIFAR-10")
    return records


def _batches(archive: bytes, part: str, points: int) -> bytes:
    """As many files of the archive as `points` images need, one after the other."""
    content = b""
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        for batch in BATCHES[part]:
            stream = opened.extractfile(batch) if len(content) < points * RECORD else None
            content += stream.read() if stream else b""
    return content


def size(*, train_points: int, **_: Any) -> dict[str, Any]:
    """Size of the data, without making them (docs/extending.md)."""
    return {"samples": train_points, "shape": (3, 32, 32), "outputs": 10}


def needed_files(points: int) -> list[image_files.File]:
    """The files that a data set of at most so many images of a part needs."""
    few = [FIRST[part] for part in sorted(FIRST)]
    if image_files.provided(ARCHIVE) is None:
        held = [image_files.provided(file) for file in few]
        if all(content and len(content) >= points * RECORD for content in held):
            return few
    return [ARCHIVE]
