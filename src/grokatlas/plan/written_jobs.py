"""The plan of a Snakemake that is running, as a job's own Snakemake reads it: from job files alone.

The configuration may change, or be half edited, while jobs wait in a queue. So a job asks nothing
of it: what it needs was written when the plan was made.
"""

import os
from pathlib import Path
from typing import Any

from grokatlas.declare.settings import load_settings
from grokatlas.plan import project
from grokatlas.plan.jobs import KINDS, Job
from grokatlas.results import files as store
from grokatlas.results import layout

# groups whose key is one name
NAMED = {
    "datasets": layout.data_folder,
    "runs": layout.run_folder,
    "claims": layout.claims_stem,
    "atlas": layout.atlas_folder,
}


class WrittenJobs:
    """Answers like `plan.Project`, for jobs that were planned before; writes nothing.

    Args:
        folder: the configuration, read only where the environment does not name a device: the
            Snakemake that made the plan passes its own on.
        overrides: keys of ``config.yaml`` that the command line sets.
    """

    def __init__(self, folder: Path, overrides: dict[str, Any]) -> None:
        self.captions: dict[str, dict[str, str]] = {}
        self.local_rules: tuple[str, ...] = ()  # a job's own Snakemake submits nothing
        if project.DEVICE in os.environ:
            project.use_this_code()
        else:
            settings = load_settings(folder / "config.yaml", overrides)
            project.tell_jobs(settings, dict.fromkeys(overrides, "--config"), main=False)
        self.device = os.environ[project.DEVICE]

    def job(self, group: str, key: Any, scale: str | None = None) -> tuple[Job, None]:
        """A job, with all that it depends on."""
        return read_job(KINDS[group], _target(group, key, scale)), None

    def job_file(
        self, group: str, key: Any, scale: str | None = None, runs: bool = True
    ) -> tuple[Path, bool]:
        """A job's file; it counts as up to date, as the running plan decides what is made."""
        del runs
        return layout.spec_path(KINDS[group], _target(group, key, scale)), True

    def inputs(
        self, group: str, key: Any, scale: str | None = None, runs: bool = True
    ) -> list[tuple[Path, bool]]:
        """Every file that a job reads; the running plan made sure that they are up to date."""
        del runs
        job, _ = self.job(group, key, scale)
        without_data = job.kind == "run" and job.manifest.exists()  # one that was made elsewhere
        files = job.files_read
        return [(file, True) for file in files if file.exists() or not without_data]


def read_job(kind: str, target: Path) -> Job:
    """A job and all that it depends on, from their job files."""
    content = store.read_sealed(layout.spec_path(kind, target))
    inputs = [Path(each) for each in content["inputs"]]
    jobs = tuple(read_job(layout.kind_of(each), each) for each in inputs)
    return Job(kind, target, content["spec"], content["code"], jobs)


def _target(group: str, key: Any, scale: str | None) -> Path:
    if group in ("tables", "figures"):
        stem = layout.table_stem if group == "tables" else layout.figure_stem
        return stem(scale or "", *key)
    return layout.measure_stem(*key) if group == "measures" else NAMED[group](key)
