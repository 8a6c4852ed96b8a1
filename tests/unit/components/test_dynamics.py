"""Dynamics that take many steps at once, against their one step and published instances."""

import numpy as np
import pytest
import torch

from grokatlas.components.dynamics import (
    _compiled,
    hadamard_descent,
    linear_descent,
    matrix_sensing_descent,
    nuclear_subgradient_descent,
    subgradient_descent,
)

SPARSE = {"rate": 0.1, "l1": 1e-5, "l2": 0.0}
COMPLETION = {"rate": 0.1, "weight": 1e-4}
SENSING = {"weight": 1e-3, "rows": 10}


def _sparse(samples: int = 30, seed: int = 1, dtype: torch.dtype = torch.float64):
    """The published instance without noise: X ``[N, 100]``, y ``[N, 1]``, a* ``[100]``."""
    random = np.random.RandomState(seed)
    truth = np.zeros(100)
    places = random.choice(100, 5, replace=False)
    truth[places] = random.standard_normal(5) / 10
    x = np.random.RandomState(seed).standard_normal((samples, 100)) / samples**0.5
    return torch.tensor(x, dtype=dtype), torch.tensor(x @ truth, dtype=dtype)[:, None], truth


def _completion(observed: int = 80, side: int = 10):
    """Pairs ``[N, 2]``, values ``[N, 1]`` and the matrix: rank 2, Frobenius norm 10."""
    random = np.random.RandomState(0)
    truth = random.standard_normal((side, 2)) @ random.standard_normal((2, side))
    truth *= 10 / np.linalg.norm(truth)
    places = random.permutation(side * side)[:observed]
    pairs = np.stack([places // side, places % side], axis=1)
    values = torch.tensor(truth.reshape(-1)[places])[:, None]
    return torch.tensor(pairs), values, truth


def _start(members: int, dtype: torch.dtype = torch.float64) -> dict:
    return {"weight": torch.full((members, 1, 100), 1e-6, dtype=dtype)}


def _identity(members: int, side: int = 10) -> dict:
    return {"matrix": 1e-6 * torch.eye(side, dtype=torch.float64).expand(members, -1, -1)}


def _factors(members: int) -> dict:
    return {"factors": torch.full((members, 3, 100), 0.1, dtype=torch.float64)}


def _looped(module, state: dict, train: tuple, steps: int, **keywords) -> dict:
    """`update`, member by member."""
    dynamics = module.build(None, None, **keywords)
    found = []
    for member in range(len(next(iter(state.values())))):
        own = {key: value[member] for key, value in state.items()}
        for _ in range(steps):
            own = dynamics.update(own, train)
        found.append(own)
    return {key: torch.stack([own[key] for own in found]) for key in state}


def _distance(state: dict, truth: np.ndarray) -> float:
    value = next(iter(state.values()))[0].numpy().reshape(truth.shape)
    return float(np.linalg.norm(value - truth) / np.linalg.norm(truth))


def test_sparse_step_written_out():
    x, y, _ = _sparse()
    dynamics = subgradient_descent.build(None, None, rate=0.1, l1=0.3, l2=0.2)
    a = np.zeros(100)
    a[:3] = [1.0, -2.0, 0.5]
    after = dynamics.update({"weight": torch.tensor(a)[None]}, (x, y))["weight"].numpy()[0]
    sign = np.zeros(100)
    sign[:3] = [1, -1, 1]
    gradient = x.numpy().T @ (x.numpy() @ a - y.numpy()[:, 0]) + 0.3 * sign + 0.2 * a
    np.testing.assert_allclose(after, a - 0.1 * gradient, rtol=1e-13, atol=1e-15)


def test_an_entry_at_zero_feels_no_l1():
    zeros = (torch.zeros(6, 3, dtype=torch.float64), torch.zeros(6, 1, dtype=torch.float64))
    start = {"weight": torch.tensor([[[0.0, 0.5, -0.5]]], dtype=torch.float64)}
    after = subgradient_descent.advance(start, zeros, 2, rate=0.1, l1=1.0, l2=0.0)["weight"]
    torch.testing.assert_close(after.flatten().tolist(), [0.0, 0.3, -0.3])


def test_published_times_of_sparse_recovery():
    """arXiv 2506.05718, alpha 0.1, beta_1 1e-5: t1 about 60, t2 about 1.0e5."""
    x, y, truth = _sparse()
    state = _start(1)
    errors = []
    for _ in range(80):
        state = subgradient_descent.advance(state, (x, y), 1, **SPARSE)
        errors.append(float((x @ state["weight"][0].T - y).norm() / y.norm()))
    assert 1 + next(k for k, error in enumerate(errors) if error < 1e-3) == pytest.approx(60, abs=2)
    state = subgradient_descent.advance(state, (x, y), 80_000 - 80, **SPARSE)
    assert 0.05 < _distance(state, truth) < 0.84
    steps = 80_000
    while _distance(state, truth) >= 1e-3:
        state = subgradient_descent.advance(state, (x, y), 1000, **SPARSE)
        steps += 1000
    assert steps == pytest.approx(101_000, abs=2000)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_step_of_factors_is_gradient_descent(depth):
    x, y, _ = _sparse(7)
    random = torch.Generator().manual_seed(depth)
    factors = torch.randn(depth, 100, generator=random, dtype=torch.float64)

    def half_squares(factors: torch.Tensor) -> torch.Tensor:
        return (x @ factors.prod(0) - y[:, 0]).square().sum() / 2

    after = hadamard_descent.build(None, None, rate=0.1).update({"factors": factors}, (x, y))
    expected = factors - 0.1 * torch.func.grad(half_squares)(factors)
    torch.testing.assert_close(after["factors"], expected, rtol=1e-12, atol=1e-14)


def test_factors_need_their_model():
    with pytest.raises(ValueError, match="needs the model hadamard_product"):
        hadamard_descent.build(None, None, rate=0.1).init({"weight": torch.ones(1, 5)})


def test_completion_step_written_out():
    pairs, values, _ = _completion()
    a = np.random.RandomState(3).standard_normal((10, 10))
    dynamics = nuclear_subgradient_descent.build(None, None, rate=0.1, weight=0.4)
    after = dynamics.update({"matrix": torch.tensor(a)}, (pairs, values))["matrix"].numpy()
    masked = np.zeros((10, 10))
    for (i, j), value in zip(pairs.tolist(), values[:, 0].tolist(), strict=True):
        masked[i, j] = a[i, j] - value
    u, _, vt = np.linalg.svd(a)
    np.testing.assert_allclose(after, a - 0.1 * (masked + 0.4 * u @ vt), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("smallest", [1.0, 1e-4, 1e-8, 1e-12, 0.0])
def test_polar_factor_is_backward_stable(smallest):
    """U orthogonal, U^T A symmetric and without negative eigenvalues: to rounding."""
    if _compiled.numba is None:
        pytest.skip("needs numba")
    random = np.random.RandomState(0)
    left, right = (np.linalg.qr(random.standard_normal((10, 10)))[0] for _ in range(2))
    values = np.r_[10, 7, smallest * random.uniform(0.1, 1, 8)]
    a = (left * values) @ right.T
    u, inverse, row, order = np.empty_like(a), np.empty_like(a), np.empty(10), np.empty(10, int)
    assert nuclear_subgradient_descent._polar(a, u, inverse, row, order)
    hermitian = u.T @ a
    assert np.abs(u.T @ u - np.eye(10)).max() < 2e-15
    assert np.abs(hermitian - hermitian.T).max() < 2e-14
    assert np.linalg.eigvalsh((hermitian + hermitian.T) / 2).min() > -2e-14
    lapack = np.linalg.svd(a)
    tolerance = 1e-13 + 1e-14 * 10 / max(lapack[1][-1] + lapack[1][-2], 1e-300)
    assert np.abs(u - lapack[0] @ lapack[2]).max() < tolerance


def test_completion_agrees_step_by_step_where_singular_values_jump_about_zero():
    pairs, values, _ = _completion()
    state = nuclear_subgradient_descent.advance(
        _identity(1), (pairs, values), 30_000, rate=0.5, weight=1e-3
    )
    jumping = torch.linalg.svdvals(state["matrix"][0])[3:]
    assert jumping.max() < 3 * 0.5 * 1e-3
    for _ in range(50):
        slow = _looped(
            nuclear_subgradient_descent, state, (pairs, values), 1, rate=0.5, weight=1e-3
        )
        state = nuclear_subgradient_descent.advance(
            state, (pairs, values), 1, rate=0.5, weight=1e-3
        )
        torch.testing.assert_close(state["matrix"], slow["matrix"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [(10, 8), (10, 10)])
def test_completion_goes_by_lapack_where_newton_cannot(shape):
    """A matrix that is not square, or whose first row is zero, so exactly singular."""
    pairs, values, _ = _completion()
    inside = pairs[:, 1] < shape[1]
    train = (pairs[inside], values[inside])
    start = torch.tensor(np.random.RandomState(2).standard_normal((1, *shape)))
    start[:, 0] = 0
    fast = nuclear_subgradient_descent.advance({"matrix": start}, train, 3, **COMPLETION)
    slow = _looped(nuclear_subgradient_descent, {"matrix": start}, train, 3, **COMPLETION)
    torch.testing.assert_close(fast["matrix"], slow["matrix"], rtol=0, atol=1e-12)


def test_closed_form_where_a_step_overshoots():
    """rate * h of 0.4, 1 and 1.5: powers of 0.6, 0 and -0.5."""
    x = torch.diag(torch.tensor([0.4, 1.0, 1.5], dtype=torch.float64).sqrt())
    y = torch.zeros(3, 1, dtype=torch.float64)
    start = {"weight": torch.ones(1, 1, 3, dtype=torch.float64)}
    state = {"params": start, "start": start, "step": torch.zeros(1, dtype=torch.int64)}
    after = linear_descent.advance(state, (x, y), 3, rate=1.0, l2=0.0, data_scale="sum")
    found = after["params"]["weight"].flatten().tolist()
    assert found == pytest.approx([0.216, 0.0, -0.125], abs=1e-14)


def test_weight_decay_alone_acts_on_the_null_space_at_its_own_time():
    """arXiv 2506.05718, figure 4: ||a|| goes from 86 to almost nothing over 1/(rate l2) = 1e6."""
    x, y, truth = _sparse()
    start = {"weight": torch.full((1, 1, 100), 10.0, dtype=torch.float64)}
    state = {"params": start, "start": start, "step": torch.zeros(1, dtype=torch.int64)}
    keywords = {"rate": 0.1, "l2": 1e-5, "data_scale": "sum"}
    norms = {}
    for step in (10_000, 1_000_000, 100_000_000):
        after = linear_descent.advance(state, (x, y), step, **keywords)["params"]
        norms[step] = float(after["weight"].norm())
    assert float(start["weight"].norm()) == 100
    assert norms[10_000] == pytest.approx(86, abs=1)
    assert norms[1_000_000] / norms[10_000] == pytest.approx(np.exp(-0.99), rel=1e-3)
    assert norms[100_000_000] == pytest.approx(0.08, abs=0.01)
    assert _distance(after, truth) == pytest.approx(0.83, abs=0.02)


def test_without_numba_the_same_steps_are_taken(monkeypatch, capsys):
    x, y, _ = _sparse()
    pairs, values, _ = _completion()
    rates = torch.tensor([0.05, 0.1], dtype=torch.float64)
    sensing = SENSING | {"rate": rates}
    begun = matrix_sensing_descent.advance(_start(2), (x, y), 1, **sensing)
    cases = [
        (matrix_sensing_descent, begun, (x, y), sensing),
        (subgradient_descent, _start(2), (x, y), SPARSE | {"rate": rates}),
        (nuclear_subgradient_descent, _identity(2), (pairs, values), COMPLETION | {"rate": rates}),
        (hadamard_descent, _factors(2), (x, y), {"rate": rates}),
    ]
    for module, start, train, keywords in cases:
        fast = module.advance(start, train, 30, **keywords)
        with monkeypatch.context() as bare:
            bare.setattr(_compiled, "numba", None)
            _compiled._warn.cache_clear()
            slow = module.advance(start, train, 15, **keywords)
            slow = module.advance(slow, train, 15, **keywords)
        for key, value in fast.items():
            torch.testing.assert_close(value, slow[key], rtol=0, atol=1e-10)
        warning = capsys.readouterr().err
        assert warning.count("numba") == 1
        assert warning.count("\n") == 1


@pytest.mark.parametrize(
    ("module", "keywords"),
    [
        (subgradient_descent, SPARSE),
        (nuclear_subgradient_descent, COMPLETION),
        (linear_descent, {"rate": 0.1, "l2": 0.0, "data_scale": "sum"}),
    ],
)
def test_another_model_is_refused(module, keywords):
    dynamics = module.build(None, None, **keywords)
    with pytest.raises(ValueError, match="needs a model with one parameter"):
        dynamics.init({"a": torch.ones(2, 3), "b": torch.ones(2)})


def test_labels_are_refused():
    dynamics = subgradient_descent.build(None, None, **SPARSE)
    labels = (torch.ones(4, 2), torch.zeros(4, dtype=torch.int64))
    with pytest.raises(ValueError, match="one real target"):
        dynamics.update({"weight": torch.ones(1, 2)}, labels)


@pytest.mark.parametrize(
    ("module", "keywords"),
    [
        (subgradient_descent, {"rate": 0.1, "l1": 0.3, "l2": 0.2}),
        (linear_descent, {"rate": 0.1, "l2": 0.2, "data_scale": "sum"}),
        (nuclear_subgradient_descent, {"rate": 0.1, "weight": 0.3}),
        (matrix_sensing_descent, {"rate": 0.1, "weight": 0.3, "rows": 3}),
    ],
)
def test_the_penalty_that_observables_see_is_that_of_the_step(module, keywords):
    """With targets that are met exactly, a step is ``-rate`` times the penalty's gradient."""
    random = torch.Generator().manual_seed(0)
    if module is nuclear_subgradient_descent:
        value = torch.randn(4, 4, generator=random, dtype=torch.float64)
        pairs = torch.cartesian_prod(torch.arange(4), torch.arange(4))
        batch, params = (pairs, value.reshape(-1, 1)), {"matrix": value}
    else:
        value = torch.randn(1, 6, generator=random, dtype=torch.float64)
        x = torch.randn(3, 6, generator=random, dtype=torch.float64)
        batch, params = (x, x @ value.T), {"weight": value}
    dynamics = module.build(None, None, **keywords)
    moved = dynamics.parameters(dynamics.update(dynamics.init(params), batch), batch)
    gradient = torch.func.grad(lambda p: dynamics.penalty(p, None, batch[0]))(params)
    for key in params:
        step = (params[key] - moved[key]) / keywords["rate"]
        torch.testing.assert_close(gradient[key], step, rtol=1e-9, atol=1e-9)
