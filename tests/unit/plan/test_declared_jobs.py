"""The jobs of one paper and scale are those that the whole plan has."""

import pytest

from grokatlas.plan import declared_jobs
from grokatlas.plan.jobs import with_ancestors
from tests.checkout import ROOT


@pytest.mark.parametrize(
    ("target", "kinds"),
    [
        ("results/quick/figures/geometry/fig1", {"dataset", "run", "table", "figure"}),
        ("results/quick/figures/plates/theories", {"dataset", "run", "table", "figure"}),
        ("results/quick/tables/geometry/two_weights", {"dataset", "run", "table"}),
    ],
    ids=["figure", "figure with tables of other papers", "table"],
)
def test_a_figure_or_table_is_judged_by_what_is_behind_it_alone(monkeypatch, target, kinds):
    monkeypatch.chdir(ROOT)
    some = declared_jobs.behind([target], [target])
    monkeypatch.setattr(declared_jobs, "of_paper", lambda *_: {})
    every = declared_jobs.behind([target], [target])
    behind = {job.target.as_posix() for job in with_ancestors([some[target]])}
    assert behind <= some.keys()
    assert len(some) < len(every) / 2
    assert {job.kind for job in some.values() if job.kind != "measure"} == kinds
    assert {name: job.digests for name, job in some.items()} == {
        name: every[name].digests for name in some
    }


def test_a_result_that_they_have_not_is_looked_for_in_all(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(declared_jobs, "jobs", lambda **_: {"all": None})
    figure = "results/quick/figures/geometry/fig1"
    assert declared_jobs.behind([figure], [figure, "results/runs/0123456789ab"]) == {"all": None}
    assert declared_jobs.behind(["results/runs/0123456789ab"], []) == {"all": None}
    assert figure in declared_jobs.behind([figure], [figure])
