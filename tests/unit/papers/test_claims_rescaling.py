"""Claims of `beyond_l2` on rescaled starts, on synthetic tables that meet, miss and lack them."""

import numpy as np
import pytest

from tests.tables import judged, rows, table

PAPER = "beyond_l2"
GAMMAS = {"scaled_2": 2.0, "scaled_8": 8.0, "orbit_4": 4.0, "orbit_16": 16.0, "weight_half": 2.0}
BETA = 1e-3


def rescaled(slope=1.0, power=-1.0, early=0.02, end=0.03, hypentropy=0.01, spread=0.0, norm=1.0):
    """Two features; half of the way is done at ``beta t = slope log(gamma) + 1``, a logged step."""
    shared = {
        "case": list(GAMMAS),
        "seed": list(range(5)),
        "penalties__0__weight": lambda row: BETA / (4 if row["case"] == "weight_half" else 2),
        "optimizer__lr": 1.0,
    }

    def beta(row):
        return 2 * row["penalties.0.weight"]

    def change(row):
        time = slope * np.log(GAMMAS[row["case"]]) + 1
        return time * (2 ** (-power - 1) if row["case"] == "weight_half" else 1)

    def first(row):
        gamma = GAMMAS[row["case"]]
        if row["step"]:
            return 0.5
        return gamma / 4 if row["case"].startswith("orbit") else gamma

    def second(row):
        if row["step"]:
            return 0.5
        return 1 / (4 * GAMMAS[row["case"]]) if row["case"].startswith("orbit") else 0.0

    history = rows(
        **shared,
        step=[0, 9000],
        parameters__factors__0=first,
        parameters__factors__1=first,
        parameters__factors__2=second,
        parameters__factors__3=second,
        test_error=lambda row: 1 + (spread if row["case"] == "orbit_16" else 0),
        l2_norm=norm**0.5,
    )

    def distance(row):
        time = beta(row) * row["step"]
        if time > 8.5:
            return end
        return 0.35 - 0.1 * (time - change(row))  # 0.3 at half a unit after the change

    measured = rows(
        "hypentropy_path",
        **shared,
        step=[*range(0, 9001, 250), 18_000],
        between=0.7,
        distance_l1=distance,
        distance_l2=early,
        distance=hypentropy,
    )
    return table(history, measured)


def test_the_time_is_between_logged_steps():
    assert judged(PAPER, "N67", rescaled(slope=0.93))["value"] == pytest.approx(0.93)


def test_a_start_that_never_comes_half_way_has_no_time():
    """With one start left there is no slope."""
    found = judged(PAPER, "N67", rescaled(slope=5.0, end=0.5))
    assert found["verdict"] != "reproduced"


def test_a_prediction_that_was_not_found_is_not_met():
    assert judged(PAPER, "N69", rescaled(hypentropy=np.nan))["verdict"] != "reproduced"
