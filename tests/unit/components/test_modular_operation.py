"""Operations on numbers and permutations, against each written out pair by pair."""

import itertools

import numpy as np
import pytest

from grokatlas.components.tasks import modular_addition, modular_operation

P = 7
FORMULAS = {
    "sum": lambda a, b: a + b,
    "difference": lambda a, b: a - b,
    "product": lambda a, b: a * b,
    "quotient": lambda a, b: next(c for c in range(P) if b * c % P == a),
    "quotient_if_odd": lambda a, b: FORMULAS["quotient"](a, b) if b % 2 else a - b,
    "x^2+y^2": lambda a, b: a * a + b * b,
    "x^2+xy+y^2": lambda a, b: a * a + a * b + b * b,
    "x^2+xy+y^2+x": lambda a, b: a * a + a * b + b * b + a,
    "x^3+xy": lambda a, b: a * a * a + a * b,
    "x^3+xy^2+y": lambda a, b: a * a * a + a * b * b + b,
}
LETTERS = 4
ELEMENTS = list(itertools.permutations(range(LETTERS)))


def _build(**changes):
    keywords = {
        "operation": "sum",
        "modulus": P,
        "encoding": "tokens_op_equals",
        "train_fraction": 0.5,
        "corrupted": 0.0,
        "split_seed": 0,
    }
    return modular_operation.build(**keywords | changes)


def _rows(data):
    """Tokens and labels of both parts together."""
    inputs = np.concatenate([data.train_inputs, data.test_inputs])
    return inputs, np.concatenate([data.train_targets, data.test_targets])


@pytest.mark.parametrize("operation", FORMULAS)
def test_labels_of_numbers_are_the_formula(operation):
    inputs, labels = _rows(_build(operation=operation))
    pairs = [(a, b) for a in range(P) for b in range(P) if b or operation != "quotient"]
    assert sorted(zip(inputs[:, 0], inputs[:, 2], strict=True)) == pairs
    assert np.array_equal(inputs[:, [1, 3]], np.tile([P + 1, P], (len(pairs), 1)))
    expected = [FORMULAS[operation](int(a), int(b)) % P for a, _, b, _ in inputs]
    assert labels.tolist() == expected


def _product(a, b):
    """i -> b(a(i))."""
    return tuple(b[a[i]] for i in range(LETTERS))


def _inverse(a):
    return tuple(a.index(i) for i in range(LETTERS))


@pytest.mark.parametrize(
    ("operation", "result"),
    [
        ("composition", _product),
        ("conjugation", lambda a, b: _product(_product(a, b), _inverse(a))),
        ("xyx", lambda a, b: _product(_product(a, b), a)),
    ],
)
def test_labels_of_permutations_are_the_product_letter_by_letter(operation, result):
    data = _build(operation=operation, modulus=LETTERS)
    inputs, labels = _rows(data)
    assert len(inputs) == 24**2
    assert (data.outputs, data.vocabulary) == (26, 26)
    expected = [ELEMENTS.index(result(ELEMENTS[a], ELEMENTS[b])) for a, _, b, _ in inputs]
    assert labels.tolist() == expected


def test_s5_has_120_elements_and_its_products_are_a_latin_square():
    data = _build(operation="composition", modulus=5)
    inputs, labels = _rows(data)
    table = np.empty((120, 120), dtype=int)
    table[inputs[:, 0], inputs[:, 2]] = labels
    for square in (table, table.T):
        assert np.array_equal(np.sort(square), np.tile(np.arange(120), (120, 1)))
    assert not np.array_equal(table, table.T)


def test_the_split_is_that_of_modular_addition_and_one_hot_has_the_same_pairs():
    ours = _build(encoding="one_hot", train_fraction=0.4, split_seed=3)
    theirs = modular_addition.build(
        modulus=P, pairs="ordered", encoding="one_hot", train_fraction=0.4, split_seed=3
    )
    for part in ("train_inputs", "train_targets", "test_inputs", "test_targets"):
        assert np.array_equal(getattr(ours, part), getattr(theirs, part))
    assert (ours.outputs, ours.vocabulary) == (P, None)


def test_corruption_draws_the_first_labels_and_leaves_all_else():
    clean, changed = _build(modulus=31), _build(modulus=31, corrupted=0.3)
    drawn = changed.extras["corrupted"]
    points = len(changed.train_targets)
    assert np.array_equal(drawn, np.arange(points) < int(0.3 * points))
    assert np.array_equal(changed.extras["true_targets"], clean.train_targets)
    for part in ("train_inputs", "test_inputs", "test_targets"):
        assert np.array_equal(getattr(changed, part), getattr(clean, part))
    assert np.array_equal(changed.train_targets[~drawn], clean.train_targets[~drawn])
    right = (changed.train_targets == clean.train_targets)[drawn].mean()
    # each label with probability 1 / 31, the right one included: 144 draws
    assert 0 <= right < 0.1
    assert len(np.unique(changed.train_targets[drawn])) > 25
    other = _build(modulus=31, corrupted=0.3, split_seed=1)
    assert not np.array_equal(other.train_targets[drawn], changed.train_targets[drawn])


def test_corruption_of_nothing_and_of_everything():
    assert not _build().extras["corrupted"].any()
    assert _build(corrupted=1.0).extras["corrupted"].all()


@pytest.mark.parametrize("operation", ["quotient", "quotient_if_odd"])
def test_division_by_what_has_no_inverse_is_refused(operation):
    with pytest.raises(ValueError, match=r"modulus 9 is no prime: quot\w+ cannot divide by 3"):
        _build(operation=operation, modulus=9)


def test_permutations_of_too_many_letters_are_refused():
    with pytest.raises(ValueError, match="modulus 97: composition allows at most 6 letters"):
        _build(operation="composition", modulus=97)
