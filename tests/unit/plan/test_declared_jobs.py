"""The jobs of one paper and scale are those that the whole plan has."""

from pathlib import Path

from grokatlas.plan import declared_jobs

ROOT = Path(__file__).parents[3]


def test_a_figure_is_judged_by_its_paper_and_scale_alone(monkeypatch):
    monkeypatch.chdir(ROOT)
    (figure,) = ["results/quick/figures/geometry/fig1"]
    some = declared_jobs.behind([figure], [figure])
    monkeypatch.setattr(declared_jobs, "of_paper", lambda *_: {})
    every = declared_jobs.behind([figure], [figure])
    assert len(some) < len(every)
    assert {target: job.digest for target, job in some.items()} == {
        target: every[target].digest for target in some
    }


def test_a_result_that_they_have_not_is_looked_for_in_all(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(declared_jobs, "jobs", lambda **_: {"all": None})
    figure = "results/quick/figures/geometry/fig1"
    assert declared_jobs.behind([figure], [figure, "results/runs/0123456789ab"]) == {"all": None}
    assert declared_jobs.behind(["results/runs/0123456789ab"], []) == {"all": None}
    assert figure in declared_jobs.behind([figure], [figure])
