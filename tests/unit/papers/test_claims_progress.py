"""Numbers of plate 3 from tables whose answer is known."""

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.plates import _progress, claims

T1, T2 = 20.0, 60.0
STEPS = np.arange(0, 201, 2)
CASES = {"progress_images": ("weight_decay", "grokalign"), "sparse_recovery": ("all",)}


def _ramp(begin, end):
    """From 0 to 1, straight."""
    return np.clip((STEPS - begin) / (end - begin), 0, 1)


# of the way from t1 to 120, twice t2: a tenth of test accuracy's at 44
CURVES = {
    "test_accuracy": 0.1 + 0.9 * _ramp(40, 80),
    "train_loss": np.exp(-3 * _ramp(20, 100)),
    "l1_norm": 10 - 4 * _ramp(30, 50),
    "l2_norm": 9 + 2 * _ramp(60, 100),
    "nuclear_norm": np.full(len(STEPS), 7.0),
    "jacobian_norm": 5 + 4 * _ramp(20, 60) - 3 * _ramp(60, 100),
    "jacobian_pc1": 0.2 + _ramp(120, 200),
    "centroid_alignment_mean": 0.5 + 0.3 * (STEPS // 2 % 2),
    "fourier_gini_embedding": 0.1 + 0.9 * _ramp(40, 80),
}


def table(name, t2=T2, changes=None):
    """Two seeds of every case; the second takes twice as long."""
    rows, sparse = [], name == "sparse_recovery"
    curves = CURVES | (changes or {})
    if sparse:
        general, loss = curves["test_accuracy"], curves["train_loss"]
        curves = {"test_error": 1 - general, "train_error": loss, "l1_norm": curves["l1_norm"]}
    for case in CASES.get(name, ("all",)):
        for seed in (0, 1):
            keys = {"case": case, "seed": seed, "task.modulus": 7.0, "task.name": "mnist"}
            times = {"t1": T1 * (seed + 1), "t2": t2 * (seed + 1)}
            record = "recovery_times" if sparse else "grokking_times"
            rows.append(keys | {"record": record} | times)
            history = pd.DataFrame({"step": STEPS * (seed + 1.0)} | curves)
            rows += [keys | {"record": "history"} | row for row in history.to_dict("records")]
    return pd.DataFrame(rows)


def every(**given):
    names = dict.fromkeys(name for name, _ in _progress.RUNS.values())
    return {name: table(name, **given) for name in names}


@pytest.mark.parametrize(
    ("measure", "share", "step"),
    [
        ("l1_norm", 0.1, 32),
        ("l1_norm", 0.5, 40),
        ("l1_norm", 0.9, 48),
        ("l2_norm", 0.5, 80),
        ("train_loss", 0.5, 60),  # of the logarithm
        ("gini_embedding", 0.1, 44),
    ],
)
def test_moves_are_over_the_tenth_of_test_accuracy(measure, share, step):
    found = claims.time_of_move(every(), "grokalign", measure, share)
    assert found == pytest.approx([step / 44] * 2)


def test_what_hardly_moves_by_the_end_of_the_window_has_no_time():
    assert claims.time_of_move(every(), "grokalign", "nuclear_norm", 0.5) == []
    assert claims.time_of_move(every(), "grokalign", "jacobian_pc1", 0.5) == []  # later than 120
    assert claims.time_of_move(every(), "sparse", "l2_norm", 0.5) == []


def test_a_share_counts_where_it_is_not_lost_again():
    back = 10 - 4 * _ramp(30, 50) + 4 * _ramp(52, 56) - 4 * _ramp(60, 70)
    found = claims.time_of_move(every(changes={"l1_norm": back}), "addition", "l1_norm", 0.5)
    assert found == pytest.approx([65 / 44] * 2)


def test_seeds_without_a_plateau_are_left_out():
    assert _progress.windows(every(t2=np.nan)).empty
    assert _progress.windows(every(t2=T1)).empty
    assert claims.time_of_move(every(t2=np.nan), "addition", "l1_norm", 0.1) == []
    assert np.isnan(claims.share_beyond_clock(every(t2=np.nan))).all()


def test_only_a_measure_ordered_as_test_accuracy_is_beyond_the_clock():
    tables = every()
    measures = 5  # training loss, l1 norm, Gini, centroid and Jacobian norm; sparse: the first two
    assert claims.share_beyond_clock(tables) == pytest.approx([4 / (4 * measures + 2)])
    drifting = {"fourier_gini_embedding": CURVES["l1_norm"]}
    assert claims.share_beyond_clock(every(changes=drifting)) == [0]


def test_a_run_in_which_nothing_can_be_beyond_the_clock_is_left_out(monkeypatch):
    monkeypatch.setattr(_progress, "MARGIN", 1.0)
    assert np.isnan(claims.share_beyond_clock(every())).all()
