"""A script as a run: the tutorial."""

import pandas as pd
import pytest

from tests.workflow.conftest import ROOT
from tests.workflow.pages import Reader

pytestmark = pytest.mark.workflow


def test_a_reader_of_the_tutorial_draws_a_script_beside_the_engine(tmp_path):
    (tmp_path / "here").mkdir()
    Reader(tmp_path / "here").follow(ROOT / "docs" / "tutorials" / "script.md")
    study = tmp_path / "loop-study"
    assert (study / "results/quick/figures/loop/both.png").exists()
    tables = [
        pd.read_parquet(study / f"results/quick/tables/loop/{n}.parquet")
        for n in ("engine", "theirs")
    ]
    for column in ("member", "step", "test_accuracy"):  # what went out came in
        out, back = (table[column].astype("float32").tolist() for table in tables)
        assert out == back
