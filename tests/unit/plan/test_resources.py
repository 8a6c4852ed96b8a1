"""What runs at paper scale ask for against what they took, by the manifests of finished ones."""

import pytest

from grokatlas.plan import resources
from tests.checkout import declared_plan

# minutes of one core that an experiment's longest run took, and the megabytes of its process where
# they are known (0: the minutes are those of the README)
RECORDED = {
    ("geometry", "isolated_dynamics"): (6, 0),
    ("beyond_l2", "modular_addition"): (26, 0),
    ("beyond_l2", "matrix_recovery"): (3.8, 594),
    ("beyond_l2", "matrix_scaling"): (18.4, 659),
    ("two_timescales", "matrix_completion"): (8.8, 406),
    ("two_timescales", "diagonal_network"): (12.3, 403),
}


@pytest.fixture(scope="module")
def plan():
    return declared_plan("paper")


@pytest.mark.parametrize(("paper", "experiment"), RECORDED)
def test_the_longest_run_of_an_experiment_fits_into_what_it_asks_for(paper, experiment, plan):
    minutes, megabytes = RECORDED[paper, experiment]
    runs = [job for job in plan.tables[paper, experiment].inputs if job.kind == "run"]
    asked = max((resources.of_job(run) for run in runs), key=lambda found: found.runtime)
    assert 2 * minutes <= asked.runtime <= 30 * minutes
    assert 2 * megabytes <= asked.mem_mb


def test_a_measure_asks_by_its_run(plan):
    job = next(iter(plan.measures.values()))
    asked = resources.of_job(job)
    assert asked == resources.of_measure(job.inputs[0].spec, job.spec["measure"]["name"])
    assert asked.gpu == 0


def test_nothing_asks_for_a_gpu_where_the_device_is_the_cpu(plan):
    asked = {
        device: [resources.of_job(run, device) for run in plan.runs.values()]
        for device in ("auto", "cpu", "cuda")
    }
    assert {found.gpu for found in asked["auto"]} == {0, 1}
    assert asked["cuda"] == asked["auto"]
    assert {found.gpu for found in asked["cpu"]} == {0}
    assert [found.runtime for found in asked["cpu"]] == [found.runtime for found in asked["auto"]]


def test_a_run_in_a_span_asks_for_its_samples_and_weights_in_all_coordinates(plan):
    """At least five copies in float64, and far less than training there would."""
    (spec,) = {
        job.target: job.spec
        for job in plan.tables["grokalign", "xor"].inputs
        if job.kind == "run" and "penalties" not in job.spec
    }.values()
    moved = 8 * 5 * 40_000 * (400 + 400 + 2048) / 1e6
    single = spec | {"ensemble": {"seed": [0]}}
    everywhere = {key: value for key, value in spec["train"].items() if key != "coordinates"}
    asked, plain = (resources.of_run(s) for s in (single, single | {"train": everywhere}))
    assert moved < asked.mem_mb - 4000 < 1.2 * moved
    assert asked.runtime < plain.runtime / 5
    small = single | {"task": spec["task"] | {"features": 2848}}
    assert resources.of_run(small) == resources.of_run(small | {"train": everywhere})
