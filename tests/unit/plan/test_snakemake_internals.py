"""What `snakemake_internals` reads is there in the installed Snakemake."""

import os
import sys
from types import SimpleNamespace

import pytest

from grokatlas.plan import snakemake_internals
from tests import cases
from tests.checkout import called

TEXTS = cases.texts(__file__)


@pytest.mark.parametrize("asked", [["-n"], ["--cores", "1"]])
def test_the_installed_snakemake_has_what_is_read(tmp_path, asked):
    (tmp_path / "Snakefile").write_text(TEXTS["snakefile"])
    (tmp_path / "own.yaml").write_text("a: 1\n")
    command = [sys.executable, "-m", "snakemake", *asked, "--config", "beta=2"]
    plain = {k: v for k, v in os.environ.items() if k != "SNAKEMAKE_PROFILE"}
    done = called(*command, "--configfile", "own.yaml", cwd=tmp_path, env=plain)
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if line.split(" ")[0] in WORDS]
    runs = asked != ["-n"]
    assert said[0] == "main True None"
    assert "own.yaml" in said[1]
    assert said[1].endswith("{'beta': 2}")
    assert f"runs {runs} True" in said
    assert ("limiter None" in said) is runs


WORDS = ("main", "config", "runs", "limiter")


@pytest.mark.parametrize(
    ("facts", "runs"),
    [
        ({"executor_plugin": object(), "dryrun": False, "touch": False}, True),
        ({"executor_plugin": object(), "dryrun": True, "touch": False}, False),
        ({"executor_plugin": object(), "dryrun": False, "touch": True}, False),
        ({"executor_plugin": None, "dryrun": False, "touch": False}, False),
    ],
)
def test_jobs_run_unless_something_else_was_asked_for(facts, runs):
    assert snakemake_internals.runs_jobs(SimpleNamespace(**facts)) is runs
