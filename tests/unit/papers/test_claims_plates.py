"""Numbers of the plates' predictions from tables whose answer is known."""

import math

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.plates import _clock as _clock_numbers
from grokatlas.papers.plates import claims

BETA2, WEIGHT = "optimizer.beta2", "penalties.0.weight"


def _memory(t2, t1=(100.0, 100.0), peaks=(200, 900), steps=(0.8, 0.2)):
    """Two seeds alike, one value of each for beta2 = 0.99 and 0.999."""
    rows = []
    for seed in (0, 1):
        for beta2, early, late, peak, size in zip((0.99, 0.999), t1, t2, peaks, steps, strict=True):
            keys = {"case": "l2", BETA2: beta2, "seed": seed}
            rows.append(keys | {"record": "grokking_times", "t1": early, "t2": late, "step": 1000})
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


def test_a_time_that_comes_later_is_taken_from_the_longer_run():
    tables = _memory((500.0, np.nan))
    longer = _memory((500.0, 2500.0))["adam_memory"].assign(step=3000)
    found = claims.ratio_of_times(
        tables | {"adam_memory_long": longer}, "l2", "t2", slow=0.999, fast=0.99
    )
    assert found == pytest.approx([5.0] * 2)


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


def _weights(t2_of):
    """One seed at three weights and two beta2, with the time that a function gives."""
    return pd.DataFrame(
        {"record": "grokking_times", BETA2: beta2, WEIGHT: weight, "seed": 0, "step": 1000}
        | {"t1": 10.0, "t2": t2_of(beta2, weight)}
        for beta2 in (0.99, 0.999)
        for weight in (1e-7, 1e-6, 1e-5)
    )


def test_exponents_leave_out_what_never_generalises():
    def t2(beta2, weight):
        return np.nan if weight == 1e-7 else 100 * weight ** {0.99: -0.1, 0.999: -0.5}[beta2]

    tables = {"adam_memory_weights": _weights(t2)}
    assert claims.exponent_of_weight(tables, 0.99) == pytest.approx([-0.1])
    assert claims.difference_of_exponents(tables, slow=0.999, fast=0.99) == pytest.approx([0.4])


@pytest.mark.parametrize(("least", "quotient"), [(1e-6, 1.0), (1e-5, math.nan)])
def test_a_denominator_that_decays_gives_its_own_time_for_each_factor_e(least, quotient):
    def t2(beta2, weight):
        return 9e9 if weight == 1e-7 else 500 - 2 / (1 - beta2) * math.log(weight)

    tables = {"adam_memory_weights": _weights(t2)}
    found = claims.updates_per_decay(tables, 0.999, least)
    assert found == pytest.approx([quotient], nan_ok=True)


WHERE = {"recovery_l1": "dynamics.l1", "recovery_nuclear": "dynamics.weight"}
WHERE |= {"recovery_l2": "dynamics.l2"}


def _run(name, weight, truth, start, samples, t2=None, errors=(1.0, 1.0), **theory):
    """A run of plate 4 that fits its data at step 10 and has these test errors from then on."""
    keys = {"run": f"{name}{weight}{truth}{start}", "member": samples, "seed": samples}
    keys |= {"task.truth": truth, "model.init": start, "dynamics.rate": 0.5, WHERE[name]: weight}
    keys |= {"train.stop.test_error.below": 0.01}
    rows = [keys | {"record": "recovery_times", "t1": 10.0, "t2": np.nan if t2 is None else t2}]
    rows.append(
        keys
        | {"record": "convex_recovery", "samples": samples, "instance": 0}
        | {"minimiser_error": 1.0, "distance": 2.0}
        | theory
    )
    for step, error in zip((0, 10, 200), (500.0, *errors), strict=True):
        rows.append(keys | {"record": "history", "step": step, "test_error": error})
    return rows


def _recovery(**more):
    """One run of each experiment; `more` are further ones by experiment."""
    rows = {
        "recovery_l1": _run("recovery_l1", 0.01, "sparse", 1e-6, 70, 100.0, minimiser_error=1e-9),
        "recovery_nuclear": _run("recovery_nuclear", 0.01, "sparse", 10.0, 30, None, (90.0, 0.8)),
        "recovery_l2": [
            *_run("recovery_l2", 0.02, "gaussian", 10.0, 30, None, (90.0, 8.0)),
            *_run("recovery_l2", 0.0, "gaussian", 10.0, 30, None, (90.0, 9.1)),
        ],
    }
    return {name: pd.DataFrame(kept + more.get(name, [])) for name, kept in rows.items()}


