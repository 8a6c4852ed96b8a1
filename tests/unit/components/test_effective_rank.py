"""The observable `effective_rank` on matrices whose singular values are known."""

import math

import pytest
import torch
from torch import nn

from grokatlas.components.losses import mse
from grokatlas.components.observables import effective_rank
from grokatlas.engine.network import Network
from grokatlas.engine.observed import Observed


def _seen(*parameters):
    module = nn.Module()
    for place, values in enumerate(parameters):
        module.register_parameter(f"p{place}", nn.Parameter(torch.tensor(values).double()))
    params = {key: value.detach() for key, value in module.named_parameters()}
    view = Observed(
        params, Network(module, {}), mse.build(reduction="mean", half=False), [], {}, {}, None,
        torch.tensor(0.0),
    )  # fmt: skip
    return effective_rank.build()(view)["effective_rank"].item()


HALVES = math.exp(-0.75 * math.log(0.75) - 0.25 * math.log(0.25))


@pytest.mark.parametrize(
    ("matrix", "rank"),
    [
        ([[2.0, 0.0, 0.0], [0.0, -2.0, 0.0]], 2),
        ([[1.0, 2.0], [2.0, 4.0]], 1),
        ([[0.0, 3.0], [1.0, 0.0]], HALVES),
        ([[0.0, 0.0], [0.0, 0.0]], 1),
    ],
)
def test_it_is_the_exponential_of_the_entropy_of_singular_values(matrix, rank):
    assert _seen(matrix) == pytest.approx(rank)


def test_matrices_are_averaged_and_vectors_left_out():
    assert _seen([[1.0, 0.0], [0.0, 1.0]], [5.0, 1.0], [[1.0], [1.0]]) == pytest.approx(1.5)


def test_what_is_not_finite_gives_no_number():
    assert math.isnan(_seen([[math.inf, 0.0], [0.0, 1.0]]))


def test_a_model_without_matrices_is_refused():
    with pytest.raises(ValueError, match="effective_rank needs a model with a matrix"):
        _seen([1.0, 2.0])
