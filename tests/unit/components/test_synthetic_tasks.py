"""Published instances and closed forms of the tasks that are drawn from a seed."""

import numpy as np
import pytest

from grokatlas.components.tasks import (
    fourier_regression,
    linear_regression,
    matrix_completion,
    sparse_recovery,
    teacher_student,
    teacher_student_1d,
    xor_clusters,
)


def _sparse(**changes):
    keywords = {"features": 100, "nonzeros": 5, "train_points": 30, "signal_to_noise": None}
    return sparse_recovery.build(**keywords | {"instance_seed": 1} | changes)


def test_seed_1_is_the_published_sparse_instance():
    data = _sparse()
    truth = data.extras["truth"]
    assert np.flatnonzero(truth).tolist() == [33, 80, 81, 84, 93]
    values = np.sort(truth[truth != 0])
    np.testing.assert_allclose(values, [-0.0127, 0.0108, 0.0699, 0.0960, 0.1015], atol=5e-5)
    assert np.abs(truth).sum() == pytest.approx(0.2909, abs=5e-5)
    assert np.linalg.norm(truth) == pytest.approx(0.1571, abs=5e-5)
    off = np.abs(data.extras["least_squares"] - truth).max()
    assert off == pytest.approx(0.06955, abs=5e-6)


def test_measurements_are_noiseless_or_of_the_given_noise():
    data, noisy = _sparse(), _sparse(signal_to_noise=100.0)
    truth = data.extras["truth"]
    assert np.array_equal(data.train_inputs, noisy.train_inputs)
    np.testing.assert_allclose(data.train_targets[:, 0], data.train_inputs @ truth, rtol=1e-12)
    noise = np.random.RandomState(1).standard_normal(30) * (0.05 / (30 * 100)) ** 0.5
    difference = (noisy.train_targets - data.train_targets)[:, 0]
    np.testing.assert_allclose(difference, noise, atol=1e-15)


def test_relative_test_error_of_a_linear_model_is_that_of_its_weights():
    data = _sparse()
    truth = data.extras["truth"]
    weights = truth + 0.01
    error = np.linalg.norm(data.test_inputs @ weights[:, None] - data.test_targets)
    expected = np.linalg.norm(weights - truth) / np.linalg.norm(truth)
    assert error / np.linalg.norm(data.test_targets) == pytest.approx(expected)


def _matrix(**changes):
    keywords = {
        "rows": 20,
        "columns": 20,
        "rank": 3,
        "truth": "gaussian_factors",
        "train_points": 200,
        "leverage_share": 0.0,
        "test_entries": "unobserved",
        "instance_seed": 7,
    }
    return matrix_completion.build(**keywords | changes)


def test_seed_7_has_the_singular_values_of_the_calibration():
    values = _matrix().extras["singular_values"]
    np.testing.assert_allclose(values[:3], [23.80, 17.82, 12.25], atol=5e-3)
    assert np.abs(values[3:]).max() < 1e-12


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("truth", ["gaussian_factors", "normalised"])
def test_observed_and_unobserved_are_all_entries_once(share, truth):
    shape = {"rows": 6, "columns": 4, "rank": 2, "train_points": 11}
    data = _matrix(**shape, leverage_share=share, truth=truth)
    both = np.concatenate([data.train_inputs, data.test_inputs])
    assert sorted(map(tuple, both.tolist())) == [(i, j) for i in range(6) for j in range(4)]
    matrix = data.extras["truth"]
    for part in ("train", "test"):
        rows, columns = getattr(data, f"{part}_inputs").T
        assert np.array_equal(getattr(data, f"{part}_targets")[:, 0], matrix[rows, columns])
    assert (len(data.train_inputs), data.vocabulary) == (11, 6)


def test_mask_is_drawn_after_both_factors():
    random = np.random.RandomState(7)
    left, right = random.standard_normal((20, 3)), random.standard_normal((20, 3))
    places = random.permutation(400)[:200]
    data = _matrix(test_entries="all")
    assert np.array_equal(data.extras["truth"], left @ right.T)
    assert np.array_equal(data.train_inputs, np.stack(divmod(places, 20), axis=1))
    assert np.array_equal(data.test_targets[:, 0], (left @ right.T).ravel())