def test_shares_count_the_runs_that_they_name():
    tables = _recovery(
        recovery_l1=_run("recovery_l1", 0.01, "sparse", 10.0, 80, None, (90.0, 0.8))
        + _run("recovery_l1", 0.01, "gaussian", 10.0, 70, None, (90.0, 50.0))
    )
    every = {"truth": "all", "regulariser": "all", "start": "all", "fewest": 0, "most": 90}
    diagonal = every | {"truth": "sparse", "regulariser": "l1", "fewest": 70}
    assert claims.share(tables, "recovered", **diagonal) == [0.5]
    assert claims.share(tables, "recovered", **diagonal | {"fewest": 75}) == [0.0]
    off = every | {"truth": "unfit", "most": 70}
    assert claims.share(tables, "recovered", **off) == [0.0]
    assert claims.share(tables, "mirage", **off) == [0.5]  # two of four
    assert claims.share(tables, "mirage", **off | {"regulariser": "l1", "start": 10.0}) == [0.0]
    assert claims.share(tables, "mirage", **every | {"regulariser": "l1", "start": 10.0}) == [0.5]
    assert claims.share(tables, "mirage", **every | {"start": 1e-6}) == [0.0]


def test_times_on_the_diagonal_are_compared_with_the_distance():
    tables = _recovery(
        recovery_l1=_run("recovery_l1", 0.01, "sparse", 10.0, 70, 800.0, distance=16.0),
        recovery_nuclear=_run("recovery_nuclear", 0.01, "low_rank", 1e-6, 90, None, distance=9.0),
    )
    assert claims.time_over_distance(tables) == pytest.approx([0.25])  # 0.5 / 2 and 4 / 16
    assert claims.exponent_of_distance(tables, most=100) == pytest.approx([1.0])
    rounding = _run("recovery_l1", 0.01, "sparse", 10.0, 100, 10.0, distance=1e-15)
    determined = _recovery(
        recovery_l1=_run("recovery_l1", 0.01, "sparse", 10.0, 70, 800.0, distance=16.0) + rounding
    )
    assert claims.exponent_of_distance(determined, most=100)[0] < 0.5
    assert claims.exponent_of_distance(determined, most=90) == pytest.approx([1.0])
    missed = _run("recovery_l1", 0.01, "sparse", 1e-6, 30, None, minimiser_error=1e-9)
    none = _run("recovery_l1", 0.01, "sparse", 1e-6, 20, None)  # whose minimiser is another
    assert claims.recovered_of_exact(_recovery(recovery_l1=missed + none)) == [0.5]


def _clock(**t2):
    """Two seeds alike: controls at two memories, and the t2 of switched and decayed runs."""
    times = {"record": "grokking_times", "t1": 50.0, "step": 1000}
    control = {0.9: 200.0, 0.999: np.nan}
    decayed = {0.9: 100.0, 0.999: t2.pop("decoupled", np.nan)}
    made = {
        "adam_memory": [{"case": "large_step", BETA2: b, "t2": t} for b, t in control.items()]
        + [{"case": "l2", BETA2: 0.9, "t2": 7.0}],
        "adam_switched": [{"case": case, "t2": value} for case, value in t2.items()],
        "adam_decoupled": [{BETA2: b, "t2": t} for b, t in decayed.items()],
    }
    return {
        name: pd.DataFrame(times | row | {"seed": seed} for seed in (1, 0) for row in rows)
        for name, rows in made.items()
    }


def test_a_switched_run_is_compared_with_the_control_of_its_seed():
    tables = _clock(shortened=300.0, lengthened=np.nan)
    assert claims.ratio_to_control(tables, "shortened", 0.9) == pytest.approx([1.5, 1.5])
    assert claims.ratio_to_control(tables, "lengthened", 0.9) == [math.inf] * 2
    assert np.isnan(claims.ratio_to_control(tables, "shortened", 0.999)).all()


def test_the_control_of_decoupled_decay_waits():
    tables = _clock(decoupled=80.0)
    assert claims.ratio_under_decay(tables, "adam_decoupled", 0.999, 0.9) == [0.8, 0.8]
    assert claims.ratio_under_decay(tables, "adam_memory", 0.999, 0.9) == [math.inf] * 2


