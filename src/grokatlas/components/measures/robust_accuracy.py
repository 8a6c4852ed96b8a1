"""Accuracy under an adversarial attack: APGD on cross-entropy, in the maximum norm."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import numpy as np
import pandas as pd
import torch
from art.attacks.evasion import AutoProjectedGradientDescent
from art.estimators.classification import PyTorchClassifier
from torch import Tensor, nn

from grokatlas.engine.accuracy import right
from grokatlas.engine.contracts import FinishedRun, Measure
from grokatlas.engine.keyword_types import Count, Positive, Vector, Whole
from grokatlas.engine.rebuilt import RebuiltMember, restored

BATCH = 256  # points attacked together; their steps are each their own

NEEDS = ["snapshots"]


def build(
    *,
    epsilon: Positive,
    iterations: Count,
    restarts: Count,
    points: Count,
    attack_seed: Whole,
    inputs: Literal["pixels", "normalised"],
    attacked: Literal["pixels", "normalised"],
    pixel_mean: Vector | None,
    pixel_std: Vector | None,
) -> Measure[FinishedRun]:
    """Accuracy after auto-PGD (Croce and Hein 2020, algorithm 1), ``||delta||_inf <= epsilon``.

    The attack is that of the Adversarial Robustness Toolbox: first step ``2 epsilon``, momentum
    0.75, the step halved for each point on its own; it works in float32. A point is robust if it is
    right before the attack and after it.

    Args:
        epsilon: largest change of a coordinate of what is attacked; published: 4/255.
        iterations: of one restart; published: 100.
        restarts: random starts in the ball; published: 5.
        points: the first so many test points (all, if there are fewer).
        attack_seed: with the member's seed and the step it seeds the starts.
        inputs: what the model's inputs are: ``pixels`` in [0, 1] (a model may normalise them
            itself), or ``normalised``, ``(pixel - pixel_mean) / pixel_std``.
        attacked: what is changed and kept in [0, 1]: ``pixels``; or, as in the authors' code,
            ``normalised`` inputs, which are cut off at 0 and 1 before the attack begins.
        pixel_mean: of each channel; null where `inputs` and `attacked` are the same.
        pixel_std: of each channel; null where `inputs` and `attacked` are the same.

    Returns:
        a function of a finished run, giving one row for each member and snapshot ``step``:
        ``clean_accuracy`` and ``robust_accuracy`` on those points, in [0, 1]; missing where an
        output is not finite.

    Raises:
        ValueError: mean or deviation are missing where they are needed.

    Source: arXiv 2506.12284, figure 5.
    """
    if inputs != attacked and (pixel_mean is None or pixel_std is None):
        raise ValueError("robust_accuracy needs pixel_mean and pixel_std: inputs are not attacked")

    def measure(run: FinishedRun) -> pd.DataFrame:
        rows = []
        for one in restored(run):
            clean = one.data["test_inputs"][:points]
            labels = one.data["test_targets"][:points]
            change = _Change(clean, inputs, attacked, pixel_mean, pixel_std)
            with torch.no_grad():
                before = right(one.outputs(clean), labels)
            start = change.to_attacked(clean).clamp(0, 1).float().numpy()
            with _seeded([attack_seed, one.seed, one.step]):
                attack = _attack(_Attacked(one, change), start, epsilon, iterations, restarts)
                moved = torch.from_numpy(attack.generate(start, _labels(labels).numpy()))
            with torch.no_grad():
                after = right(one.outputs(change.to_inputs(moved.to(clean.dtype))), labels)
            row: dict[str, float] = {"member": one.member, "step": one.step}
            row["clean_accuracy"] = float(before.double().mean())
            row["robust_accuracy"] = float((before * after).double().mean())
            rows.append(row)
        return pd.DataFrame(rows)

    return measure


class _Change:
    """Between a model's inputs and what is attacked, ``[N, ...]``."""

    def __init__(
        self,
        like: Tensor,
        inputs: str,
        attacked: str,
        mean: list[float] | None,
        std: list[float] | None,
    ) -> None:
        self.kinds = (inputs, attacked)
        if inputs != attacked:
            shape = (-1, *[1] * (like.ndim - 2))
            self.mean, self.std = (
                torch.tensor(v, dtype=like.dtype).view(shape) for v in (mean, std)
            )

    def to_attacked(self, values: Tensor) -> Tensor:
        return self._between(values, *self.kinds)

    def to_inputs(self, values: Tensor) -> Tensor:
        return self._between(values, *reversed(self.kinds))

    def _between(self, values: Tensor, before: str, after: str) -> Tensor:
        if before == after:
            return values
        if after == "normalised":
            return (values - self.mean) / self.std
        return values * self.std + self.mean


class _Attacked(nn.Module):
    """A member as a module of what is attacked, in float32 outside and its own precision inside."""

    def __init__(self, one: RebuiltMember, change: _Change) -> None:
        super().__init__()
        self._one = one
        self._change = change

    def forward(self, values: Tensor) -> Tensor:
        dtype = self._one.data["test_inputs"].dtype
        return self._one.outputs(self._change.to_inputs(values.to(dtype))).float()


def _attack(
    model: nn.Module, start: np.ndarray, epsilon: float, iterations: int, restarts: int
) -> AutoProjectedGradientDescent:
    with torch.no_grad():
        classes = model(torch.from_numpy(start[:1])).shape[-1]
    if classes == 1:
        raise ValueError("robust_accuracy needs a model with more than one output")
    classifier = PyTorchClassifier(
        model=model,
        loss=nn.CrossEntropyLoss(),
        input_shape=start.shape[1:],
        nb_classes=classes,
        clip_values=(0.0, 1.0),
        device_type="cpu",
    )
    return AutoProjectedGradientDescent(
        classifier,
        norm=np.inf,
        eps=epsilon,
        eps_step=2 * epsilon,
        max_iter=iterations,
        nb_random_init=restarts,
        batch_size=BATCH,
        loss_type=None,
        verbose=False,
    )


def _labels(targets: Tensor) -> Tensor:
    """Labels ``[N]`` of targets in either form."""
    return targets.argmax(-1) if targets.is_floating_point() else targets


@contextmanager
def _seeded(entropy: list[int]) -> Iterator[None]:
    """The global generators that the library draws from, seeded here and then as before."""
    words = np.random.SeedSequence(entropy).generate_state(4)
    state = np.random.get_state()
    np.random.seed(words)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(words[0]))
            yield
    finally:
        np.random.set_state(state)
