"""The benchmark compares like with like, and reports what it missed. Nothing here is timed."""

import copy
import itertools
import json
from types import SimpleNamespace

import pytest
import torch

from benchmarks import floor, forecast, report, timing
from benchmarks.start import Ours, start
from benchmarks.workloads import WORKLOADS, data_of
from grokatlas.engine import capture
from grokatlas.engine.noise import standard_normal
from tests.pretended_graphs import Pretended
from tests.tiers import every

CPU = torch.device("cpu")
SMALL = {
    "addition_nuclear": {"modulus": 13},
    "transformer": {"modulus": 13},
    "xor": {"features": 60, "train_points": 30},
    "isolated": {"modulus": 11},
}
NARROW = {"addition_nuclear": {"side": 4, "width": 12}, "xor": {"width": 40}}


def _spec(name, count=1):
    spec = WORKLOADS[name].of(count, dtype="float64")
    spec["task"] = spec["task"] | SMALL.get(name, {})
    spec["model"] = spec["model"] | NARROW.get(name, {})
    return spec


@pytest.mark.parametrize("peer", ["script", "careful"])
@pytest.mark.parametrize("name", every(3, WORKLOADS))
def test_a_peer_computes_our_updates(name, peer, monkeypatch):
    monkeypatch.delenv("GROKATLAS_DATA", raising=False)
    spec = _spec(name)
    ours = Ours(spec, data_of(spec)[0], CPU)
    begin = start(ours)
    steps = itertools.count()

    def draw(*shape):
        seed = ours.run.groups[0].noise.seeds[:1]
        (block,) = ours.run.groups[0].programs.noise_shapes
        return standard_normal(seed, block, next(steps), shape, torch.float64)[0]

    begin.draw = draw
    other = getattr(WORKLOADS[name], peer)(begin)
    before = copy.deepcopy(other.parameters())
    updates = 6  # of mnist, four are an epoch
    ours.steps(updates)
    other.steps(updates)
    expected = ours.parameters()
    for key, value in other.parameters().items():
        assert not torch.equal(value, before[key]), "the peer does not move"
        torch.testing.assert_close(value, expected[key], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_workload_has_the_members_it_asks_for(name):
    workload = WORKLOADS[name]
    for count in workload.members[:2]:
        spec = _spec(name, count)
        ours = Ours(spec, data_of(spec)[0], CPU)
        assert len(ours.run.indices) == count


def _measured(name="mnist", **changes):
    return {
        "name": name,
        "dtype": "float64",
        "ours": {"1": 0.004, "4": 0.012, "16": 0.064},
        "careful": 0.003,
        "script": 0.05,
        "rounds": 5,
        "skipped": {"64": "needs about 99 GB, 9 GB are free"},
        "published_data": False,
        "published_size": True,
        "parameters": 232456,
        "peak_memory": {"members": 1, "bytes": 5_900_000_000},
        "floor": {
            "1": {"flops": 2e9, "bytes": 1e7, "operations": 80, "seconds": 0.002},
            "device": {"flops_per_second": 1e12, "bytes_per_second": 2e10},
        },
        "waits_for_host": None,
        "date": "2026-01-01",
    } | changes


def _found(*workloads, device="cpu"):
    return {
        "machine": {"processor": "some", "threads": 2},
        "versions": {"torch": "2"},
        "device": device,
        "quick": False,
        "workloads": list(workloads),
    }


def _verdicts(*workloads, device="cpu"):
    judged = report.targets(_found(*workloads, device=device))
    return {target["asked"].split(":")[0][:12]: target["met"] for target in judged}


def test_the_report_says_missed_where_a_target_is_missed():
    found = _found(_measured())
    text = report.page(found)
    assert "1 of 3 met" in text
    assert "0.75x | **missed** |" in text  # careful takes 3 ms, ours 4
    assert "16.7x | met |" in text  # script takes 50 ms, four of ours 3 each
    assert "1.33x from 4 to 16 members | **missed** |" in text
    assert "| ours, 64 members | skipped: needs about 99 GB, 9 GB are free |" in text
    assert "Random pixels" in text
    json.dumps(found | {"targets": report.targets(found)})


def test_a_workload_measured_alone_takes_its_own_place_among_the_others():
    earlier = _found(_measured("mnist"), _measured("isolated"), _measured("xor"))
    found = _found(_measured("isolated", date="2026-02-01"))
    dates = {
        each["name"]: each["date"] for each in report.beside_earlier(found, earlier)["workloads"]
    }
    # in the order of all workloads, as if they had been measured in one call
    assert list(dates) == [name for name in report.WORKLOADS if name in dates]
    assert dates == {"mnist": "2026-01-01", "xor": "2026-01-01", "isolated": "2026-02-01"}


@pytest.mark.parametrize("key", ["machine", "versions", "device", "quick"])
def test_results_of_another_machine_or_kind_are_not_kept(key):
    found = _found(_measured("isolated"))
    assert report.beside_earlier(found, _found(_measured()) | {key: "another"}) == found
    assert report.beside_earlier(found, {}) == found


def test_targets_turn_with_what_was_measured():
    slow = _measured("isolated", ours={"1": 0.004, "4": 0.0161})
    fast = _measured("isolated", ours={"1": 0.003, "4": 0.012})
    assert list(_verdicts(slow).values()) == [False, True]  # a rise within the noise
    assert list(_verdicts(fast).values()) == [True, True]
    assert _verdicts(_measured("xor"))["one member i"]
    large = {"members": 1, "bytes": 6_100_000_000}
    assert not _verdicts(_measured("xor", peak_memory=large))["one member i"]
    assert "one member i" not in _verdicts(_measured("xor", published_size=False))


def _on_gpu(*workloads):
    found = _found(*workloads, device="cuda")
    return {(each["workload"], each["asked"]): each for each in report.targets(found)}


CAREFUL = ("mnist", "16 members: 20x careful per member")
MANY = ("mnist", "a step of 64 members takes at most 4x that of one")
WAITS = ("mnist", "a step never waits for the host")
FLOOR = ("mnist", "a step of 1 beside the device's floor")


def test_the_targets_on_a_gpu_are_its_own():
    ours = {"1": 0.001, "16": 0.0016, "64": 0.0041}
    fast = _measured(ours=ours, waits_for_host=False, how="captured")
    judged = _on_gpu(fast)
    assert [judged[each]["met"] for each in (CAREFUL, MANY, WAITS)] == [True, False, True]
    assert judged[WAITS]["seen"] == "no wait, captured"
    assert judged[FLOOR] == {"workload": "mnist", "asked": FLOOR[1], "seen": "0.5x", "met": None}
    judged = _on_gpu(fast | {"careful": 0.0019, "waits_for_host": True})
    assert [judged[each]["met"] for each in (CAREFUL, MANY, WAITS)] == [False, False, False]


def test_a_page_says_of_a_gpu_not_measured_until_it_was():
    page = report.page(_found(_measured()))
    assert page.count("| not measured |  |") == len(report.gpu_section({})) - 6
    for asked in (CAREFUL, MANY, WAITS, FLOOR):
        assert f"| MNIST MLP, baseline | {asked[1]} | not measured |  |" in page
    fast = _measured(ours={"1": 0.001, "16": 0.0016}, waits_for_host=False, how="captured")
    gpu = _found(fast, device="cuda") | {"machine": {"GPU": "Pretended"}}
    page = report.page(_found(_measured()), gpu)
    assert "On Pretended;" in page
    assert f"| MNIST MLP, baseline | {CAREFUL[1]} | 30.0x | met |" in page
    assert f"| MNIST MLP, baseline | {MANY[1]} | not measured |  |" in page
    assert f"| MNIST MLP, GrokAlign | {CAREFUL[1]} | not measured |  |" in page


def test_operations_are_counted_where_they_start_one_by_one(monkeypatch):
    """A replay of a graph starts none, so the floor would be nothing."""
    monkeypatch.setattr(capture, "recorder", lambda device: Pretended())
    spec = _spec("isolated")
    ours = Ours(spec, data_of(spec)[0], CPU)
    ours.steps(1)
    ours.one_by_one()
    plain = floor.count(ours)["flops"]
    ours.steps(20)
    assert ours.run.groups[0].how == "captured"
    ours.one_by_one()
    assert ours.run.groups[0].how != "captured"
    assert floor.count(ours)["flops"] == plain > 0


class _Product:
    def __init__(self):
        self.left, self.right = torch.ones(3, 5), torch.ones(5, 7)

    def steps(self, count):
        for _ in range(count):
            (self.left @ self.right).T.relu()


def test_operations_are_counted_in_flops_and_bytes():
    counted = floor.count(_Product())
    assert counted["flops"] == 2 * 3 * 5 * 7
    assert counted["bytes"] == 4 * (3 * 5 + 5 * 7 + 3 * 7 + 2 * 3 * 7)
    assert counted["operations"] == 2
    assert floor.seconds(counted, {"flops_per_second": 21, "bytes_per_second": 452}) == 10
    assert floor.seconds(counted, {"flops_per_second": 2100, "bytes_per_second": 113}) == 4


def test_every_contender_is_timed_in_every_round():
    timed = timing.compare({"a": _Product(), "b": _Product()}, CPU, budget=0, block=1e-4)
    assert [len(samples.medians) for samples in timed.values()] == [2, 2]
    assert all(samples.best == min(samples.medians) > 0 for samples in timed.values())


@pytest.mark.parametrize(
    ("block", "keyword", "value", "one"),
    [
        ("optimizer", "lr", 0.5, True),
        ("task", "split_seed", 7, True),
        ("ensemble", "seed", [9], True),
        ("ensemble", "seed", [1, 2], False),
        ("model", "width", 13, False),
        ("train", "dtype", "float32", False),
    ],
)
def test_runs_that_differ_in_seeds_and_values_alone_are_timed_once(block, keyword, value, one):
    spec = _spec("addition_nuclear")
    other = spec | {block: spec[block] | {keyword: value}}
    assert other != spec
    assert (forecast.class_of(other) == forecast.class_of(spec)) == one


def test_the_hours_of_a_run_are_its_updates_times_the_time_of_one(monkeypatch):
    spec = _spec("addition_nuclear")
    runs = {"a": spec, "b": spec | {"train": spec["train"] | {"steps": 7200}}}
    monkeypatch.setattr(forecast, "_specs", lambda scale: {"one": runs, "other": {"a": spec}})
    monkeypatch.setattr(forecast, "seconds_per_step", lambda *given: 1.0)
    rows = forecast.forecast("paper", CPU, 1.0).set_index("paper")
    own = spec["train"]["steps"] / 3600
    assert rows.loc["one", "hours"] == pytest.approx(own + 2, abs=0.01)
    assert rows.loc["all", ["runs", "left_out"]].to_list() == [2, 0]
    assert rows.loc["all", "hours"] == rows.loc["one", "hours"]


def test_a_loop_that_takes_no_time_is_never_asked_for_more_updates_than_its_run_has(monkeypatch):
    asked = []
    monkeypatch.setattr(forecast, "Ours", lambda *given: SimpleNamespace(steps=asked.append))
    monkeypatch.setattr(forecast.dataset, "make", lambda tasks: None)
    spec = _spec("addition_nuclear")
    forecast.seconds_per_step(spec, CPU, 0.01)
    assert max(asked) == spec["train"]["steps"]
