"""The observable `softmax_collapse` against residuals computed by hand."""

import math

import pytest
import torch
from torch import nn

from grokatlas.components.losses import cross_entropy
from grokatlas.components.observables import softmax_collapse
from grokatlas.engine.network import Network
from grokatlas.engine.network_loss import network_loss
from grokatlas.engine.observed import Observed

DOUBLE, SINGLE = torch.float64, torch.float32
INPUTS, LABELS = [[0.5], [20.0], [-40.0]], [0, 0, 1]  # margins of the right class: 0.5, 20, 40
RESIDUALS = [1 / (1 + math.exp(margin)) for margin in (0.5, 20.0, 40.0)]
# of W, by the upper class: - mean of x times the residual, which is that of the lower class as well
GRADIENT = abs(-0.5 * RESIDUALS[0] - 20 * RESIDUALS[1] - 40 * RESIDUALS[2]) / 3


class _Line(nn.Module):
    """Outputs ``[N, 2]``, ``(x, 0)`` with weights 1 and 0."""

    def __init__(self, dtype):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([[1.0], [0.0]], dtype=dtype))

    def forward(self, inputs):
        return inputs @ self.weight.T


def _observed(dtype, loss_dtype=None, inputs=INPUTS, labels=LABELS, targets=None):
    module = _Line(dtype)
    params = {key: value.detach() for key, value in module.named_parameters()}
    train = {"loss_dtype": loss_dtype} if loss_dtype else {}
    loss = network_loss(cross_entropy.build(), {"loss": {"name": "cross_entropy"}, "train": train})
    labels = torch.tensor(labels) if targets is None else targets
    data = {"train_inputs": torch.tensor(inputs, dtype=dtype), "train_targets": labels}
    view = Observed(params, Network(module, {}), loss, [], data, {}, None, torch.tensor(0.0))
    return softmax_collapse.build()(view)


@pytest.mark.parametrize(
    ("dtype", "loss_dtype", "collapsed"),
    [(SINGLE, None, 2 / 3), (SINGLE, "float64", 1 / 3), (DOUBLE, None, 1 / 3)],
)
def test_residuals_are_those_of_the_precision_of_the_loss(dtype, loss_dtype, collapsed):
    found = _observed(dtype, loss_dtype)
    assert found["largest_residual"].item() == pytest.approx(RESIDUALS[0], rel=1e-6)
    assert found["collapsed_points"].item() == pytest.approx(collapsed)
    assert found["largest_gradient"].item() == pytest.approx(GRADIENT, rel=1e-6)


@pytest.mark.parametrize(
    ("dtype", "loss_dtype", "residual"),
    [(SINGLE, None, 0.0), (SINGLE, "float64", RESIDUALS[1]), (DOUBLE, None, RESIDUALS[1])],
)
def test_a_collapsed_point_still_moves_its_wrong_class(dtype, loss_dtype, residual):
    found = _observed(dtype, loss_dtype, [[20.0], [20.0]], [0, 0])
    assert found["largest_residual"].item() == pytest.approx(residual, rel=1e-6)
    assert found["collapsed_points"].item() == (residual == 0)
    assert found["largest_gradient"].item() == pytest.approx(20 * RESIDUALS[1], rel=1e-6)


def test_real_targets_are_refused():
    with pytest.raises(ValueError, match="softmax_collapse needs a loss of labels"):
        _observed(DOUBLE, targets=torch.zeros(3, 2, dtype=DOUBLE))
