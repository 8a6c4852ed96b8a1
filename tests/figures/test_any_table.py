"""Every declared figure is drawn from any table that the schema allows; a new one is found here."""

import importlib

import pandas as pd
import pytest
from matplotlib.layout_engine import ConstrainedLayoutEngine

from grokatlas.claims import controls, divergence, judging
from grokatlas.claims.published import asked_for
from grokatlas.claims.verdicts import NOT_RUN
from grokatlas.declare import versions
from grokatlas.plots import defaults, panels
from tests.checkout import declared_papers
from tests.figures import smoke_tables
from tests.tiers import exhaustive

FIGURES = smoke_tables.figures()


def _cases(named, step, changes):
    """Each with each change; with `make test` one in `step`, each time with the next change."""
    made = []
    for index, (name, case) in enumerate(named):
        chosen = changes[index // step % len(changes)] if index % step == 0 else None
        for change in changes:
            marks = () if change == chosen else exhaustive
            made.append(pytest.param(*case, change, id=f"{name}-{change}", marks=marks))
    return made


DRAWN = [name for name in smoke_tables.CHANGES if not name.endswith("infinite")]


@pytest.mark.parametrize(
    ("paper", "figure", "change"), _cases([("/".join(each), each) for each in FIGURES], 10, DRAWN)
)
def test_a_figure_is_drawn_from_any_table(paper, figure, change, monkeypatch):
    spec = smoke_tables.spec(paper, figure)
    module = importlib.import_module(spec["module"])
    for number, tables in enumerate(smoke_tables.changed(paper, figure, change, monkeypatch)):
        if number:  # places are computed for the first, as that takes most of the time
            monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda *_: None)
        lost = divergence.note(tables.values())
        assert bool(lost) == change.endswith("NaN")
        tables = {name: divergence.finite(table) for name, table in tables.items()}
        if hasattr(module, "tabulate"):
            shown, data = module.tabulate(
                tables, **asked_for(module.tabulate, spec["published"], [])
            )
            assert not shown.empty
        else:
            with defaults.drawing():
                given = asked_for(module.draw, spec["published"], spec["digitised_points"])
                made, data = module.draw(tables, **given)
                panels.finish(made, lost)
                made.draw_without_rendering()
        assert isinstance(data, pd.DataFrame)


@pytest.mark.parametrize(
    ("paper", "figure", "who"),
    _cases([("/".join(each), each) for each in FIGURES], 10, ["a member is", "all are"]),
)
def test_a_figure_gets_infinite_numbers_as_missing_ones(paper, figure, who, monkeypatch):
    (missing,) = smoke_tables.changed(paper, figure, f"{who} NaN", monkeypatch)
    lost = divergence.note(missing.values())
    (infinite,) = smoke_tables.changed(paper, figure, f"{who} infinite", monkeypatch)
    assert divergence.note(infinite.values()) == lost
    for name, table in infinite.items():
        assert not table.equals(missing[name])
        assert divergence.finite(table).equals(divergence.finite(missing[name])), name


CLAIMS = smoke_tables.claims()


@pytest.mark.parametrize(
    ("paper", "figure", "change"),
    _cases(
        [("/".join(each), each) for each in dict.fromkeys((p, c.figure) for p, c in CLAIMS)],
        10,
        list(smoke_tables.CHANGES),
    ),
)
def test_claims_on_any_table_have_a_verdict_and_on_diverged_members_no_number(
    paper, figure, change, monkeypatch
):
    claims = [claim for p, claim in CLAIMS if (p, claim.figure) == (paper, figure)]
    for tables in smoke_tables.changed(paper, figure, change, monkeypatch):
        for claim in claims:
            declared = versions.declared_claim(declared_papers(), paper, claim)
            read = {name: tables[name] for name in claim.read(tables)}
            row = judging.row(paper, declared, read, claim.scales[0])
            row = controls.checked(paper, declared, row, read, under={})
            if change in ("all are NaN", "all are infinite"):
                assert row["verdict"] == NOT_RUN, claim.id
                assert "diverged" in row["reason"], claim.id
