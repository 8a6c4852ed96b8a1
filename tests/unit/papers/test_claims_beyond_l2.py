"""Claims of `beyond_l2` on made tables: what counts, and what is infinite or missing."""

import numpy as np
import pandas as pd
import pytest

from grokatlas.claims import statistics
from grokatlas.papers.beyond_l2 import claims
from tests.tables import judged, table
from tests.unit.papers.beyond_l2_networks import (
    addition,
    halves,
    peak,
    published_curves,
    published_falls,
    published_halves,
    published_times,
    regularised,
    since_generalisation,
    students,
)
from tests.unit.papers.beyond_l2_recovery import depth, matrix, samples

PAPER = "beyond_l2"
NAN = np.nan
PEAK = [{"panel": "norm l2", "x": 1400, "y": 0.097}]


@pytest.mark.parametrize(
    ("claim", "tables"),
    [
        ("N1b", addition(t2=NAN)),
        ("N60", published_times(last=NAN)),
        ("N71", published_halves(last=np.inf)),
    ],
    ids=["N1b", "N60", "N71"],
)
def test_a_time_that_is_never_reached_is_infinite_and_missed(claim, tables):
    judgement = judged(PAPER, claim, tables)
    assert (judgement["value"], judgement["verdict"]) == (np.inf, "not reproduced")


def of_two(one, other):
    """Seed 0 of one table and seed 1 of another."""
    return table(one.assign(seed=0), other.assign(seed=1))


def test_a_published_time_within_the_range_of_our_seeds_is_met():
    far = of_two(published_times(late=0.5), published_times(late=2.0))
    assert judged(PAPER, "N60", far)["value"] == 0
    early = of_two(published_times(late=0.5), published_times(late=0.9))
    assert judged(PAPER, "N60", early)["value"] == pytest.approx(0.1)
    late = of_two(published_times(late=1.1), published_times(last=NAN))
    assert judged(PAPER, "N60", late)["value"] == pytest.approx(0.1)


def test_a_published_half_within_the_range_of_our_seeds_is_met():
    first, second = (published_halves(late=late).query("seed == 0") for late in (0.7, 1.4))
    assert judged(PAPER, "N71", of_two(first, second))["value"] == 0
    assert judged(PAPER, "N71", first)["verdict"] == "not reproduced"


def test_published_plateaus_within_the_range_of_our_networks_are_met():
    low, high = (students(plateau=plateau).query("seed == 0") for plateau in (8.0, 30.0))
    assert judged(PAPER, "N61", of_two(low, high))["value"] == 0
    assert judged(PAPER, "N61", low)["value"] == pytest.approx(4.6 / 8.6)


def test_points_after_t2_are_compared_as_long_after_our_own():
    later = judged(PAPER, "N59", published_curves(t2=12_150, late=3000))
    assert (later["value"], later["verdict"]) == (pytest.approx(0), "reproduced")
    assert judged(PAPER, "N59", published_curves(late=3000))["value"] > 0.05
    assert judged(PAPER, "N59", published_curves(t2=NAN))["value"] == np.inf
    assert judged(PAPER, "N59c", published_curves(t2=NAN))["verdict"] == "reproduced"
    assert judged(PAPER, "N18", addition(t2=NAN))["value"] == np.inf


def test_a_run_that_does_not_generalise_has_no_norm_since():
    assert judged(PAPER, "N74", since_generalisation())["count"] == 5
    assert judged(PAPER, "N74", since_generalisation(never=True))["count"] == 0


@pytest.mark.parametrize("own", [3.0, 1 / 3])
def test_the_step_that_is_farthest_from_its_published_one_counts(own):
    found = judged(PAPER, "N56e", published_falls(by=1e-3, own=own))
    assert (found["value"], found["verdict"]) == (pytest.approx(3.0), "not reproduced")


def test_a_loss_that_never_falls_is_missed_and_a_weight_that_is_missing_gives_no_number():
    every = published_falls()
    never = every.assign(test_squared_error=16.2)
    assert judged(PAPER, "N56e", never)["value"] == np.inf
    fewer = every[every["penalties.0.weight"] != 1e-5]
    assert judged(PAPER, "N56e", fewer)["count"] == 0