def test_normalised_truth_has_frobenius_norm_10():
    data = _matrix(truth="normalised", rows=10, columns=10, rank=2, train_points=80)
    assert np.linalg.norm(data.extras["truth"]) == pytest.approx(10)
    assert np.linalg.matrix_rank(data.extras["truth"]) == 2


def test_entries_of_highest_leverage_are_observed():
    data = _matrix(rows=10, columns=8, rank=2, train_points=20, leverage_share=0.5)
    matrix = data.extras["truth"]
    # leverage by projections instead of a decomposition: mu_i is that of e_i on the column space
    mu = 10 / 2 * np.diag(matrix @ np.linalg.pinv(matrix))
    nu = 8 / 2 * np.diag(np.linalg.pinv(matrix) @ matrix)
    highest = np.argsort(-(mu[:, None] + nu).ravel())[:10]
    observed = data.train_inputs @ [8, 1]
    assert {*highest.tolist()} <= {*observed.tolist()}
    assert observed[:10].tolist() == highest.tolist()


def test_teacher_jacobian_is_the_derivative_of_its_outputs():
    keywords = {"features": 3, "width": 7, "outputs": 2, "train_points": 4, "test_points": 5}
    keywords |= {"instance_seed": 2}
    plain, data = (teacher_student.build(**keywords, jacobian=each) for each in (False, True))
    assert data.train_targets.shape == (4, 2, 4)
    assert (data.outputs, plain.outputs) == (2, 2)
    assert np.array_equal(data.test_targets[:, :, 0], plain.test_targets)
    first, second = data.extras["first_layer"], data.extras["second_layer"]

    def teacher(inputs):
        return np.maximum(inputs @ first.T, 0) @ second.T

    np.testing.assert_allclose(plain.train_targets, teacher(plain.train_inputs), rtol=1e-12)
    for d in range(3):
        step = 1e-6 * np.eye(3)[d]
        slope = (teacher(data.train_inputs + step) - teacher(data.train_inputs - step)) / 2e-6
        np.testing.assert_allclose(data.train_targets[:, :, 1 + d], slope, atol=1e-8)


def test_teacher_has_the_published_scales():
    data = teacher_student.build(
        features=100,
        width=500,
        outputs=2,
        train_points=100,
        test_points=1000,
        jacobian=False,
        instance_seed=0,
    )
    assert data.extras["first_layer"].std() == pytest.approx(1, rel=0.02)
    assert data.extras["second_layer"].std() == pytest.approx(1 / 500, rel=0.1)
    assert (data.train_inputs.shape, data.test_targets.shape) == ((100, 100), (1000, 2))


PUBLISHED = {"slopes": [-1.0, 1.0, 1.0], "offsets": [1.0, 0.25, -1.0], "weights": [2.0, 4.0, -8.0]}


def _one_dimension(**changes):
    keywords = {"points": [-2.0, -0.25, 1.0, 2.0], "low": -2.0, "high": 2.0, "test_points": 200}
    return teacher_student_1d.build(**PUBLISHED | keywords | changes)


def test_published_teacher_has_the_values_of_the_figure():
    data = _one_dimension()
    np.testing.assert_allclose(data.train_targets[:, 0], [6, 2.5, 5, 1], rtol=1e-12)
    assert data.test_inputs.shape == data.test_targets.shape == (200, 1)
    assert data.test_inputs[[0, -1], 0].tolist() == [-2.0, 2.0]
    assert data.test_targets[[0, -1], 0].tolist() == [6.0, 1.0]


def _fourier(**changes):
    keywords = {
        "frequencies": 50,
        "cosine_frequencies": [2, 5],
        "cosine_coefficients": [1.0, -0.7],
        "sine_frequencies": [3],
        "sine_coefficients": [0.5],
        "train_points": 30,
        "test_points": 200,
        "data_seed": 0,
    }
    return fourier_regression.build(**keywords | changes)


