"""Gradient training of linear regression follows its closed form (two_timescales, appendix C)."""

import numpy as np
import torch

from grokatlas.engine import dataset, training
from tests.runs import schedule

TASK = {
    "name": "linear_regression",
    "features": 7,
    "train_points": 4,
    "test_points": 5,
    "noise": 0.1,
    "data_seed": 3,
}
START = [0.5, -1.0, 2.0, 0.3, -0.7, 1.5, -0.2]
RATE, DECAYS, STEPS = 0.02, [0.0, 0.05, 0.3], 300


def test_components_decay_at_the_rates_of_the_singular_values_and_of_the_decay():
    """F = |Xw - y|^2 / (2 n) + (lambda/2) |w|^2, in the right singular vectors v_i of X.

    On the row space the rate is sigma_i^2 / n + lambda, on the null space lambda alone.
    """
    data = dataset.make([TASK])
    spec = {
        "task": TASK,
        "model": {"name": "linear", "init": START, "negative_slope": 1.0},
        "loss": {"name": "mse", "reduction": "mean", "half": True},
        "penalties": [{"name": "l2", "squared": True}],
        "optimizer": {"name": "gd", "lr": RATE},
        "dynamics": {"name": "gradient_training"},
        "observables": [{"name": "parameters"}],
        "ensemble": {"penalties.0.weight": [decay / 2 for decay in DECAYS], "seed": [0]},
        "train": schedule(STEPS),
    }
    history = training.train(spec, data, torch.device("cpu")).history
    found = np.stack([history[f"parameters.weight.{k}"] for k in range(7)], axis=1)
    found = found.reshape(STEPS + 1, len(DECAYS), 7)
    x, y = data.train_inputs, data.train_targets[:, 0]
    left, sigma, right = np.linalg.svd(x)
    squares = np.concatenate([sigma**2, np.zeros(3)]) / len(x)
    drive = np.concatenate([sigma * (left.T @ y), np.zeros(3)]) / len(x)
    for place, decay in enumerate(DECAYS):
        rates = squares + decay
        rest = np.divide(drive, rates, out=np.zeros(7), where=rates > 0)
        start = right @ np.array(START)
        factors = (1 - RATE * rates) ** np.arange(STEPS + 1)[:, None]
        expected = rest + factors * (start - rest)
        np.testing.assert_allclose(found[:, place] @ right.T, expected, rtol=0, atol=1e-10)
