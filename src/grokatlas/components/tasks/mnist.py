"""MNIST: handwritten digits, 28 x 28 pixels, flattened."""

import gzip
from typing import Any, Literal

import numpy as np

from grokatlas.components import image_files
from grokatlas.engine.dataset import Dataset
from grokatlas.engine.keyword_types import Count, Whole

MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
    "http://yann.lecun.com/exdb/mnist/",
)
SHA256 = {
    "train-images-idx3-ubyte.gz": (
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"
    ),
    "train-labels-idx1-ubyte.gz": (
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"
    ),
    "t10k-images-idx3-ubyte.gz": (
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"
    ),
    "t10k-labels-idx1-ubyte.gz": (
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"
    ),
}
MEAN, DEVIATION = 0.1307, 0.3081  # of the 60,000 training images' pixels, range [0, 1]


def build(
    *,
    classes: list[Whole] | Literal["all"],
    train_points: Count,
    test_points: Count,
    per_class: bool,
    pixels: Literal["standardised", "unit"],
    targets: Literal["labels", "binary"],
) -> Dataset:
    """The first images of the training file and of the test file, as ``[N, 784]``.

    Args:
        classes: digits to take, or all; a label is a digit's place in this list.
        train_points: number of training images.
        test_points: number of test images.
        per_class: whether these are numbers of each class, or of all together.
        pixels: ``unit`` is the range [0, 1]; ``standardised`` is then (x - 0.1307) / 0.3081.
        targets: ``labels`` ``[N]``; or ``binary``, of two classes, real 0 and 1 ``[N, 1]`` for a
            model of one output.

    Images keep the order of their file. Preprocessing of arXiv 2506.12284 (authors' code):
    standardised, the first 1024 of each file.

    Raises:
        ValueError: a file is missing or is another one, has too few images, or `classes` does not
            fit.
    """
    wanted = image_files.chosen_classes(classes, 10)
    if targets == "binary" and len(wanted) != 2:
        raise ValueError(f"binary targets need two classes, not {len(wanted)}")
    made: dict[str, Any] = {}  # arrays of the data set, by name
    for part, prefix, points in (("train", "train", train_points), ("test", "t10k", test_points)):
        pictures = _idx(f"{prefix}-images-idx3-ubyte.gz", (28, 28))
        labels = _idx(f"{prefix}-labels-idx1-ubyte.gz", ())
        if len(pictures) != len(labels) or labels.max() > 9:
            raise ValueError(f"mnist/{prefix}-*: {len(pictures)} images do not fit the labels")
        chosen = image_files.first(labels, wanted, points, per_class, f"the {part} file of mnist")
        values = pictures[chosen].reshape(len(chosen), -1) / 255
        positions = image_files.positions(labels[chosen], wanted)
        made[f"{part}_inputs"] = values if pixels == "unit" else (values - MEAN) / DEVIATION
        made[f"{part}_targets"] = (
            positions if targets == "labels" else positions[:, None].astype(float)
        )
    return Dataset(**made, outputs=len(wanted) if targets == "labels" else 1)


def _idx(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """An idx file of bytes ``[N, ...]``: 0, 0, type 8, number of axes, their sizes, the data."""
    urls = tuple(mirror + name for mirror in MIRRORS)
    content = gzip.decompress(
        image_files.read(image_files.File(f"mnist/{name}", SHA256[name], urls))
    )
    axes = 1 + len(shape)
    sizes = tuple(np.frombuffer(content, ">u4", axes, 4).tolist())
    values = np.frombuffer(content, np.uint8, offset=4 + 4 * axes)
    if content[:4] != bytes([0, 0, 8, axes]) or sizes[1:] != shape or values.size != np.prod(sizes):
        raise ValueError(
            f"mnist/{name} is no idx file of bytes [N{''.join(f', {n}' for n in shape)}]"
        )
    return values.reshape(sizes)


def size(
    *, classes: Any, train_points: int, per_class: bool, targets: str, **_: Any
) -> dict[str, Any]:
    """Size of the data, without making them (docs/extending.md)."""
    count = 10 if classes == "all" else len(classes)
    samples = train_points * count if per_class else train_points
    return {"samples": samples, "shape": (784,), "outputs": count if targets == "labels" else 1}


def needed_files(points: int) -> list[image_files.File]:
    """The files that a data set of at most so many images of a part needs: all four."""
    return [image_files.File(f"mnist/{name}", sha256) for name, sha256 in SHA256.items()]
