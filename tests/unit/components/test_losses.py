"""Losses where values and gradients are known."""

import pytest
import torch

from grokatlas.components.losses import binary_cross_entropy, cross_entropy, mse, sobolev

SOBOLEV = {"reduction": "mean", "half": False, "weight": 0.3}


def _row(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_binary_cross_entropy_is_the_one_of_torch():
    outputs, labels = _row(-3.0, 0.0, 0.5, 4.0)[:, None], torch.tensor([0, 1, 0, 1])
    expected = torch.nn.functional.binary_cross_entropy_with_logits(
        outputs[:, 0], labels.to(torch.float64)
    )
    loss = binary_cross_entropy.build()
    torch.testing.assert_close(loss(outputs, labels), expected)
    torch.testing.assert_close(loss(outputs, labels[:, None].to(torch.float64)), expected)


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("margin", [50.0, 700.0])
def test_binary_cross_entropy_is_exact_in_both_tails(label, margin):
    sign = 2 * label - 1
    loss, labels = binary_cross_entropy.build(), torch.tensor([label])
    outputs = torch.full((1, 1), margin, dtype=torch.float64)
    # right: exp(-margin), with that slope; wrong: margin, with slope 1
    tiny = torch.exp(-outputs[0, 0])
    gradient, value = torch.func.grad_and_value(loss)(sign * outputs, labels)
    torch.testing.assert_close(value, tiny, rtol=1e-12, atol=0)
    torch.testing.assert_close(gradient[0, 0], -sign * tiny, rtol=1e-12, atol=0)
    gradient, value = torch.func.grad_and_value(loss)(-sign * outputs, labels)
    assert (value.item(), gradient.item()) == (margin, -sign)


@pytest.mark.parametrize(
    ("dtype", "target", "other"),
    [(torch.float32, -1, "mse"), (torch.float64, 0.5, "mse"), (torch.int64, 2, "cross_entropy")],
)
def test_binary_cross_entropy_of_other_targets_is_refused(dtype, target, other):
    binary_cross_entropy.check(torch.tensor([[0], [1], [0]], dtype=dtype))
    with pytest.raises(ValueError, match=f"targets 0 and 1, not {target}; take {other}$"):
        binary_cross_entropy.check(torch.tensor([[1], [target]], dtype=dtype))


def test_binary_cross_entropy_of_two_outputs_is_refused():
    with pytest.raises(ValueError, match="needs one output, not 2"):
        binary_cross_entropy.build()(torch.zeros(3, 2), torch.tensor([0, 1, 1]))


def _model(params, inputs):
    """``f(x) = W x``, whose Jacobian is W; inputs are flattened."""
    return inputs.flatten(1) @ params["weight"].T


def _linear(seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, 4, generator=generator, dtype=torch.float64)


INPUTS = _linear(5).repeat(3, 1).view(6, 2, 2).cos()


def _targets(weight):
    """Values and Jacobians ``[N, C, 1 + D]`` of a linear teacher."""
    values = _model({"weight": weight}, INPUTS)[:, :, None]
    return torch.cat([values, weight.expand(6, -1, -1)], dim=2)


@pytest.mark.parametrize("form", ["frobenius", "mean_square"])
def test_sobolev_adds_the_mismatch_of_jacobians(form):
    student, teacher = _linear(0), _linear(1)
    loss = sobolev.build(**SOBOLEV, form=form)
    found = loss.on_network({"weight": student}, _model, INPUTS, _targets(teacher))
    square = (student - teacher).square().sum()  # of each of the six samples
    mismatch = (6 * square).sqrt() if form == "frobenius" else square
    outputs = _model({"weight": student}, INPUTS)
    values = mse.build(reduction="mean", half=False)(outputs, _targets(teacher)[..., 0])
    torch.testing.assert_close(found, values + 0.3 * mismatch)
    torch.testing.assert_close(loss(outputs, _targets(teacher)), values)


@pytest.mark.parametrize("form", ["frobenius", "mean_square"])
def test_sobolev_rests_at_the_teacher(form):
    weight = _linear(0)
    loss = sobolev.build(**SOBOLEV, form=form)
    gradient, value = torch.func.grad_and_value(loss.on_network)(
        {"weight": weight}, _model, INPUTS, _targets(weight)
    )
    assert value == 0
    assert torch.equal(gradient["weight"], torch.zeros_like(weight))


def test_sobolev_has_the_gradient_of_the_mismatch():
    student, teacher = _linear(0), _linear(1)
    loss = sobolev.build(**SOBOLEV | {"weight": 1.0}, form="mean_square")
    plain = mse.build(reduction="mean", half=False)
    targets = _targets(teacher)
    found = torch.func.grad(loss.on_network)({"weight": student}, _model, INPUTS, targets)
    values = torch.func.grad(lambda w: plain(_model({"weight": w}, INPUTS), targets[..., 0]))
    expected = values(student) + 2 * (student - teacher)
    torch.testing.assert_close(found["weight"], expected)


@pytest.mark.parametrize("shape", [(6, 2), (6, 2, 1), (6, 2, 4)])
def test_sobolev_without_derivatives_is_refused(shape):
    loss = sobolev.build(**SOBOLEV, form="frobenius")
    with pytest.raises(ValueError, match=r"needs targets \[N, C, 5\]"):
        loss.on_network({"weight": _linear(0)}, _model, INPUTS, torch.zeros(shape))


@pytest.mark.parametrize(
    ("loss", "outputs", "targets", "message"),
    [
        (mse.build(reduction="mean", half=False), 1, torch.tensor([0, 1]), "mse needs real"),
        (cross_entropy.build(), 1, torch.tensor([0, 1]), "is 0 of one output"),
        (cross_entropy.build(), 2, torch.zeros(2, 2), "needs a task with labels"),
    ],
)
def test_targets_of_another_kind_are_refused(loss, outputs, targets, message):
    with pytest.raises(ValueError, match=message):
        loss(torch.zeros(2, outputs), targets)


def test_targets_of_another_shape_than_the_outputs_are_refused():
    loss = mse.build(reduction="mean", half=False)
    with pytest.raises(ValueError, match=r"targets are \(6, 3\), the model's outputs \(6, 1\)"):
        loss(torch.zeros(6, 1), torch.zeros(6, 3))
