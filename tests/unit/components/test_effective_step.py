"""The observable `effective_step` against the steps that a run takes."""

import copy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from grokatlas.components.observables import effective_step
from grokatlas.engine.observed import Observed
from tests.conformance.examples.runs import RUNS
from tests.runs import trained

RATE = 1e-3


def history(optimizer, ensemble, *observables):
    """The columns of observables over the bilinear encoder's first six steps."""
    spec = copy.deepcopy(RUNS["blog"])
    spec["optimizer"] = optimizer
    spec["observables"] = [{"name": name} for name in observables]
    spec["ensemble"] = ensemble
    spec["train"] |= {"steps": 6, "log": {"every": 1, "first": 0}, "snapshots": []}
    return pd.DataFrame(trained(spec).history)


@pytest.mark.parametrize("own", [False, True])
def test_it_is_the_median_step_over_the_rate(own):
    adam = {"name": "adam", "lr": RATE, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8}
    ensemble = {"seed": [3], "optimizer.beta2": [0.9, 0.999]} if own else {"seed": [3, 0]}
    found = history(adam, ensemble, "effective_step", "parameters")
    entries = [name for name in found if name.startswith("parameter")]
    for _, rows in found.groupby("member"):
        moved = np.abs(np.diff(rows.sort_values("step")[entries].to_numpy(), axis=0)) / RATE
        lower = np.sort(moved, axis=1)[:, (len(entries) - 1) // 2]
        seen = rows.sort_values("step")["effective_step"].to_numpy()
        assert seen[0] == 0
        assert seen[1:] == pytest.approx(lower, rel=1e-6)


def test_a_decoupled_decay_is_not_in_it():
    common = {"name": "adamw", "lr": RATE, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8}
    common |= {"decay": "decoupled"}
    first = [
        history(common | {"weight_decay": decay}, {"seed": [0]}, "effective_step")
        .query("step == 1")["effective_step"]
        .item()
        for decay in (0.0, 10.0)
    ]
    assert first[0] == pytest.approx(first[1], rel=1e-9)


def test_an_optimizer_without_moments_is_refused():
    dynamics = SimpleNamespace(optimizer=object())
    view = Observed({}, None, None, [], {}, {}, dynamics, torch.tensor(0.0))
    with pytest.raises(ValueError, match="adam or adamw"):
        effective_step.build()(view)
    with pytest.raises(ValueError, match="needs an optimizer with moments"):
        history({"name": "gd", "lr": 0.1}, {"seed": [0]}, "effective_step")
