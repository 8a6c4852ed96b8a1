"""The measure `operations` on updates whose operations are counted by hand."""

import copy
from types import SimpleNamespace

import pytest

from grokatlas.components.measures import operations
from grokatlas.engine import dataset, members
from tests.conformance.examples.runs import RUNS


def measured(spec):
    """Operations of an update; every member has the same."""
    data = dataset.make(members.tasks(spec))
    found = operations.build()(SimpleNamespace(spec=spec, data=data))
    assert found["member"].tolist() == list(range(len(members.of(spec))))
    (each,) = found["operations"].unique()
    return each


def changed(name, **blocks):
    return copy.deepcopy(RUNS[name]) | blocks


def test_an_update_of_least_squares():
    """30 samples of 50 features, one output: X w and X^T r are 2 x 2 x 1500, the rest entrywise."""
    spec = changed("regression", penalties=[])
    found = measured(spec | {"task": spec["task"] | {"train_points": 30, "features": 50}})
    assert 6000 < found < 6000 + 1000


@pytest.mark.parametrize("weights", [(0.1,), (0.1, 0.2, 0.0)])
def test_a_nuclear_norm_is_charged_for_its_singular_values(weights):
    """Of two factors, 4 x 2 and 3 x 2: 14 m n^2 + 8 n^3 each, and the products with them."""
    none = measured(changed("factors", penalties=[]))
    axis = {"penalties.0.weight": list(weights), "seed": [3, 0]}
    found = measured(changed("factors", penalties=[{"name": "nuclear"}], ensemble=axis))
    rows, columns, factors = 4, 3, 2
    singular = 14 * (rows + columns) * factors**2 + 2 * 8 * factors**3
    products = 2 * (rows + columns) * factors * factors
    assert singular + products < found - none < 1.5 * (singular + products)


def test_the_epoch_of_a_batch_is_shared_by_its_updates():
    """Twice the updates of half the size: half of the products each, the rest as before."""
    spec = changed("one_hot")
    samples = len(dataset.make(members.tasks(spec)).train_inputs)
    train = spec["train"] | {"batch_size": samples // 2, "shuffle": False}
    assert measured(spec | {"train": train}) == pytest.approx(measured(spec) / 2, rel=0.3)


def test_noise_is_not_charged_but_what_is_done_with_it_is():
    spec = changed("one_hot", penalties=[])
    penalty = {"name": "jacobian", "form": "norm", "projections": 1, "weight": 0.1}
    found = measured(spec | {"penalties": [penalty]}) / measured(spec)
    assert 1.5 < found < 3


def test_a_compiled_dynamics_is_refused():
    with pytest.raises(ValueError, match="subgradient_descent are not counted"):
        measured(changed("subgradients"))
