"""The profile of one machine, as Snakemake reads it."""

from pathlib import Path

import pytest

PROFILE = Path(__file__).parents[2] / "profiles/workstation/config.yaml"


@pytest.mark.parametrize(("gpus", "limits"), [(4, ["gpu=4"]), (0, None)])
def test_a_workstation_runs_as_many_gpu_jobs_as_it_has_gpus(monkeypatch, gpus, limits):
    from snakemake.profiles import ProfileConfigFileParser

    devices = [Path(f"/dev/nvidia{k}") for k in range(gpus)]
    monkeypatch.setattr(Path, "glob", lambda self, pattern: devices if str(self) == "/dev" else [])
    with PROFILE.open(encoding="utf-8") as stream:
        read = ProfileConfigFileParser().parse(stream)
    assert read.get("resources") == limits
    assert read["cores"] == "all"
    assert not [key for key in read if key.startswith(("_", "?"))]
