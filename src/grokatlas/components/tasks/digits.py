"""scikit-learn's digits: handwritten digits, 8 x 8 pixels, flattened; nothing to download."""

from typing import Any, Literal

import numpy as np

from grokatlas.components import image_files
from grokatlas.engine.dataset import Dataset
from grokatlas.engine.keyword_types import Count, Seed, Whole

MEAN, DEVIATION = 0.3053, 0.3760  # of the 1,797 images' pixels, range [0, 1]


def build(
    *,
    classes: list[Whole] | Literal["all"],
    train_points: Count,
    test_points: Count,
    per_class: bool,
    pixels: Literal["standardised", "unit"],
    targets: Literal["labels", "binary"],
    split_seed: Seed | None,
) -> Dataset:
    """1,797 images as ``[N, 64]``: the first ones for training, the next ones for testing.

    Args:
        classes: digits to take, or all; a label is a digit's place in this list.
        train_points: number of training images.
        test_points: number of test images.
        per_class: whether these are numbers of each class, or of all together.
        pixels: ``unit`` is the range [0, 1]; ``standardised`` is then (x - 0.3053) / 0.3760.
        targets: ``labels`` ``[N]``; or ``binary``, of two classes, real 0 and 1 ``[N, 1]`` for a
            model of one output.
        split_seed: of the order in which images are taken; null takes the order of the file.

    A stand-in for `mnist` on a small machine: the keywords are the same but for `split_seed`. The
    images are the test set of the UCI data "Optical Recognition of Handwritten Digits".

    Raises:
        ValueError: there are too few images, or `classes` does not fit.
    """
    wanted = image_files.chosen_classes(classes, 10)
    if targets == "binary" and len(wanted) != 2:
        raise ValueError(f"binary targets need two classes, not {len(wanted)}")
    values, labels = _load()
    order = np.arange(len(labels))
    if split_seed is not None:
        order = np.random.RandomState(int(split_seed)).permutation(len(labels))
    values, labels = values[order], labels[order]
    train = image_files.first(labels, wanted, train_points, per_class, "digits")
    rest = np.setdiff1d(np.arange(len(labels)), train)
    test = rest[
        image_files.first(labels[rest], wanted, test_points, per_class, "the rest of digits")
    ]
    made: dict[str, Any] = {}  # arrays of the data set, by name
    for part, chosen in (("train", train), ("test", test)):
        positions = image_files.positions(labels[chosen], wanted)
        standardised = (values[chosen] - MEAN) / DEVIATION
        made[f"{part}_inputs"] = values[chosen] if pixels == "unit" else standardised
        made[f"{part}_targets"] = (
            positions if targets == "labels" else positions[:, None].astype(float)
        )
    return Dataset(**made, outputs=len(wanted) if targets == "labels" else 1)


def _load() -> tuple[np.ndarray, np.ndarray]:
    """Pixels ``[1797, 64]`` in [0, 1] and digits ``[1797]``, checked."""
    from sklearn.datasets import load_digits

    values, labels = load_digits(return_X_y=True)
    fits = values.shape == (1797, 64) and labels.shape == (1797,)
    if not fits or values.min() < 0 or values.max() > 16 or {*labels.tolist()} != {*range(10)}:
        raise ValueError("the digits of this scikit-learn are not the known 1,797 images")
    return values / 16, labels.astype(np.int64)


def size(
    *, classes: Any, train_points: int, per_class: bool, targets: str, **_: Any
) -> dict[str, Any]:
    """Size of the data, without making them (docs/extending.md)."""
    count = 10 if classes == "all" else len(classes)
    samples = train_points * count if per_class else train_points
    return {"samples": samples, "shape": (64,), "outputs": count if targets == "labels" else 1}