def test_fourier_targets_are_the_series():
    data = _fourier()
    assert data.input_shape == (101,)
    for part in ("train", "test"):
        x = data.extras[f"{part}_positions"]
        series = np.cos(2 * x) - 0.7 * np.cos(5 * x) + 0.5 * np.sin(3 * x)
        targets = getattr(data, f"{part}_targets")[:, 0]
        np.testing.assert_allclose(targets, 2**0.5 * series, atol=1e-12)
    x = data.extras["train_positions"]
    assert len(x) == 30
    assert -np.pi <= x.min() < x.max() <= np.pi


def test_fourier_features_are_orthonormal_on_the_test_grid():
    inputs = _fourier().test_inputs
    np.testing.assert_allclose(inputs.T @ inputs / 200, np.eye(101), atol=1e-12)


def test_truth_of_the_series_is_sparse():
    truth = _fourier().extras["truth"]
    assert np.abs(truth).sum() == pytest.approx(2.2)
    assert np.count_nonzero(truth) == 3


def _regression(**changes):
    keywords = {"features": 8, "train_points": 5, "test_points": 6, "noise": 0.1, "data_seed": 3}
    return linear_regression.build(**keywords | changes)


def test_least_norm_solution_interpolates_and_lies_in_the_row_space():
    data = _regression()
    inputs, solution = data.train_inputs, data.extras["least_norm"]
    np.testing.assert_allclose(inputs @ solution, data.train_targets[:, 0], rtol=1e-10)
    coefficients = np.linalg.lstsq(inputs.T, solution, rcond=None)[0]
    np.testing.assert_allclose(inputs.T @ coefficients, solution, atol=1e-12)
    squares = np.linalg.eigvalsh(inputs @ inputs.T)[::-1]
    np.testing.assert_allclose(data.extras["singular_values"] ** 2, squares, rtol=1e-10)


def test_noise_is_on_training_targets_only():
    data, exact = _regression(), _regression(noise=0.0)
    truth = data.extras["truth"]
    np.testing.assert_allclose(data.test_targets[:, 0], data.test_inputs @ truth, rtol=1e-12)
    np.testing.assert_allclose(exact.train_targets[:, 0], exact.train_inputs @ truth, rtol=1e-12)
    assert 0 < np.abs(data.train_targets - exact.train_targets).max() < 0.5


def test_clusters_are_signs_and_small_nuisance():
    data = xor_clusters.build(
        features=50, train_points=200, test_points=100, amplitude=0.05, data_seed=0
    )
    for part, points in (("train", 200), ("test", 100)):
        inputs = getattr(data, f"{part}_inputs")
        targets = getattr(data, f"{part}_targets")
        assert inputs.shape == (points, 50)
        assert np.array_equal(np.abs(inputs[:, :2]), np.ones((points, 2)))
        assert np.array_equal(np.abs(inputs[:, 2:]), np.full((points, 48), 0.05))
        assert np.array_equal(targets[:, 0], inputs[:, 0] * inputs[:, 1])
    corners = np.unique(data.train_inputs[:, :2], axis=0, return_counts=True)[1]
    assert len(corners) == 4
    assert corners.min() > 30


@pytest.mark.parametrize(
    ("build", "changes", "fragment"),
    [
        (_sparse, {"nonzeros": 101}, "at most 100 features"),
        (_matrix, {"rank": 21}, "at most 20"),
        (_matrix, {"train_points": 400}, "at most 399"),
        (_matrix, {"train_points": 401, "test_entries": "all"}, "at most 400"),
        (_one_dimension, {"weights": [1.0]}, "3, 3 and 1 entries"),
        (_one_dimension, {"low": 2.0}, "below high"),
        (_fourier, {"cosine_frequencies": [2, 51]}, "1 to 50"),
        (_fourier, {"cosine_frequencies": [2, 2]}, "1 to 50"),
        (_fourier, {"sine_coefficients": [1.0, 2.0]}, "give equally many"),
        (_regression, {"train_points": 8}, "less than 8 features"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(build, changes, fragment):
    with pytest.raises(ValueError, match=fragment) as caught:
        build(**changes)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("build", "seed"),
    [(_sparse, "instance_seed"), (_matrix, "instance_seed"), (_fourier, "data_seed")],
)
def test_data_depend_on_their_seed(build, seed):
    first, again, other = (build(**{seed: value}).train_targets for value in (4, 4, 5))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
