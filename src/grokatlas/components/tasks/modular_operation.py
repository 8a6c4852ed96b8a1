"""A binary operation on numbers modulo p, or on permutations, with corrupted labels if wanted."""

import itertools
import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from grokatlas.engine.dataset import Dataset
from grokatlas.engine.keyword_types import Count, Fraction, Seed, Unit

LETTERS = 6  # most letters of a permutation: 720 elements, 518,400 pairs

# a, b and 1 / b as numbers, before the remainder
NUMBERS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "sum": lambda a, b, _: a + b,
    "difference": lambda a, b, _: a - b,
    "product": lambda a, b, _: a * b,
    "quotient": lambda a, _, inverse: a * inverse,
    "quotient_if_odd": lambda a, b, inverse: np.where(b % 2, a * inverse, a - b),
    "x^2+y^2": lambda a, b, _: a**2 + b**2,
    "x^2+xy+y^2": lambda a, b, _: a**2 + a * b + b**2,
    "x^2+xy+y^2+x": lambda a, b, _: a**2 + a * b + b**2 + a,
    "x^3+xy": lambda a, b, _: a**3 + a * b,
    "x^3+xy^2+y": lambda a, b, _: a**3 + a * b**2 + b,
}
INVERTING = ("quotient", "quotient_if_odd")
PERMUTATIONS = ("composition", "conjugation", "xyx")


def build(
    *,
    operation: Literal[
        "sum",
        "difference",
        "product",
        "quotient",
        "quotient_if_odd",
        "x^2+y^2",
        "x^2+xy+y^2",
        "x^2+xy+y^2+x",
        "x^3+xy",
        "x^3+xy^2+y",
        "composition",
        "conjugation",
        "xyx",
    ],
    modulus: Count,
    encoding: Literal["one_hot", "tokens_op_equals"],
    train_fraction: Fraction,
    corrupted: Unit,
    split_seed: Seed,
) -> Dataset:
    """Inputs (a, b), all ordered pairs, and the label a o b.

    Source: Power et al., arXiv 2201.02177, appendix A.1.1, but for the product; the corruption is
    that of Doshi et al., arXiv 2310.13061, as in ``noisy_dataset`` of the authors' code.

    Args:
        operation: of numbers modulo p: the sum and so on; ``quotient`` a / b, of the pairs with b
            not 0; ``quotient_if_odd`` a / b where b is odd, else a - b; or a polynomial. Of
            permutations: ``composition`` ab, which is i -> b(a(i)), ``conjugation`` a b a^-1, or
            ``xyx``, a b a.
        modulus: p; of permutations the number of letters, so that 5 is S5 with 120 elements, which
            are numbered in lexicographic order.
        encoding: ``one_hot`` ``[N, 2, p]``; ``tokens_op_equals`` (a, o, b, =) ``[N, 4]``, where
            p + 1 stands for the operation and p for "=", so that a model has p + 2 outputs.
        train_fraction: the training set has floor(train_fraction * pairs) of them.
        corrupted: the first floor(corrupted * training set) training labels are drawn anew, each
            label with the same probability, the right one included.
        split_seed: of the split, which is that of `modular_addition`, and of the drawn labels.

    The extras ``corrupted`` ``[N]`` say which training labels were drawn anew, ``true_targets``
    ``[N]`` what training labels were before.

    Raises:
        ValueError: division by a modulus that is no prime, or permutations of too many letters.
    """
    elements, first, second, labels = _pairs(operation, modulus)
    random = np.random.RandomState(int(split_seed))
    order = random.permutation(len(labels))
    train_points = int(train_fraction * len(labels))
    test, train = order[: len(labels) - train_points], order[len(labels) - train_points :]
    is_corrupted = np.arange(train_points) < int(corrupted * train_points)
    drawn = random.randint(0, elements, train_points)
    tokens = encoding == "tokens_op_equals"
    encoded = np.stack([first, second], axis=1)
    if tokens:
        encoded = np.insert(encoded, [1, 2], [elements + 1, elements], axis=1)
    else:
        encoded = np.eye(elements)[encoded]
    return Dataset(
        train_inputs=encoded[train],
        train_targets=np.where(is_corrupted, drawn, labels[train]),
        test_inputs=encoded[test],
        test_targets=labels[test],
        outputs=elements + 2 * tokens,
        vocabulary=elements + 2 if tokens else None,
        extras={"corrupted": is_corrupted, "true_targets": labels[train]},
    )


def _pairs(operation: str, modulus: int) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """Number of elements; first and second of each pair, and its label, ``[N]``."""
    permuted = operation in PERMUTATIONS
    if permuted and modulus > LETTERS:
        raise ValueError(f"modulus {modulus}: {operation} allows at most {LETTERS} letters")
    elements = math.factorial(modulus) if permuted else modulus
    first, second = (grid.ravel() for grid in np.mgrid[0:elements, 0:elements])
    if operation == "quotient":
        first, second = first[second > 0], second[second > 0]
    if permuted:
        return elements, first, second, _of_permutations(operation, modulus)[first, second]
    return elements, first, second, _of_numbers(operation, modulus, first, second)


def _of_numbers(operation: str, modulus: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Labels ``[N]`` of pairs."""
    inverses = np.zeros(modulus, dtype=np.int64)
    if operation in INVERTING:
        for number in range(1, modulus):
            try:
                inverses[number] = pow(number, -1, modulus)
            except ValueError:
                problem = f"modulus {modulus} is no prime: {operation} cannot divide by {number}"
                raise ValueError(problem) from None
    return NUMBERS[operation](first, second, inverses[second]) % modulus


def _of_permutations(operation: str, letters: int) -> np.ndarray:
    """Labels of all pairs ``[letters!, letters!]``."""
    elements = np.array(list(itertools.permutations(range(letters))))
    powers = letters ** np.arange(letters)[::-1]

    def places(permutations: np.ndarray) -> np.ndarray:
        """The number of each, of ``[..., letters]``: in base `letters` the elements increase."""
        return np.searchsorted(elements @ powers, permutations @ powers)

    labels = places(elements[:, elements].swapaxes(0, 1))  # [a, b]: i -> b(a(i))
    last = {"conjugation": places(elements.argsort(axis=1)), "xyx": np.arange(len(elements))}
    return labels[labels, last[operation][:, None]] if operation in last else labels


def size(
    *, operation: str, modulus: int, encoding: str, train_fraction: float, **_: Any
) -> dict[str, Any]:
    """Size of the data, without making them (docs/extending.md)."""
    permuted = operation in ("composition", "conjugation", "xyx")
    elements = math.factorial(min(modulus, 6)) if permuted else modulus  # more is refused
    count = elements * (elements - (operation == "quotient"))
    found = {"samples": int(train_fraction * count)}
    if encoding == "one_hot":
        return found | {"shape": (2, elements), "outputs": elements}
    return found | {"shape": (4,), "outputs": elements + 2, "vocabulary": elements + 2}
