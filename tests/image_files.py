"""Small files in the formats of MNIST and CIFAR-10, with random pixels, for the real ones."""

import gzip
import hashlib
import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from grokatlas.components import image_files
from grokatlas.components.tasks import cifar10, mnist

MNIST_POINTS = {"train": 40, "t10k": 30}
BATCH = 12  # CIFAR-10 records in a batch file; the files of first records hold 8 and 7
FIRST = {"train": 8, "test": 7}


def install(monkeypatch: pytest.MonkeyPatch, folder: Path) -> dict[str, np.ndarray]:
    """Write the files, pin them instead of the real ones and make `folder` the data folder.

    Returns:
        what the files hold: ``train_images``, ``train_labels``, ... of MNIST, and the CIFAR-10
        records ``cifar_train``, ``cifar_test``.
    """
    random = np.random.RandomState(0)
    held: dict[str, np.ndarray] = {}
    for prefix, points in MNIST_POINTS.items():
        pictures = random.randint(0, 256, (points, 28, 28)).astype(np.uint8)
        labels = np.arange(points, dtype=np.uint8)[::-1] * 3 % 10
        held |= {f"{prefix}_images": pictures, f"{prefix}_labels": labels}
        for name, values in (("images-idx3", pictures), ("labels-idx1", labels)):
            file = f"{prefix}-{name}-ubyte.gz"
            pin = write(folder / "mnist" / file, gzip.compress(idx(values), mtime=0))
            monkeypatch.setitem(mnist.SHA256, file, pin)
    members = {}
    for part, names in cifar10.BATCHES.items():
        records = random.randint(0, 256, (BATCH * len(names), cifar10.RECORD)).astype(np.uint8)
        records[:, 0] %= 10
        held[f"cifar_{part}"] = records
        for k, name in enumerate(names):
            members[name] = records[k * BATCH : (k + 1) * BATCH].tobytes()
        file = cifar10.FIRST[part]
        pin = write(folder / file.name, records[: FIRST[part]].tobytes())
        monkeypatch.setitem(cifar10.FIRST, part, image_files.File(file.name, pin))
    archive = cifar10.ARCHIVE
    pin = write(folder / archive.name, _tar(members))
    monkeypatch.setattr(cifar10, "ARCHIVE", image_files.File(archive.name, pin, archive.urls))
    monkeypatch.setenv(image_files.FOLDER, str(folder))
    return held


def idx(values: np.ndarray) -> bytes:
    """Bytes in MNIST's format."""
    sizes = np.array(values.shape, dtype=">u4").tobytes()
    return bytes([0, 0, 8, values.ndim]) + sizes + values.tobytes()


def write(path: Path, content: bytes) -> str:
    """Write a file; its sha256."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def _tar(members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return made.getvalue()
