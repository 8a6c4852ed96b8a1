"""Right and wrong outputs, and those that are neither."""

import math

import pytest
import torch

from grokatlas.components.inputs import accuracy_scaled_noise
from grokatlas.engine import accuracy

LABELS = torch.tensor([0, 1, 1])
FORMS = {
    "labels": (torch.tensor([[2.0, 1.0], [2.0, 1.0], [0.0, 1.0]]), LABELS),
    "one_hot": (torch.tensor([[2.0, 1.0], [2.0, 1.0], [0.0, 1.0]]), torch.eye(2)[LABELS]),
    "one_output": (torch.tensor([[-1.0], [-2.0], [3.0]]), LABELS),
    "signs": (torch.tensor([[-1.0], [-2.0], [3.0]]), torch.tensor([[-1.0], [1.0], [1.0]])),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_sample_is_right_or_wrong(form):
    outputs, targets = FORMS[form]
    assert accuracy.right(outputs, targets).tolist() == [1, 0, 1]
    assert accuracy.accuracy(outputs, targets).item() == pytest.approx(2 / 3)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_an_output_that_is_not_finite_is_no_class(form, value):
    outputs, targets = FORMS[form]
    outputs = outputs.clone()
    outputs[1, -1] = value
    right = accuracy.right(outputs, targets)
    assert right[[0, 2]].tolist() == [1, 1]
    assert right[1].isnan()
    assert accuracy.accuracy(outputs, targets).isnan()


def test_noise_scaled_by_accuracy_is_none_where_the_member_diverged():
    change = accuracy_scaled_noise.build(high=0.5, low=0.1)
    inputs = torch.ones(3, 4)
    for value, std in ((0.0, 0.5 * 2 / 3), (math.nan, math.nan)):
        outputs = torch.zeros(3, 2) + value
        state = change.begin_epoch({}, {}, lambda params, x, o=outputs: o, inputs, LABELS)
        assert state["std"].item() == pytest.approx(std, nan_ok=True)
