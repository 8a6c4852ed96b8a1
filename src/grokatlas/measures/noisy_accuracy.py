"""Test accuracy under Gaussian noise."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import torch

from grokatlas.kinds import Vector, Whole
from grokatlas.restore import restored
from grokatlas.scoring import accuracy


def build(*, amplitudes: Vector, spared: Whole, noise_seed: Whole) -> Callable[[Any], pd.DataFrame]:
    """Accuracy on test inputs plus ``amplitude`` times standard normal noise.

    Args:
        amplitudes: factors on the noise; one draw serves all of them.
        spared: the first so many coordinates of an input (flattened) get no noise.
        noise_seed: with the member's seed and the step it seeds the draw: each snapshot has its
            own, and a member's is the same alone or in company.

    Returns:
        a function of a finished run, giving one row for each member, snapshot ``step`` and
        ``amplitude``: ``noisy_accuracy``, in [0, 1].

    Source: arXiv 2506.12284, figure 4: amplitudes 0.2 to 1, the two signal coordinates spared.
    """

    def measure(run: Any) -> pd.DataFrame:
        rows = []
        for one in restored(run):
            inputs = one.data["test_inputs"]
            generator = np.random.default_rng([noise_seed, one.seed, one.step])
            draw = torch.from_numpy(generator.standard_normal(tuple(inputs.shape)))
            draw.flatten(1)[:, :spared] = 0
            draw = draw.to(inputs.dtype)
            for amplitude in amplitudes:
                with torch.no_grad():
                    outputs = one.outputs(inputs + amplitude * draw)
                found = float(accuracy(outputs, one.data["test_targets"]))
                row = {"member": one.member, "step": one.step}
                rows.append(row | {"amplitude": amplitude, "noisy_accuracy": found})
        return pd.DataFrame(rows)

    return measure
