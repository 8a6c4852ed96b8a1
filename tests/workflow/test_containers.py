"""Jobs in a container: every command of a rule goes through Apptainer, under a pretended one."""

import os
from pathlib import Path

import pytest

from tests.checkout import program
from tests.workflow.conftest import copy_checkout

pytestmark = pytest.mark.workflow

# notes its call and runs the command outside of an image: the last three arguments, `bash -c TEXT`
APPTAINER = """#!/bin/bash
if [ "$1" = --version ]; then echo "apptainer version 1.3.0"; exit; fi
echo "$@" >> "$NOTED"
exec "${@: -3}"
"""
FIGURE = "results/smoke/figures/geometry/fig1.csv"


def variables(folder: Path) -> dict[str, str]:
    """An environment whose first `apptainer` is the pretended one."""
    apptainer = program(folder / "bin" / "apptainer", APPTAINER)
    path = f"{apptainer.parent}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "NOTED": str(folder / "noted")}


def test_every_job_runs_in_the_image_that_is_configured(tmp_path):
    checkout, env = copy_checkout(tmp_path / "atlas"), variables(tmp_path)
    refused = checkout.call("-n", FIGURE, "--config", "scale=smoke", "container=no.sif", env=env)
    file = checkout.folder / "no.sif"
    assert refused.returncode == 1
    assert f"--config: container: no file {file}; build it" in refused.stderr

    (checkout.folder / "own.sif").touch()
    chosen = ["--sdm", "apptainer", "--config", "scale=smoke", "container=own.sif"]
    made = checkout.call("--cores", "1", FIGURE, *chosen, env=env)
    assert made.returncode == 0, made.stderr
    calls = (tmp_path / "noted").read_text().splitlines()
    image = str(checkout.folder / "own.sif")
    assert all(image in call for call in calls)
    for command in ("dataset", "train", "table", "figure"):
        assert any(f"python -m grokatlas {command} " in call for call in calls), command