def test_a_run_in_mini_batches_is_compared_with_full_batches_of_its_seed():
    tables = _clock()
    runs = [{"case": "small", BETA2: 0.9, "t2": 100.0}, {"case": "large", BETA2: 0.9, "t2": np.nan}]
    times = {"record": "grokking_times", "t1": 50.0}
    rows = [times | row | {"seed": seed} for seed in (0, 1) for row in runs]
    tables["adam_batches"] = pd.DataFrame(rows)
    assert claims.ratio_in_batches(tables, "small", 0.9, 0.9) == [0.5, 0.5]
    assert claims.ratio_in_batches(tables, "large", 0.9, 0.9) == [math.inf] * 2


def test_a_jump_is_a_rise_of_the_loss_after_the_data_were_learnt():
    """It counts once, however long it lasts, and the first fall from the start is none."""
    steps = [0, 10, 20, 30, 40, 50, 60, 70, 80]
    losses = [1.0, 1e-5, 0.1, 0.2, 1e-5, 5e-4, 1e-2, 1e-5, 0.3]  # jumps at 20, 60 and 80
    runs = {0.99: steps, 0.995: [2 * step for step in steps]}
    common = {"record": "history", "case": "small", "seed": 0, "train_loss": losses}
    table = pd.concat(pd.DataFrame(common | {BETA2: b, "step": s}) for b, s in runs.items())
    tables = {"adam_batches": table}
    assert _clock_numbers.periods(tables)["period"].to_list() == [30, 60]
    assert claims.ratio_of_periods(tables, 0.995, 0.99) == [2.0]
    flat = {"adam_batches": table.assign(train_loss=1e-5)}
    assert np.isnan(claims.ratio_of_periods(flat, 0.995, 0.99)).all()


def test_the_denominator_left_is_of_two_updates_of_a_seed():
    rows = {"record": "history", "case": "small", "seed": [1, 1, 0, 0], "step": [9, 5, 5, 9]}
    table = pd.DataFrame(rows | {"adam_denominator": [1e-8, 4e-8, 2e-8, 1e-8]})
    assert claims.denominator_left({"adam_batch_noise": table}, "small", 9, 5) == [0.5, 0.25]


def _law(late=np.nan):
    """One seed whose remembered gradients are 1e-8 e^10 at every memory, and the control's t2."""
    memories = (0.9, 0.99, 0.999)
    common = {"seed": 0, "step": 100, "optimizer.eps": 1e-8}
    gradient = {"record": "history", "case": "large_step", "adam_denominator": 1e-8 * math.exp(10)}
    control = dict(zip(memories, (300.0, 2100.0, np.nan), strict=True))
    times = [{"record": "grokking_times", "case": "large_step", "t1": 50.0}]
    return {
        "adam_remembered": pd.DataFrame([common | gradient | {BETA2: b} for b in memories]),
        "adam_memory": pd.DataFrame(
            [times[0] | {"seed": 0, BETA2: b, "t2": t} for b, t in control.items()]
        ),
        "adam_late": pd.DataFrame([times[0] | {"seed": 0, BETA2: 0.999, "t2": late}]),
    }


def test_the_law_waits_for_the_memory_to_fall_to_eps():
    # 2 / (1 - beta2) log(g / eps): 200 updates at 0.9, 2,000 at 0.99, 20,000 at 0.999
    tables = _law(late=0.9 * 20100)
    assert claims.wait_over_law(tables, 0.99, 2, "adam_memory") == pytest.approx([1.0])
    assert claims.wait_over_law(tables, 0.99, 1, "adam_memory") == pytest.approx([2.0])
    assert claims.time_over_law(tables, 0.999, 2, "predicted", "adam_memory") == pytest.approx(
        [0.9]
    )
    assert claims.time_over_law(_law(), 0.999, 2, "predicted", "adam_memory") == [math.inf]


def test_the_law_of_the_transformer_begins_where_the_training_data_are_right():
    # at update 100 log(g / eps) is 10; before and after it g is another one
    rows = [
        {"record": "history", "case": "l2", "seed": 0, BETA2: beta2, "optimizer.eps": 1e-8}
        | {"step": step, "train_accuracy": right, "adam_denominator": 1e-8 * math.exp(power)}
        for beta2 in (0.9, 0.99)
        for step, right, power in ((80, 0.9, 12), (100, 1.0, 10), (120, 1.0, 8))
    ]
    common = {"record": "grokking_times", "seed": 0, "t1": 100.0}
    for case in ("l2", "decoupled"):
        for beta2, t2 in ((0.9, 300.0), (0.99, 2100.0 if case == "l2" else 330.0)):
            rows.append(common | {"case": case, BETA2: beta2, "t2": t2})
    tables = {"adam_transformer": pd.DataFrame(rows)}
    assert claims.wait_over_law(tables, 0.99, 2, "adam_transformer") == pytest.approx([1.0])
    assert claims.ratio_on_transformer(tables, "decoupled", 0.99, 0.9) == pytest.approx([1.1])
    assert claims.ratio_on_transformer(tables, "l2", 0.99, 0.9) == pytest.approx([7.0])


