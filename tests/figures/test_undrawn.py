"""A figure names the cases of its tables that it does not show; in a study that is an error."""

import sys
from types import ModuleType

import pandas as pd
import pytest
from matplotlib.figure import Figure

from grokatlas.errors import UserError
from grokatlas.results import layout
from grokatlas.rules import rendering, undrawn
from tests.checkout import declared_papers, declared_plan
from tests.figures import smoke_tables
from tests.figures.test_any_table import _cases

CASES = ("adam", "sgd", "own")
# what is left out at this scale alone: a step size that is not run there, and times and thresholds
# that runs of a few steps do not come to
AT_SMOKE_SCALE = {
    "beyond_l2/mlp_nuclear": "nuclear_batches",
    "plates/adam_memory": "adam_memory_long/l2, adam_memory_weights_long",
    "plates/theories": "addition_theories/ridge",
}
SPEC = {"paper": "toy", "figure": "fig1", "scale": "quick", "published": {}, "digitised_points": []}


def table(*cases: str, loss: float = 1.0) -> pd.DataFrame:
    """Two logged rows of each case; no two rows are alike."""
    rows = [
        {"record": "history", "case": case, "run": f"run {case}", "member": 0, "seed": 0}
        | {"step": step, "train_loss": loss + step + 10 * number}
        for number, case in enumerate(cases)
        for step in (0, 1)
    ]
    return pd.DataFrame(rows)


def by_name(tables):
    """The cases that a figure was written for, with their names."""
    rows = tables["rates"]
    return rows[rows["case"].isin(["adam", "sgd"])][["case", "step", "train_loss"]]


def renamed(tables):
    """The same cases by names that no table has."""
    curves = [(name, tables["rates"].query(f"case == '{name}'")) for name in ("adam", "sgd")]
    parts = [rows[["step", "train_loss"]].assign(series=f"by {name}") for name, rows in curves]
    return pd.concat(parts)


def ratio(tables):
    """One number of two cases; it cannot be computed of less."""
    last = {case: part["train_loss"].iloc[-1] for case, part in tables["rates"].groupby("case")}
    return pd.DataFrame({"ratio": [last["adam"] / last["sgd"]]})


@pytest.mark.parametrize("data_of", [by_name, renamed, ratio])
@pytest.mark.parametrize("cases", [CASES, CASES[:2]])
def test_a_case_that_a_figure_does_not_know_is_found_whatever_its_data_look_like(data_of, cases):
    tables = {"rates": table(*cases)}
    assert undrawn.cases(data_of, tables, data_of(tables)) == [*cases[2:]]


def test_a_figure_whose_data_name_each_case_is_drawn_once():
    tables = {"rates": table(*CASES)}
    assert undrawn.cases(lambda _: pytest.fail("drawn again"), tables, tables["rates"]) == []


def test_cases_of_two_experiments_that_share_a_name_are_told_apart():
    tables = {"rates": table("adam"), "widths": table("adam", "sgd", loss=3.0)}
    assert undrawn.cases(lambda some: some["rates"], tables, tables["rates"]) == [
        *("widths/adam", "widths/sgd"),
    ]
    both = pd.concat(tables.values())
    assert undrawn.cases(lambda some: pd.concat(some.values()), tables, both) == []


def test_an_experiment_without_cases_is_called_by_its_own_name():
    tables = {"rates": table(""), "widths": table("", loss=3.0)}
    data = tables["rates"][["step", "train_loss"]]
    shown = undrawn.cases(lambda some: some["rates"][["step", "train_loss"]], tables, data)
    assert shown == ["widths"]


def test_a_case_whose_members_all_diverged_is_not_left_out():
    tables = {"rates": table(*CASES)}
    last = tables["rates"].query("case == 'own' and step == 1").index
    tables["rates"].loc[last, "train_loss"] = float("nan")
    assert undrawn.cases(by_name, tables, by_name(tables)) == []


def reached(tables):
    """The time of each case that has one; of `own` nothing."""
    rows = tables["rates"].query("case != 'own'")
    return rows.dropna(subset="t2")[["t2"]]


def test_a_case_whose_number_is_missing_is_not_left_out():
    rows = table(*CASES).assign(record="times", t2=[4.0, 5.0, None, None, 6.0, 7.0])
    tables = {"rates": rows}
    assert undrawn.cases(reached, tables, reached(tables)) == ["own"]
    tables = {"rates": rows.assign(t2=float("nan"))}
    assert undrawn.cases(reached, tables, reached(tables)) == []  # nothing is drawn at all


@pytest.fixture
def figure(monkeypatch):
    """A figure's job file, whose module draws two cases."""

    def draw(tables):
        made = Figure()
        made.subplots().plot(tables["rates"]["train_loss"])
        return made, renamed(tables)

    module = ModuleType("grokatlas.papers.toy.fig1")
    module.draw = draw
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return SPEC | {"module": module.__name__}


def test_a_case_of_ones_own_that_a_study_trains_and_does_not_draw_is_an_error(figure, here):
    (here / "study.yaml").write_text('grokatlas: ">=0"\n')
    files = layout.outputs("figure", here / "fig1")
    told = r"^figure toy/fig1: does not show own, which its tables have; draw it, or write undrawn:"
    with pytest.raises(UserError, match=told):
        rendering.render(figure, {"rates": table(*CASES)}, files, "digest d")
    assert not any(file.exists() for file in files)
    rendering.render(figure | {"undrawn": ["own"]}, {"rates": table(*CASES)}, files, "digest d")
    rendering.render(figure, {"rates": table(*CASES[:2])}, files, "digest d")


def test_here_it_is_noted_at_the_figures_lower_left(figure, here):
    tables = {"rates": table(*CASES)}
    *_, note = rendering.made(figure, tables)
    assert note.endswith("quick scale  ·  not drawn: own")
    *_, silent = rendering.made(figure | {"undrawn": ["own"]}, tables)
    assert silent == note.removesuffix("  ·  not drawn: own")
    *_, alike = rendering.made(figure, {"rates": table(*CASES[:2])})
    assert alike == silent


@pytest.mark.parametrize(
    ("paper", "name", "_"),
    _cases([("/".join(each), each) for each in smoke_tables.figures()], 10, ["as declared"]),
)
def test_every_figure_declares_what_it_leaves_out(paper, name, _):
    *_, note = rendering.made(smoke_tables.spec(paper, name), smoke_tables.of_figure(paper, name))
    assert note.partition("not drawn: ")[2] == AT_SMOKE_SCALE.get(f"{paper}/{name}", "")


def test_what_is_declared_is_in_the_job_of_that_figure_alone():
    figures = declared_plan("quick").figures
    declared = {
        (paper, name): entry.undrawn
        for paper, each in declared_papers().items()
        for name, entry in each.figures.items()
        if entry.undrawn
    }
    assert {key: job.spec["undrawn"] for key, job in figures.items() if "undrawn" in job.spec} == (
        declared
    )
    assert declared["beyond_l2", "fig1"] == ["blog", "notebook"]
