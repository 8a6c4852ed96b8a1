"""The polar factor by products against the singular value decomposition."""

import math

import pytest
import torch

from grokatlas.engine.polar import polar_factor, scalings

# of the papers: matrix completion; embedding, hidden layer and readout of modular addition at the
# published size and at quick scale
SHAPES = [(10, 10), (97, 64), (64, 64), (23, 16), (24, 16), (23, 24), (5, 1)]
LEAST = [(torch.float64, value) for value in (1.0, 1e-3, 1e-6, 1e-9, 1e-12, 1e-14)]
LEAST += [(torch.float32, value) for value in (1.0, 1e-3, 1e-5)]
both_precisions = pytest.mark.parametrize("dtype", [torch.float64, torch.float32])


def _matrix(rows: int, columns: int, values: torch.Tensor, seed: int = 0) -> torch.Tensor:
    """A matrix with these singular values."""
    generator = torch.Generator().manual_seed(seed)
    sides = [
        torch.linalg.qr(torch.randn(side, len(values), generator=generator, dtype=torch.float64))[0]
        for side in (rows, columns)
    ]
    return (sides[0] * values) @ sides[1].T


def _by_svd(matrix: torch.Tensor) -> torch.Tensor:
    left, _, right = torch.linalg.svd(matrix.double(), full_matrices=False)
    return left @ right


def _norm(matrix: torch.Tensor) -> float:
    return float(torch.linalg.matrix_norm(matrix.double(), 2))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("dtype", "least"), LEAST)
def test_it_is_that_of_an_svd_within_the_stated_error(shape, dtype, least):
    eps, count = torch.finfo(dtype).eps, min(shape)
    spread = torch.logspace(0, math.log10(least), count, dtype=torch.float64)
    alone = torch.ones_like(spread)
    if count > 1:
        alone[-1] = least
    for values in (spread, alone):
        matrix = 1e-6 * _matrix(*shape, values).to(dtype)
        gap = values[-2:].sum() if shape[0] == shape[1] else 2 * values[-1]
        found = polar_factor(matrix)
        assert found.dtype == dtype
        assert _norm(found - _by_svd(matrix)) <= 6 * eps / gap + (40 + 10 * count) * eps


@both_precisions
@pytest.mark.parametrize("rows", [2, 3, 5, 64])
def test_of_a_vector_it_is_the_vector_over_its_length(rows, dtype):
    """Every step rounds, whose errors add up to 38 eps in 300 vectors."""
    generator = torch.Generator().manual_seed(2)
    vectors = torch.randn(300, rows, 1, generator=generator, dtype=torch.float64).to(dtype)
    exact = vectors.double() / torch.linalg.vector_norm(vectors.double(), dim=1, keepdim=True)
    error = torch.linalg.vector_norm(polar_factor(vectors).double() - exact, dim=1).max()
    assert error <= 53 * torch.finfo(dtype).eps


@both_precisions
@pytest.mark.parametrize("rank", [0, 1, 2, 9])
def test_it_is_a_subgradient_of_the_nuclear_norm_whatever_the_rank(rank, dtype):
    """Of a product, whose least singular values are rounding."""
    generator = torch.Generator().manual_seed(1)
    left, right = (
        torch.randn(side, rank, generator=generator, dtype=torch.float64) for side in (10, 12)
    )
    matrix = (left @ right.T).to(dtype)
    eps = 100 * torch.finfo(dtype).eps
    found = polar_factor(matrix)
    nuclear = float(torch.linalg.svdvals(matrix.double()).sum())
    assert _norm(found) <= 1 + eps
    assert float((found * matrix).sum()) == pytest.approx(nuclear, rel=eps)
    # on the space of the matrix it is what an SVD gives
    basis = torch.linalg.qr(left)[0]
    kept = [basis.T @ factor.double() for factor in (found, _by_svd(matrix))]
    torch.testing.assert_close(*kept, rtol=0, atol=10 * eps)


def test_what_is_zero_stays_zero():
    matrix = torch.zeros(3, 6, 4, dtype=torch.float64)
    matrix[1, :2, :2] = torch.eye(2)
    matrix[2, 0] = 1e-300
    found = polar_factor(matrix)
    assert found[0].eq(0).all()
    torch.testing.assert_close(found[1], matrix[1], rtol=0, atol=1e-14)
    assert found[1, 2:].eq(0).all()
    torch.testing.assert_close(found[2, 0], torch.full((4,), 0.5, dtype=torch.float64))


def test_matrices_together_are_as_alone():
    generator = torch.Generator().manual_seed(2)
    stacked = torch.randn(4, 9, 7, generator=generator, dtype=torch.float64)
    together = torch.func.vmap(polar_factor)(stacked)
    alone = torch.stack([polar_factor(matrix) for matrix in stacked])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("dtype", "steps"), [(torch.float64, 43), (torch.float32, 22)])
def test_the_number_of_steps_is_the_stated_one(dtype, steps):
    assert len(scalings(torch.finfo(dtype).eps)) == steps
