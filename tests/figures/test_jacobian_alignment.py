"""Figures of `jacobian_alignment`: its own layouts, and runs that it shares with `grokalign`."""

from pathlib import Path

import pandas as pd
import pytest

from grokatlas.declare import cells
from grokatlas.declare.models import load_papers
from grokatlas.papers.grokalign import fig2 as rank_one
from grokatlas.papers.grokalign import fig3 as kernel
from grokatlas.papers.jacobian_alignment import fig2, fig7, fig8, fig9
from tests.figures.test_grokalign import DIGITS, history, transformers

ROOT = Path(__file__).parents[2]
OWN = {"xor": {"grokalign"}, "delayed_robustness": {"weight_decay", "grokalign"}}
OWN["delayed_robustness_as_published"] = OWN["delayed_robustness"]


@pytest.fixture(scope="module")
def papers():
    return load_papers(ROOT / "config" / "papers", ["grokalign", "jacobian_alignment"])


def _specs(papers, name, experiment):
    found = cells.resolve(name, papers[name], experiment, "paper")
    return {cell.case: cell.spec for cell in found}


def test_equal_experiments_are_the_same_runs_and_only_the_documents_own_differ(papers):
    for experiment in papers["jacobian_alignment"].experiments:
        here = _specs(papers, "jacobian_alignment", experiment)
        there = _specs(papers, "grokalign", experiment)
        differing = {case for case, spec in here.items() if spec != there[case]}
        assert differing == OWN.get(experiment, set()), experiment


def test_its_own_weight_and_network_are_those_of_its_text(papers):
    xor = _specs(papers, "jacobian_alignment", "xor")["grokalign"]
    assert xor["ensemble"]["penalties.0.weight"] == [1e-3]
    convolutions = _specs(papers, "jacobian_alignment", "delayed_robustness")["grokalign"]["model"]
    assert len(convolutions["channels"]) == len(convolutions["strides"]) == 5


def test_transformers_stand_in_two_rows_and_their_gini_side_by_side():
    tables, cases = transformers(fig7.ROWS)
    labels = ["accuracy", "alignment of centroids"] * 2
    assert [axes.get_ylabel() for axes in fig7.draw(tables)[0].axes] == labels
    figure, drawn = fig8.draw(tables)
    assert [axes.get_ylabel() for axes in figure.axes] == ["Gini coefficient"] * 2
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert [title.partition(" ")[0] for title in titles] == ["learned", "fixed"]
    assert set(drawn["case"]) == set(cases)


def test_shared_figures_are_those_of_grokalign():
    names = ["ce_baseline", "ce_grokalign", "mse_baseline", "mse_grokalign"]
    table = history(names, {"jacobian_pc1": lambda c, s, k: names.index(c) / 10}, **DIGITS)
    tables = {"common_budget": table}
    pd.testing.assert_frame_equal(fig9.draw(tables)[1], rank_one.draw(tables)[1])
    columns = dict.fromkeys(
        ("ntk_mean", "probe_inner_product", "probe_alignment", "probe_norm"),
        lambda c, s, k: float(k),
    )
    tables = {"kernel": history(["none"], columns, **DIGITS)}
    pd.testing.assert_frame_equal(fig2.draw(tables)[1], kernel.draw(tables)[1])
