"""The end of a run beside the interpolator of least nuclear or l1 norm."""

import numpy as np
import pandas as pd
import torch

from grokatlas.components.measures import _least_norm
from grokatlas.engine.contracts import FinishedRun, Measure
from grokatlas.engine.keyword_types import Count, Positive
from grokatlas.engine.rebuilt import RebuiltMember, restored

NEEDS = ["snapshots"]

Solved = dict[bytes, tuple[np.ndarray, float]]  # minimiser and gap by the data


def build(*, tolerance: Positive, iterations: Count) -> Measure[FinishedRun]:
    """The last snapshot's predictor beside the one of least norm among those that fit all data.

    With weight decay a product of factors ends, as lambda vanishes, at a point of least norm of the
    factors: for a matrix U V^T with enough columns ``|U|^2 + |V|^2`` is at least twice the nuclear
    norm of the product, for a vector u o v at least twice its l1 norm, and both are reached (arXiv
    2505.20172, section 5 and appendix D.2). So theory predicts the minimiser of that norm under the
    training data, whether or not it is the truth.

    Args:
        tolerance: the relative duality gap of the nuclear norm at which its solver stops.
        iterations: the largest number of its iterations.

    Returns:
        a function of a finished run, giving one row for each member: ``final_norm`` and
        ``minimiser_norm`` (nuclear norms where the task is matrix completion, l1 norms of
        coefficients where inputs are vectors and the network is linear in them), ``gap``, the
        relative duality gap of the minimiser, ``distance``, ``|W - W*| / |W*|`` with all entries,
        ``test_distance``, the mean of ``(W - W*)^2`` over the test samples, ``minimiser_error``,
        the mean squared distance of W* from the test targets, and ``final.<k>`` and
        ``minimiser.<k>``, singular values (largest first) or coefficients.
        A `ValueError` if the data are of neither kind, or the solver does not come to the
        tolerance.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        rows = []
        solved: Solved = {}  # members of one seed have one problem
        for one in restored(run):
            if one.step != max(run.snapshots):
                continue
            pairs = not one.data["train_inputs"].is_floating_point()
            shape = run.data.extras["truth"].shape[-2:] if "truth" in run.data.extras else ()
            if pairs and len(shape) == 2:
                row = _matrix(one, (shape[0], shape[1]), tolerance, iterations, solved)
            elif not pairs and one.data["train_inputs"].ndim == 2:
                row = _vector(one)
            else:
                needs = "matrix completion, or a linear network on vectors"
                raise ValueError(f"convex_minimiser needs {needs}")
            rows.append({"member": one.member} | row)
        return pd.DataFrame(rows)

    return measure


def _matrix(
    one: RebuiltMember,
    shape: tuple[int, int],
    tolerance: float,
    iterations: int,
    solved: Solved,
) -> dict[str, float]:
    every = torch.cartesian_prod(torch.arange(shape[0]), torch.arange(shape[1]))
    with torch.no_grad():
        final = one.outputs(every).double().numpy().reshape(shape)
    observed, entries = np.zeros(shape, dtype=bool), np.zeros(shape)
    rows, columns = one.data["train_inputs"].numpy().T
    observed[rows, columns] = True
    entries[rows, columns] = one.data["train_targets"][:, 0].double().numpy()
    key = observed.tobytes() + entries.tobytes()
    if key not in solved:
        try:
            solved[key] = _least_norm.nuclear(
                observed, entries, tolerance=tolerance, iterations=iterations
            )
        except ValueError as error:
            raise ValueError(f"convex_minimiser: seed {one.seed}: {error}") from None
    least, gap = solved[key]
    places = one.data["test_inputs"].numpy().T
    seen = [each[places[0], places[1]] for each in (final, least)]
    values = [_singular_values(each) for each in (final, least)]
    return _row([final, least], seen, one, gap, values)


def _vector(one: RebuiltMember) -> dict[str, float]:
    inputs, targets = (one.data[f"train_{part}"].double() for part in ("inputs", "targets"))
    basis = torch.eye(inputs.shape[1], dtype=one.data["train_inputs"].dtype)
    with torch.no_grad():
        final = one.outputs(basis).double()
        seen = one.outputs(one.data["train_inputs"]).double()
    if final.shape[1] != 1 or not torch.allclose(inputs @ final, seen, atol=1e-4, equal_nan=True):
        raise ValueError("convex_minimiser needs a network that is linear in its inputs")
    least, gap = _least_norm.l1(inputs.numpy(), targets[:, 0].numpy())
    coefficients = final[:, 0].numpy()
    tests = one.data["test_inputs"].double().numpy()
    both = [coefficients, least]
    return _row(both, [tests @ each for each in both], one, gap, both)


def _singular_values(matrix: np.ndarray) -> np.ndarray:
    if not np.isfinite(matrix).all():  # of a member that diverged
        return np.full(min(matrix.shape), np.nan)
    return np.linalg.svd(matrix, compute_uv=False)


def _row(
    both: list[np.ndarray],
    predictions: list[np.ndarray],
    one: RebuiltMember,
    gap: float,
    values: list[np.ndarray],
) -> dict[str, float]:
    """Of the end and of the minimiser: all entries, predictions ``[N]`` on test samples, values."""
    (final, least), (seen, best), (final_values, least_values) = both, predictions, values
    targets = one.data["test_targets"][:, 0].double().numpy()
    numbers = {
        "final_norm": np.abs(final_values).sum(),
        "minimiser_norm": np.abs(least_values).sum(),
        "gap": gap,
        "distance": np.linalg.norm(final - least) / np.linalg.norm(least),
        "test_distance": ((seen - best) ** 2).mean(),
        "minimiser_error": ((best - targets) ** 2).mean(),
    }
    numbers |= {f"final.{k}": value for k, value in enumerate(final_values)}
    return numbers | {f"minimiser.{k}": value for k, value in enumerate(least_values)}
