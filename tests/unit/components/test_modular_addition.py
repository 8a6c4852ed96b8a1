import numpy as np
import pytest

from grokatlas.components.tasks import modular_addition


def _build(**changes):
    keywords = {
        "modulus": 97,
        "pairs": "ordered",
        "encoding": "tokens",
        "train_fraction": 0.4,
        "split_seed": 0,
    }
    return modular_addition.build(**keywords | changes)


def _pairs(modulus, unordered):
    pairs = [(a, b) for a in range(modulus) for b in range(modulus)]
    return [(a, b) for a, b in pairs if a <= b] if unordered else pairs


# Of RandomState(0).permutation(n) scikit-learn's train_test_split(random_state=0) takes the head as
# test set and the rest as training set: the first five places of each.
@pytest.mark.parametrize(
    ("changes", "train", "test", "first_test", "first_train"),
    [
        ({}, 3763, 5646, [6449, 9394, 4069, 5477, 9378], [7723, 6580, 2072, 6622, 929]),
        (
            {"modulus": 37, "pairs": "unordered", "train_fraction": 0.7},
            *(492, 211),
            *([539, 477, 548, 605, 518], [503, 651, 626, 15, 409]),
        ),
    ],
    ids=["97", "37"],
)
def test_split_is_the_one_of_scikit_learn(changes, train, test, first_test, first_train):
    data = _build(**changes)
    assert (len(data.train_inputs), len(data.test_inputs)) == (train, test)
    pairs = _pairs(changes.get("modulus", 97), "pairs" in changes)
    assert [tuple(row) for row in data.test_inputs[:5]] == [pairs[k] for k in first_test]
    assert [tuple(row) for row in data.train_inputs[:5]] == [pairs[k] for k in first_train]


@pytest.mark.parametrize("pairs", ["ordered", "unordered"])
def test_train_and_test_are_all_pairs_once(pairs):
    data = _build(modulus=11, pairs=pairs)
    both = np.concatenate([data.train_inputs, data.test_inputs])
    assert sorted(map(tuple, both.tolist())) == _pairs(11, pairs == "unordered")


@pytest.mark.parametrize("pairs", ["ordered", "unordered"])
@pytest.mark.parametrize("encoding", ["tokens", "tokens_equals", "one_hot", "summed"])
def test_labels_are_sums(pairs, encoding):
    tokens = _build(modulus=7, pairs=pairs)
    data = _build(modulus=7, pairs=pairs, encoding=encoding)
    for part in ("train", "test"):
        first, second = getattr(tokens, f"{part}_inputs").T
        assert np.array_equal(getattr(data, f"{part}_targets"), (first + second) % 7)
        eye, inputs = np.eye(7), getattr(data, f"{part}_inputs")
        if encoding == "one_hot":
            assert np.array_equal(inputs, np.stack([eye[first], eye[second]], axis=1))
        if encoding == "tokens_equals":
            assert np.array_equal(inputs, np.stack([first, second, np.full_like(first, 7)], 1))
        if encoding == "summed":
            assert np.array_equal(inputs, eye[first] + eye[second])


@pytest.mark.parametrize(
    ("encoding", "outputs", "vocabulary"),
    [("tokens", 113, 113), ("tokens_equals", 114, 114), ("summed", 113, None)],
)
def test_outputs_and_vocabulary(encoding, outputs, vocabulary):
    data = _build(modulus=113, encoding=encoding, train_fraction=0.3)
    assert (data.outputs, data.vocabulary) == (outputs, vocabulary)


def test_split_depends_on_its_seed():
    same, other = _build(split_seed=0), _build(split_seed=1)
    assert np.array_equal(_build().train_inputs, same.train_inputs)
    assert not np.array_equal(same.train_inputs, other.train_inputs)
