"""What the image tasks make of their files: order, labels, ranges; and the real files, if here."""

import gzip
import os

import numpy as np
import pytest

from grokatlas.components import image_files as images
from grokatlas.components.tasks import cifar10, digits, mnist
from tests import image_files

REAL = os.environ.get(images.FOLDER)
needs_real_data = pytest.mark.skipif(
    not REAL, reason="GROKATLAS_DATA names no folder of real images"
)


@pytest.fixture
def held(monkeypatch, tmp_path):
    return image_files.install(monkeypatch, tmp_path)


def _mnist(**changes):
    keywords = {"classes": "all", "train_points": 12, "test_points": 9, "per_class": False}
    return mnist.build(**keywords | {"pixels": "unit", "targets": "labels"} | changes)


def _digits(**changes):
    keywords = {"classes": "all", "train_points": 1000, "test_points": 797, "per_class": False}
    keywords |= {"pixels": "unit", "targets": "labels", "split_seed": None}
    return digits.build(**keywords | changes)


def test_mnist_is_the_first_images_of_each_file(held):
    data = _mnist()
    for part, prefix, points in (("train", "train", 12), ("test", "t10k", 9)):
        pixels = held[f"{prefix}_images"][:points].reshape(points, 784) / 255
        assert np.array_equal(getattr(data, f"{part}_inputs"), pixels)
        assert np.array_equal(getattr(data, f"{part}_targets"), held[f"{prefix}_labels"][:points])
    assert (data.outputs, data.input_shape) == (10, (784,))


def test_standardised_pixels_are_shifted_and_scaled(held):
    unit, made = _mnist(), _mnist(pixels="standardised")
    np.testing.assert_allclose(made.train_inputs * 0.3081 + 0.1307, unit.train_inputs, atol=1e-12)


def test_classes_are_renumbered_in_their_order(held):
    data = _mnist(classes=[7, 2], train_points=6, test_points=4)
    kept = np.flatnonzero(np.isin(held["train_labels"], [2, 7]))[:6]
    assert np.array_equal(np.array([7, 2])[data.train_targets], held["train_labels"][kept])
    assert np.array_equal(data.train_inputs, held["train_images"][kept].reshape(6, 784) / 255)
    assert data.outputs == 2


def test_numbers_of_each_class(held):
    data = _mnist(classes=[0, 1], train_points=3, test_points=2, per_class=True)
    assert np.bincount(data.train_targets).tolist() == [3, 3]
    assert np.bincount(data.test_targets).tolist() == [2, 2]
    places = [np.flatnonzero(held["train_labels"] == label)[:3] for label in (0, 1)]
    kept = np.sort(np.concatenate(places))
    assert np.array_equal(data.train_inputs, held["train_images"][kept].reshape(6, 784) / 255)


def test_binary_targets_are_real_numbers_for_one_output(held):
    keywords = {"classes": [3, 1], "train_points": 4, "test_points": 4}
    data, labels = _mnist(**keywords, targets="binary"), _mnist(**keywords)
    assert data.outputs == 1
    assert data.train_targets.dtype == np.float64
    assert np.array_equal(data.train_targets[:, 0], labels.train_targets)


@pytest.mark.parametrize(
    ("changes", "fragment"),
    [
        ({"train_points": 41}, "the train file of mnist has 40 samples of classes .*, 41 asked"),
        ({"classes": [4], "test_points": 4}, "the test file of mnist has 3 samples of classes"),
        ({"train_points": 5, "per_class": True}, "has 4 samples of class 0, 5 asked for"),
        ({"classes": [1, 10]}, "give different ones of 0 to 9, or all"),
        ({"classes": [1, 1]}, "give different ones of 0 to 9, or all"),
        ({"classes": []}, "give different ones of 0 to 9, or all"),
        ({"targets": "binary"}, "binary targets need two classes, not 10"),
    ],
)
def test_what_mnist_has_not_is_refused_in_one_line(held, changes, fragment):
    with pytest.raises(ValueError, match=fragment) as caught:
        _mnist(**{"train_points": 3} | changes)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("values", "fragment"),
    [
        (np.zeros((40, 28, 27), np.uint8), r"train-images.* is no idx file of bytes \[N, 28, 28\]"),
        (np.zeros((39, 28, 28), np.uint8), "39 images do not fit the labels"),
    ],
)
def test_a_file_of_another_shape_is_refused(held, monkeypatch, tmp_path, values, fragment):
    name = "train-images-idx3-ubyte.gz"
    pin = image_files.write(tmp_path / "mnist" / name, gzip.compress(image_files.idx(values)))
    monkeypatch.setitem(mnist.SHA256, name, pin)
    with pytest.raises(ValueError, match=fragment):
        _mnist()


