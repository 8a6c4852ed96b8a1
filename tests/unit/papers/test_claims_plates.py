"""Numbers of the plates' predictions from tables whose answer is known."""

import math

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.plates import claims

BETA2, WEIGHT = "optimizer.beta2", "penalties.0.weight"


def _memory(t2, t1=(100.0, 100.0), peaks=(200, 900), steps=(0.8, 0.2)):
    """Two seeds alike, one value of each for beta2 = 0.99 and 0.999."""
    rows = []
    for seed in (0, 1):
        for beta2, early, late, peak, size in zip((0.99, 0.999), t1, t2, peaks, steps, strict=True):
            keys = {"case": "l2", BETA2: beta2, "seed": seed}
            rows.append(keys | {"record": "grokking_times", "t1": early, "t2": late})
            for step in range(0, 1001, 50):
                on_plateau = early <= step <= 2 * early
                seen = {"l2_norm": -abs(step - peak), "effective_step": size if on_plateau else 9.0}
                rows.append(keys | {"record": "history", "step": step} | seen)
    return {"adam_memory": pd.DataFrame(rows)}


@pytest.mark.parametrize(
    ("t2", "ratio"),
    [((500.0, 1500.0), 3.0), ((500.0, np.nan), math.inf), ((np.nan, np.nan), math.nan)],
)
def test_a_time_that_never_comes_makes_the_ratio_infinite(t2, ratio):
    found = claims.ratio_of_times(_memory(t2), "l2", "t2", slow=0.999, fast=0.99)
    assert found == pytest.approx([ratio] * 2, nan_ok=True)


def test_the_effective_step_is_that_between_t1_and_twice_t1():
    found = claims.ratio_of_steps(_memory((500.0, 500.0)), "l2", slow=0.999, fast=0.99)
    assert found == pytest.approx([4.0, 4.0])
    unlearnt = _memory((500.0, 500.0), t1=(100.0, np.nan))
    assert np.isnan(claims.ratio_of_steps(unlearnt, "l2", slow=0.999, fast=0.99)).all()


def test_peaks_in_the_order_of_beta2_correlate():
    table = pd.concat(
        _memory((500.0, 500.0), peaks=pair)["adam_memory"].replace({BETA2: {0.999: beta2}})
        for pair, beta2 in (((200, 400), 0.995), ((200, 900), 0.999))
    ).drop_duplicates(["seed", BETA2, "record", "step"], ignore_index=True)
    assert claims.order_of_peaks({"adam_memory": table}, "l2") == pytest.approx([1.0, 1.0])


def test_exponents_leave_out_what_never_generalises():
    rows = [
        {"record": "grokking_times", BETA2: beta2, WEIGHT: weight, "seed": 0, "t2": t2}
        for beta2, power in ((0.99, -0.1), (0.999, -0.5))
        for weight in (1e-7, 1e-6, 1e-5)
        for t2 in [np.nan if weight == 1e-7 else 100 * weight**power]
    ]
    tables = {"adam_memory_weights": pd.DataFrame(rows)}
    assert claims.exponent_of_weight(tables, 0.99) == pytest.approx([-0.1])
    assert claims.difference_of_exponents(tables, slow=0.999, fast=0.99) == pytest.approx([0.4])
