"""Numbers of plates 3, 4 and 5 from runs that decide what the plates left open."""

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.plates import _forecasts, claims
from grokatlas.papers.plates._progress import MEASURES

DECAY = "penalties.0.weight"


def _trained(case, seed, t2, sharpness=np.nan, share=0.1):
    """A run that comes to the level at slow time t2; one update is a slow time of 0.1."""
    flow = "joint" in case
    keys = {"case": case, "seed": seed, "record": "history", "model.sharpness": sharpness}
    keys |= {"dynamics.rate": 0.1, "dynamics.ratio": 1.0} if flow else {}
    keys |= {} if flow else {DECAY: 1e-3, "optimizer.lr": 50.0}
    return [
        keys | {"step": step, "test_accuracy": float(step * 0.1 >= t2 - 1e-9)}
        | {"share_at_kinks": share * step / 50}
        for step in range(51)
    ]  # fmt: skip


@pytest.fixture
def kinked():
    smooth = _trained("joint", 0, 2.0, 30.0) + _trained("equal_3", 0, 2.0, 30.0, 0.001)
    smooth += _trained("joint", 0, 2.0, 10.0) + _trained("equal_3", 0, 1.0, 10.0)
    smooth += _trained("relu", 0, 3.0, share=0.2) + _trained("relu_joint", 0, 3.0)
    relu = _trained("joint", 0, 4.0) + _trained("equal_3", 0, 3.2)
    tables = {"smooth_theories": pd.DataFrame(smooth), "addition_theories": pd.DataFrame(relu)}
    tables["addition_theories"] = tables["addition_theories"].drop(columns="model.sharpness")
    return tables


def test_the_flow_is_compared_with_training_of_the_same_units(kinked):
    def quotient(sharpness):
        return claims.predicted_over_measured_smooth(kinked, sharpness, 1e-3)

    assert quotient(30.0) == pytest.approx([1.0])
    assert quotient(10.0) == pytest.approx([2.0])
    assert quotient("relu") == pytest.approx([1.25])
    assert claims.predicted_over_measured_smooth(kinked, 30.0, 1e-4) == []


def test_units_at_kinks_are_counted_at_a_slow_time(kinked):
    assert claims.share_at_kinks(kinked, "relu", "relu", 2.5) == pytest.approx([0.1])
    assert claims.share_at_kinks(kinked, "relu", "relu", 0.0) == [0.0]
    assert claims.share_at_kinks(kinked, "equal_3", 30.0, 5.0) == pytest.approx([0.001])


def _runs(weights=(1e-6, 1e-5), seeds=10, order=1):
    """Runs whose t2 falls with the weight and rises with the l2 norm of the seed at update 100."""
    rows = []
    for place, weight in enumerate(weights):
        for index in range(seeds):
            seed = 10 * place + index
            keys = {"case": f"weight_{place}", "seed": seed, DECAY: weight}
            t2 = 3000 - 1000 * place + 10 * order * index
            rows.append(keys | {"record": "grokking_times", "t2": float(t2)})
            for step in (0, 100):
                logged = {"step": step, "l2_norm": index + 50.0 * place if step else index % 2}
                rows.append(
                    keys | {"record": "history", "jacobian_norm": (7 * index) % 10} | logged
                )
    return {"progress_seeds": pd.DataFrame(rows)}


def test_a_weight_orders_all_runs_and_a_measure_those_of_one_weight():
    tables = _runs()
    keywords = {"at": 100, "among": "weight"}
    assert claims.correlation_with_t2(tables, "l2_norm", **keywords) == pytest.approx([1.0])
    assert abs(claims.correlation_with_t2(tables, "jacobian_norm", **keywords)[0]) < 0.3
    assert claims.correlation_with_t2(tables, "weight", at=100, among="all")[0] < -0.8
    over_all = claims.correlation_with_t2(tables, "l2_norm", at=100, among="all")[0]
    assert over_all < -0.4  # the weight's order, not the seeds'
    assert claims.number_that_tell(tables, 100) == [1.0]
    assert claims.number_that_tell(tables, 0) == [0.0]
    turned = claims.correlation_with_t2(_runs(order=-1), "l2_norm", **keywords)
    assert turned == pytest.approx([-1.0])


def test_a_run_that_never_generalises_is_the_last():
    tables = _runs(weights=(1e-6,))
    table = tables["progress_seeds"]
    times = table["record"] == "grokking_times"
    table.loc[times & (table["seed"] == 0), "t2"] = np.nan
    seen = _forecasts.plateau(tables, 100)
    assert seen["t2"].tolist()[0] == np.inf
    assert claims.correlation_with_t2(tables, "l2_norm", "weight", 100)[0] < 0.6


def test_the_level_of_chance_has_one_degree_of_freedom_less_for_each_weight():
    rows = pd.DataFrame(dict.fromkeys(MEASURES, range(50)))
    rows["weight"] = [*range(5)] * 10
    t = 3.0227  # Student's, two-sided 0.05 / 12, 44 degrees of freedom
    assert _forecasts.level(rows) == pytest.approx(t / (44 + t**2) ** 0.5, abs=1e-4)


def test_chance_gives_one_of_all_measures_the_level_once_in_twenty():
    random = np.random.RandomState(0)
    exceeded = 0
    for _ in range(400):
        rows = pd.DataFrame(random.standard_normal((20, 4)))
        rows.columns = ["t2", "l1_norm", "l2_norm", "jacobian_norm"]
        rows["weight"] = [1.0] * 10 + [2.0] * 10
        exceeded += _forecasts.correlations(rows)["beyond"].any()
    assert 0.02 < exceeded / 400 < 0.09


def _noisy(case, start, end, plateau, ratio, seed=0):
    keys = {"run": f"{case}{start}{ratio}", "member": seed, "case": case, "seed": seed}
    keys |= {"model.init": start, "task.train_points": 50, "task.signal_to_noise": ratio}
    rows = [keys | {"record": "recovery_times", "t1": 10.0}]
    for step, error in ((0, 99.0), (10, plateau), (500, end)):
        rows.append(keys | {"record": "history", "step": step, "test_error": error})
    return rows


def test_ends_are_compared_with_the_noise_and_falls_are_from_memorisation_on():
    rows = _noisy("sparse", 2.2, 0.2, 20.0, 100.0) + _noisy("sparse", 2e-7, 0.2, 1.0, 100.0)
    rows += _noisy("dense", 10.0, 0.6, 20.0, 100.0) + _noisy("sparse", 2.2, 0.001, 20.0, np.nan)
    tables = {"recovery_noise": pd.DataFrame(rows)}
    assert claims.end_over_noise(tables, "sparse", 100) == pytest.approx([2.0])
    assert claims.ends_apart(tables, 100) == pytest.approx([3.0])
    assert claims.share_fallen_in_noise(tables, "sparse", "large", 100) == [1.0]
    assert claims.share_fallen_in_noise(tables, "sparse", "small", 100) == [0.0]
