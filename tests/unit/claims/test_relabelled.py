"""Tables under other labels: what a control of a claim is made with."""

import math

import pandas as pd

from grokatlas.claims import relabelled

TABLE = pd.DataFrame(
    {"case": ["a", "a", "a", None], "weight": [0.0, 1.0, 3.0, 7.0], "size": [1, 2, 3, 4]}
)


def test_labels_are_reversed_within_a_case_and_what_is_0_stays():
    (made,) = relabelled.changed({"one": TABLE}, ["weight", "none"], relabelled.reverse).values()
    assert list(made["weight"]) == [0.0, 3.0, 1.0, 7.0]
    assert list(made["size"]) == [1, 2, 3, 4]
    assert list(TABLE["weight"]) == [0.0, 1.0, 3.0, 7.0]


def test_labels_are_lowered_by_one_and_what_is_0_stays():
    lowered = relabelled.lower(pd.Series([0.0, 5.0, 1.0, 2.0]))
    assert list(lowered[[0, 1, 3]]) == [0.0, 2.0, 1.0]
    assert math.isnan(lowered[2])


def test_a_missing_label_stays_and_a_number_is_doubled():
    values = pd.Series([math.nan, 2.0, 5.0])
    assert list(relabelled.reverse(values)[1:]) == [5.0, 2.0]
    assert math.isnan(relabelled.reverse(values)[0])
    assert list(relabelled.double(values)[1:]) == [4.0, 10.0]
