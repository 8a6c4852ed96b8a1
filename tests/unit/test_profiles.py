"""The profile of one machine, as Snakemake reads it; which rules a cluster gets."""

import re
from pathlib import Path

import pytest

from tests.checkout import ROOT

PROFILE = ROOT / "profiles/workstation/config.yaml"


@pytest.mark.parametrize(("gpus", "limits"), [(4, ["gpu=4"]), (0, None)])
def test_a_workstation_runs_as_many_gpu_jobs_as_it_has_gpus(monkeypatch, gpus, limits):
    from snakemake.profiles import ProfileConfigFileParser

    devices = [Path(f"/dev/nvidia{k}") for k in range(gpus)]
    monkeypatch.setattr(Path, "glob", lambda self, pattern: devices if str(self) == "/dev" else [])
    with PROFILE.open(encoding="utf-8") as stream:
        read = ProfileConfigFileParser().parse(stream)
    assert read.get("resources") == limits
    assert read["cores"] == "all"
    assert read["logger"] == ["grokatlas"]
    assert not [key for key in read if key.startswith(("_", "?"))]


def test_a_cluster_gets_data_sets_training_and_measures_alone():
    submitted = set()
    for file in (ROOT / "workflow/rules").glob("*.smk"):
        _, *rules = re.split(r"^(?=rule |use rule )", file.read_text(encoding="utf-8"), flags=re.M)
        for text in rules:
            name = re.match(r"rule (\w+):|use rule \w+ as (\w+)", text)
            if "    localrule: " not in text:
                submitted |= set(filter(None, name.groups()))
    assert submitted == {"dataset", "train", "measure"}
