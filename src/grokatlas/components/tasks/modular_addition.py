"""Addition modulo p, from pairs of numbers."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from grokatlas.engine.dataset import Dataset
from grokatlas.engine.keyword_types import Count, Fraction, Seed


def build(
    *,
    modulus: Count,
    pairs: Literal["ordered", "unordered"],
    encoding: Literal["tokens", "tokens_equals", "one_hot", "summed"],
    train_fraction: Fraction,
    split_seed: Seed,
) -> Dataset:
    """Inputs (a, b), label (a + b) mod p.

    Args:
        modulus: p.
        pairs: all p^2 ``ordered`` pairs, or the p (p + 1) / 2 ``unordered`` ones, a <= b.
        encoding: ``tokens`` (a, b) ``[N, 2]``; ``tokens_equals`` (a, b, p) ``[N, 3]``, where the
            token p stands for "="; ``one_hot`` ``[N, 2, p]``; ``summed`` e_a + e_b ``[N, p]``.
        train_fraction: the training set has floor(train_fraction * pairs) of them.
        split_seed: of the split, which is scikit-learn's ``train_test_split(random_state=...)``.

    With ``tokens_equals`` a model has an output for each of the p + 1 tokens (arXiv 2506.12284,
    logits over 114 for p = 113), otherwise for each of the p sums.
    """
    first, second = (grid.ravel() for grid in np.mgrid[0:modulus, 0:modulus])
    if pairs == "unordered":
        keep = first <= second
        first, second = first[keep], second[keep]
    tokens = np.stack([first, second], axis=1)
    labels = (first + second) % modulus
    eye = np.eye(modulus)
    encodings: dict[str, Callable[[], np.ndarray]] = {
        "tokens": lambda: tokens,
        "tokens_equals": lambda: np.insert(tokens, 2, modulus, axis=1),
        "one_hot": lambda: eye[tokens],
        "summed": lambda: eye[first] + eye[second],
    }
    encoded = encodings[encoding]()
    order = np.random.RandomState(int(split_seed)).permutation(len(tokens))
    train_points = int(train_fraction * len(tokens))
    test, train = order[: len(tokens) - train_points], order[len(tokens) - train_points :]
    return Dataset(
        train_inputs=encoded[train],
        train_targets=labels[train],
        test_inputs=encoded[test],
        test_targets=labels[test],
        outputs=modulus + (encoding == "tokens_equals"),
        vocabulary={"tokens": modulus, "tokens_equals": modulus + 1}.get(encoding),
    )


def size(
    *, modulus: int, pairs: str, encoding: str, train_fraction: float, **_: Any
) -> dict[str, Any]:
    """Size of the data, without making them (docs/extending.md)."""
    count = modulus**2 if pairs == "ordered" else modulus * (modulus + 1) // 2
    data = {"samples": int(train_fraction * count), "outputs": modulus}
    if encoding == "tokens":
        return data | {"shape": (2,), "vocabulary": modulus}
    if encoding == "tokens_equals":
        return data | {"shape": (3,), "vocabulary": modulus + 1, "outputs": modulus + 1}
    return data | {"shape": (2, modulus) if encoding == "one_hot" else (modulus,)}