def test_a_peak_is_as_far_as_the_worse_one_of_its_height_and_step():
    far = judged(PAPER, "N60d", peak(height=97.0 * 1.15, step=1260))
    assert far["value"] == pytest.approx(0.15)
    assert judged(PAPER, "N60d", peak(height=97.0, step=1260))["value"] == pytest.approx(0.1)


def test_the_weight_of_a_peak_is_that_of_the_claim():
    assert claims.distance_of_peak({"addition_at_one_rate": peak()}, 1e-5, PEAK)[0] > 4
    assert claims.distance_of_peak({"addition_at_one_rate": peak()}, 1e-6, PEAK) == []


def test_times_under_the_next_smaller_weight_are_not_the_published_ones():
    (lowered,) = claims.weights_lowered({"regularised_addition": published_times()}).values()
    assert sorted(lowered["penalties.0.weight"]) == [5e-9, 1e-8, 1e-7, 1e-6, 5e-6]
    assert judged(PAPER, "N60", lowered)["value"] == pytest.approx((4880 - 2680) / 6030)


def test_an_order_of_memorisation_is_not_that_of_generalisation():
    times = {"addition_at_one_rate": regularised().assign(t1=lambda rows: 1 / rows["t2"])}
    experiment = ("addition_at_one_rate", "l1", 0.01)
    assert claims.order_of_times(times, *experiment, "t1") == pytest.approx([1] * 5)
    assert claims.order_of_times(times, *experiment, "t2") == pytest.approx([-1] * 5)


def after(start):
    """One from a step on that grows with the root of the weight, 0 before it."""
    return lambda rows: (rows["step"] >= start * (rows["penalties.0.weight"] / 1e-7) ** 0.5) * 1.0


def test_an_order_of_training_accuracy_or_error_is_not_that_of_the_test_set():
    one = {"regularised_addition": halves().assign(train_accuracy=after(100))}
    assert claims.order_of_halves(one, "l1", "train_accuracy") == pytest.approx([1] * 6)
    assert claims.order_of_halves(one, "l1", "test_accuracy") == pytest.approx([-1] * 6)
    late = students().assign(train_squared_error=lambda rows: 1 - after(10)(rows))
    taught = {"teacher_student": late}
    own = claims.order_of_students(taught, "teacher_student", "train_squared_error")
    assert own == pytest.approx([1] * 3)


def test_half_of_the_instances_are_recovered_between_two_numbers_of_samples():
    """None from 15 and all from 20: half at 17.5, the transition is at 20.39 (SciPy)."""
    assert judged(PAPER, "N65c", samples())["value"] == pytest.approx(17.5 / 20.39, rel=1e-4)
    assert judged(PAPER, "N65c", samples(enough=1000))["value"] == np.inf
    assert judged(PAPER, "N65c", samples(enough=10))["count"] == 0


def test_shares_are_those_of_the_instances():
    assert judged(PAPER, "N58", depth())["value"] == pytest.approx(3 / 5)
    assert judged(PAPER, "N49", matrix())["value"] == pytest.approx(1 / 5)


def test_students_are_judged_seed_by_seed_where_they_are_least_ordered():
    found = judged(PAPER, "N56", students(other=0.5))
    assert (found["count"], found["value"]) == (3, pytest.approx(1.0))


def test_of_the_weights_that_never_generalise_one_counts():
    weights = pd.Series([1.0, 2.0, 3.0, 4.0, 5.0])
    never = np.inf
    assert statistics.order(weights, pd.Series([never, never, 30, 20, 10])) == pytest.approx(-1)
    assert statistics.order(weights, pd.Series([50, 40, 30, 20, never])) == pytest.approx(0)
    assert np.isnan(statistics.order(weights, pd.Series([never, never, never, never, 10])))
    assert np.isnan(statistics.order(weights, pd.Series([never] * 5)))
