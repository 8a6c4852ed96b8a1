"""Scripts and logs as runs: the tutorial, and the study of other people's runs."""

import shutil
import subprocess
import sys

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


def test_statements_on_the_runs_of_others_are_judged(tmp_path):
    study = tmp_path / "norm_cap"
    made = shutil.ignore_patterns("results", ".snakemake", "__pycache__")
    shutil.copytree(ROOT / "studies" / "norm_cap", study, ignore=made)

    def run(*words):
        return subprocess.run(words, cwd=study, capture_output=True, text=True, check=False)

    done = run(sys.executable, "-m", "snakemake", "--cores", "1", "--config", "scale=paper")
    assert done.returncode == 0, done.stderr
    claims = pd.read_csv(study / "results/paper/claims.csv")
    assert claims["verdict"].tolist() == ["reproduced", "reproduced"]
    assert claims["reason"].str.contains("imported: s5").all()
    page = (study / "results/paper/atlas/paper-norm_cap.html").read_text(encoding="utf-8")
    assert "imported from https://github.com/PeterPonyu/muon-norm-cap-grokking" in page
    verify = [sys.executable, "-m", "grokatlas", "verify"]
    assert run(*verify).returncode == 0
    log = study / "logs/s5_normctl.csv"
    log.write_text(log.read_text(encoding="utf-8").replace("0.66389", "0.66388"), encoding="utf-8")
    done = run(*verify)
    assert done.returncode != 0
    assert "logs/s5_normctl.csv is modified" in done.stdout