def test_labels_above_9_are_refused(held, monkeypatch, tmp_path):
    name, labels = "t10k-labels-idx1-ubyte.gz", np.full(30, 10, np.uint8)
    pin = image_files.write(tmp_path / "mnist" / name, gzip.compress(image_files.idx(labels)))
    monkeypatch.setitem(mnist.SHA256, name, pin)
    with pytest.raises(ValueError, match="do not fit the labels"):
        _mnist()
    (tmp_path / cifar10.ARCHIVE.name).unlink()
    file = cifar10.FIRST["train"].name
    pin = image_files.write(tmp_path / file, bytes([10]) * cifar10.RECORD)
    monkeypatch.setitem(cifar10.FIRST, "train", images.File(file, pin))
    with pytest.raises(ValueError, match="labels above 9"):
        cifar10.build(train_points=1, test_points=1, pixels="unit")


def test_cifar_images_are_planes_of_colours(held):
    data = cifar10.build(train_points=30, test_points=12, pixels="unit")
    records = held["cifar_train"][:30]  # of three batch files
    assert data.train_inputs.shape == (30, 3, 32, 32)
    assert np.array_equal(data.train_targets, records[:, 0])
    assert data.train_inputs[4, 2, 5, 7] == records[4, 1 + 2 * 1024 + 5 * 32 + 7] / 255
    assert np.array_equal(data.test_targets, held["cifar_test"][:12, 0])


def test_cifar_is_standardised_by_channel(held):
    unit, made = (
        cifar10.build(train_points=3, test_points=3, pixels=pixels)
        for pixels in ("unit", "standardised")
    )
    for channel, (mean, deviation) in enumerate(
        [(0.4914, 0.2470), (0.4822, 0.2435), (0.4465, 0.2616)]
    ):
        back = made.test_inputs[:, channel] * deviation + mean
        np.testing.assert_allclose(back, unit.test_inputs[:, channel], atol=1e-12)


def test_more_than_the_cifar_archive_has_is_refused(held):
    with pytest.raises(ValueError, match="has 12 test images, 13 asked for"):
        cifar10.build(train_points=1, test_points=13, pixels="unit")


@pytest.mark.parametrize("split_seed", [None, 0, 1])
def test_digits_are_split_without_overlap(split_seed):
    data, whole = _digits(split_seed=split_seed), _digits()
    both = np.concatenate([data.train_inputs, data.test_inputs])
    every = np.concatenate([whole.train_inputs, whole.test_inputs])
    assert sorted(map(tuple, both)) == sorted(map(tuple, every))
    assert np.array_equal(both, every) == (split_seed is None)
    assert (both.min(), both.max(), both.shape) == (0, 1, (1797, 64))


def test_standardised_digits_have_mean_0_and_deviation_1():
    data = _digits(pixels="standardised")
    both = np.concatenate([data.train_inputs, data.test_inputs])
    assert both.mean() == pytest.approx(0, abs=1e-3)
    assert both.std() == pytest.approx(1, abs=1e-3)


def test_digits_of_two_classes():
    keywords = {"classes": [0, 1], "per_class": True, "targets": "binary", "split_seed": 2}
    data = _digits(**keywords, train_points=100, test_points=50)
    assert [data.train_targets.sum(), data.test_targets.sum()] == [100, 50]
    assert (data.train_targets.shape, data.test_targets.shape) == ((200, 1), (100, 1))
    with pytest.raises(ValueError, match="the rest of digits has 0 samples of classes"):
        _digits(train_points=1797)


@needs_real_data
def test_the_first_images_of_the_real_mnist():
    data = _mnist(train_points=1024, test_points=1024)
    assert data.train_targets[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert data.test_targets[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
    whole = _mnist(train_points=60000, test_points=10000)
    assert whole.train_inputs.mean() == pytest.approx(0.1307, abs=5e-5)
    assert whole.train_inputs.std() == pytest.approx(0.3081, abs=5e-5)


@needs_real_data
def test_the_zeros_and_ones_of_the_real_mnist():
    keywords = {"classes": [0, 1], "per_class": True, "targets": "binary"}
    data = _mnist(**keywords, train_points=512, test_points=512)
    assert data.train_targets[0, 0] == 0  # the probe of arXiv 2506.12284, figure 3, is a zero
    assert [data.train_targets.sum(), data.test_targets.sum()] == [512, 512]


@needs_real_data
def test_the_first_images_of_the_real_cifar():
    data = cifar10.build(train_points=1024, test_points=1000, pixels="standardised")
    assert data.train_targets[:5].tolist() == [6, 9, 9, 4, 1]  # frog, truck, truck, deer, car
    assert data.test_targets[:5].tolist() == [3, 8, 8, 0, 6]  # cat, ship, ship, plane, frog
    np.testing.assert_allclose(data.train_inputs.mean(axis=(0, 2, 3)), 0, atol=0.05)
    np.testing.assert_allclose(data.train_inputs.std(axis=(0, 2, 3)), 1, atol=0.05)