def test_the_steps_on_the_way_are_those_of_the_run_at_the_shortest_memory():
    full, ratio = 150.0, math.exp(10)
    times = {}
    for beta2 in (0.9, 0.999):  # steps of 1 / (ratio exp(-T / slow) + 1), added until t2
        after = np.arange(0, 40000, 0.25)
        taken = np.cumsum(0.25 / (ratio * np.exp(-after * (1 - beta2) / 2) + 1))
        times[beta2] = 100 + float(after[np.searchsorted(taken, full)])
    tables = _law(late=times[0.999])
    tables["adam_memory"].loc[0, "t2"] = times[0.9]
    assert claims.time_over_law(tables, 0.999, 2, "integrated", "adam_memory") == pytest.approx(
        [1.0], rel=2e-3
    )
    assert claims.time_over_law(tables, 0.999, 2, "predicted", "adam_memory")[0] < 0.8


def _starts():
    """Members of norm 3 whose error is at first, and at the end, as the law has it, or not."""
    rows = []
    for member, (case, first) in enumerate({"l2": math.sqrt(10), "l1": 20.0}.items()):
        common = {"case": case, "run": "a", "member": member, "seed": 0, "task.truth": "gaussian"}
        common |= {"model.init": 1.5, "task.rows": 2, "task.columns": 2}
        rows.append(common | {"record": "recovery_times", "t1": 10.0})
        for step, error in ((0, 99.0), (10, first), (90, 1.0)):
            rows.append(common | {"record": "history", "step": step, "test_error": error})
    return {"mirage_starts": pd.DataFrame(rows)}


def test_a_fall_is_counted_from_memorisation_on():
    tables = _starts()
    assert claims.fall_over_law(tables, "l2", "norm", "all") == pytest.approx([1.0])
    assert claims.fall_over_law(tables, "l2", "entry", "gaussian") == pytest.approx(
        [1.754], rel=1e-3
    )
    assert claims.fall_over_law(tables, "l1", "norm", "sparse") == []
    assert claims.share_fallen(tables, "l2", 1.5) == [0.0]
    assert claims.share_fallen(tables, "l1", 1.5) == [1.0]


def test_the_share_recovered_of_the_wide_problem_counts_both_starts():
    common = {"run": "a", "task.truth": "sparse", "task.rows": 20, "task.columns": 20}
    common |= {"train.stop.test_error.below": 0.01, "model.init": 5.0}
    rows = []
    for member, (samples, t2) in enumerate([(40, np.nan), (200, 90.0), (200, np.nan)]):
        own = common | {"member": member}
        rows.append(own | {"record": "recovery_times", "t2": t2})
        rows.append(own | {"record": "convex_recovery", "samples": samples, "minimiser_error": 0})
    tables = {"recovery_wide": pd.DataFrame(rows)}
    assert claims.share_recovered_wide(tables, "sparse", 120, 360) == [0.5]
    assert claims.share_recovered_wide(tables, "sparse", 40, 40) == [0.0]


def test_further_seeds_are_counted_with_those_of_each_experiment():
    tables = _law()
    before = claims.wait_over_law(tables, 0.999, 2, "adam_memory")
    common = {"run": "a", "seed": 3, "optimizer.eps": 1e-8}
    rows = []
    for case, beta2, t2 in (("memory", 0.9, 300.0), ("late", 0.999, 20300.0)):
        rows.append(common | {"case": case, BETA2: beta2, "record": "grokking_times", "t2": t2})
        for step, root in ((80, 1.0), (100, math.exp(10) * 1e-8)):
            own = {"case": case, BETA2: beta2, "step": step, "adam_denominator": root}
            rows.append(common | own | {"record": "history"})
    rows.append(common | {"case": "decoupled", BETA2: 0.9, "record": "grokking_times", "t2": 1.0})
    tables["adam_seeds"] = pd.DataFrame(rows)
    after = claims.wait_over_law(tables, 0.999, 2, "adam_memory")
    assert after == pytest.approx([*before, 20000 / (10 * 1980)])
