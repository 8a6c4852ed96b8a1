"""The distance at which a network without biases changes its class: predicted, and attacked."""

from math import nan

import pandas as pd
import torch
from art.attacks.evasion import AutoProjectedGradientDescent
from art.estimators.classification import PyTorchClassifier
from torch import Tensor, nn

from grokatlas.components.measures.robust_accuracy import _labels, _seeded
from grokatlas.engine.contracts import FinishedRun, Measure
from grokatlas.engine.keyword_types import Count, Vector, Whole
from grokatlas.engine.rebuilt import RebuiltMember, restored

LOSS = "difference_logits_ratio"
BATCH = 256  # points attacked together; their steps are each their own
HOMOGENEOUS = 1e-6  # relative difference of f(2 x) and 2 f(x)

NEEDS = ["snapshots"]


def build(
    *, levels: Vector, iterations: Count, restarts: Count, points: Count, attack_seed: Whole
) -> Measure[FinishedRun]:
    """The l2 radius of the linear map at a point, and which points hold an attack of that size.

    A piecewise linear network without biases is ``f(z) = J z`` near x, with J its Jacobian there.
    Of that map the class c of x holds up to the l2 radius

        ``r(x) = min_j v.x / |v|``, ``v = J_c - J_j``

    over the other classes j. Where the rows of J are aligned with x so is v, and ``r = |x|``, the
    largest value that it can have. The network itself is not one linear map: it may fall earlier
    or later, which an attack finds out. Such a network has ``f(s x) = s f(x)`` for s > 0, so that
    the points ``x / r(x)`` are attacked, whose predicted radius is 1, all with one size.

    The attack is auto-PGD in the l2 norm on the difference of logits ratio (Croce and Hein 2020),
    that of the Adversarial Robustness Toolbox, in float32; inputs are not cut off at an end of
    their range, as the theorem knows none. That ratio goes for the nearest class and does not know
    the size of logits, unlike cross-entropy; it is that of three or more classes. As the class of
    the least difference need not be that of the nearest boundary, one step of the same size
    against the v of the least radius is tried too: a point holds if it holds both.

    Args:
        levels: sizes of the attack over the predicted radius.
        iterations: of one restart.
        restarts: random starts in the ball.
        points: the first so many test points (all, if there are fewer).
        attack_seed: with the member's seed and the step it seeds the starts.

    Returns:
        a function of a finished run, giving one row for each member, snapshot ``step`` and
        ``level``: ``robust_share``, the share of those points that are right before and after the
        attack, of those that are right before; ``radius_share``, their mean of ``r(x) / |x|``;
        ``clean_accuracy``. Not a number where none is right or a radius is not finite.
        A `ValueError` for a network with biases or fewer than three outputs.

    Source: arXiv 2506.12284, theorem 3.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        rows = []
        for one in restored(run):
            inputs, labels = (one.data[f"test_{part}"][:points] for part in ("inputs", "targets"))
            radius, way, right = _radius(one, inputs, _labels(labels))
            shape = (-1, *[1] * (inputs.ndim - 1))
            start, way = (inputs / radius.view(shape))[right], way[right]
            targets = _labels(labels)[right]
            radius_share = (radius / inputs.flatten(1).norm(dim=1))[right].double().mean()
            for level in levels:
                with _seeded([attack_seed, one.seed, one.step]):
                    moved = _attacked(one, start, targets, level, iterations, restarts)
                with torch.no_grad():
                    ends = [one.outputs(each).argmax(-1) for each in (moved, start - level * way)]
                held = (ends[0] == targets) & (ends[1] == targets)
                row = {"member": one.member, "step": one.step, "level": level}
                values = {"robust_share": held.double().mean(), "radius_share": radius_share}
                values["clean_accuracy"] = right.double().mean()
                finite = bool(torch.isfinite(radius).all())
                rows.append(row | {k: float(v) if finite else nan for k, v in values.items()})
        return pd.DataFrame(rows)

    return measure


def _radius(one: RebuiltMember, inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """``r(x)`` ``[N]``, ``v / |v|`` of the class that has it ``[N, ...]``, which are right ``[N]``.

    Points that lie on a boundary are not right.
    """
    outputs, pull = torch.func.vjp(one.outputs, inputs)[:2]
    classes = outputs.shape[-1]
    if classes < 3:
        raise ValueError("l2_radius needs a model with three or more outputs")
    with torch.no_grad():
        twice = one.outputs(2 * inputs)
    if (twice - 2 * outputs).abs().max() > HOMOGENEOUS * outputs.abs().max():
        raise ValueError("l2_radius needs a network without biases")
    own = torch.nn.functional.one_hot(labels, classes).to(outputs.dtype)
    radius = torch.full(labels.shape, torch.inf, dtype=outputs.dtype)
    way = torch.zeros_like(inputs)
    for other in torch.eye(classes, dtype=outputs.dtype):
        row = pull(own - other)[0].detach().flatten(1)
        distance = (row * inputs.flatten(1)).sum(1) / row.norm(dim=1)  # no number for the own class
        nearer = distance < radius
        radius = torch.where(nearer, distance, radius)
        unit = (row / row.norm(dim=1, keepdim=True)).view(inputs.shape)
        way[nearer] = unit[nearer]
    right = (outputs.argmax(-1) == labels) & torch.isfinite(radius) & (radius > 0)
    return radius, way, right


class _Attacked(nn.Module):
    """A member in float32 outside and its own precision inside."""

    def __init__(self, one: RebuiltMember) -> None:
        super().__init__()
        self._one = one

    def forward(self, values: Tensor) -> Tensor:
        return self._one.outputs(values.to(self._one.data["test_inputs"].dtype)).float()


def _attacked(
    one: RebuiltMember, start: Tensor, labels: Tensor, size: float, iterations: int, restarts: int
) -> Tensor:
    """The points ``[N, ...]`` after the library's attack."""
    if len(start) == 0:
        return start
    classifier = PyTorchClassifier(
        model=_Attacked(one),
        loss=nn.CrossEntropyLoss(),
        input_shape=tuple(start.shape[1:]),
        nb_classes=one.outputs(start[:1]).shape[-1],
        device_type="cpu",
    )
    attack = AutoProjectedGradientDescent(
        classifier,
        norm=2,
        eps=size,
        eps_step=2 * size,
        max_iter=iterations,
        nb_random_init=restarts,
        batch_size=BATCH,
        loss_type=LOSS,
        verbose=False,
    )
    return torch.from_numpy(attack.generate(start.float().numpy(), labels.numpy())).to(start.dtype)
