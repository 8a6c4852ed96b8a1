"""The configuration of a checkout as Snakemake asks for it: files of jobs, and which of them fit.

Nothing here imports torch, pandas or matplotlib: every cluster job parses the Snakefile.
"""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grokatlas import declarations, results_folder, run_store
from grokatlas.components import PACKAGE
from grokatlas.config import SCALES, Paper, Settings, home_expanded, load_papers, load_settings
from grokatlas.errors import UserError, nearest
from grokatlas.job_graph import Job, Plan, light_measures, make_plan, upstream, write_job_files

# glibc keeps freed memory for a step's next results up to these sizes, instead of taking new memory
# that the system clears each time; the first may be no larger before glibc 2.35 (elsewhere ignored)
KEPT_MEMORY = {"MALLOC_MMAP_THRESHOLD_": 32 * 1024**2, "MALLOC_TRIM_THRESHOLD_": 512 * 1024**2}


class Project:
    """The plans of a configuration folder, made when asked for.

    Args:
        folder: the folder of ``config.yaml`` and ``papers/``.
        overrides: keys of ``config.yaml`` that the command line sets.
        warn: called with each one-line warning.
    """

    def __init__(
        self, folder: Path, overrides: dict[str, Any], warn: Callable[[str], None] | None = None
    ) -> None:
        self.settings: Settings = load_settings(folder / "config.yaml", overrides)
        place = "--config: papers" if "papers" in overrides else "config.yaml: papers"
        self.papers: dict[str, Paper] = load_papers(folder / "papers", self.settings.papers, place)
        self._overridden = {*overrides}
        self._plans: dict[str, Plan] = {}
        self._store: Path | None = None  # looked up for missing runs
        self._sought: set[Path] = set()  # runs that were looked up in it
        declarations.check(self.papers)
        for text in declarations.unused_experiments(self.papers):
            (warn or _to_stderr)(f"warning: {text}")

    def at(self, scale: str) -> Plan:
        """The plan of one scale, with its job files written.

        Raises:
            UserError: for a mistake in the configuration.
        """
        if scale not in self._plans:
            self._plans[scale] = make_plan(self.papers, scale)
            write_job_files(self._plans[scale])
        return self._plans[scale]

    def prepare_jobs(self, main: bool = True) -> None:
        """Let jobs run this code, with the Python that runs Snakemake, on the chosen device.

        Args:
            main: whether this process decides what runs, so that it looks into the run store, and
                makes the links of ``results``; a job's own Snakemake does not.

        Raises:
            UserError: a folder that the configuration names is not there or cannot be used.
        """
        for variable, first in (("PATH", Path(sys.executable)), ("PYTHONPATH", PACKAGE)):
            entries = [str(first.parent), os.environ.get(variable)]
            os.environ[variable] = os.pathsep.join(filter(None, entries))
        for variable, size in KEPT_MEMORY.items():
            os.environ.setdefault(variable, str(size))
        os.environ["GROKATLAS_DEVICE"] = self.settings.device
        self._tell_jobs("GROKATLAS_DATA", "data_dir", needed=True)
        self._tell_jobs(run_store.VARIABLE, "run_store", needed=main)
        self._store = run_store.chosen() if main else None
        if main:
            results_folder.link(self.settings.results, self._place("results"))

    def _tell_jobs(self, variable: str, key: str, needed: bool) -> None:
        """Put a folder of the settings, if it is set, into the environment."""
        value = getattr(self.settings, key)
        if value is None:
            return
        folder = home_expanded(value).resolve()
        if needed and not folder.is_dir():
            raise UserError(self._place(key), f"no folder {folder}; make it or use null")
        os.environ[variable] = str(folder)

    def _place(self, key: str) -> str:
        """Where a setting was read, for errors."""
        return f"{'--config' if key in self._overridden else 'config.yaml'}: {key}"

    def final_files(self, scale: str) -> list[Path]:
        """What is made at a scale in the end: every figure's files, the claims, the atlas."""
        plan = self.at(scale)
        groups = (plan.figures, plan.claims, plan.atlas)
        return [file for group in groups for job in group.values() for file in job.outputs]

    @property
    def captions(self) -> dict[str, dict[str, str]]:
        """Every figure's caption by paper, as reStructuredText."""
        return {
            name: {key: _plain(entry.caption) for key, entry in paper.figures.items()}
            for name, paper in self.papers.items()
        }

    def inputs(self, group: str, key: Any, scale: str | None = None) -> list[tuple[Path, bool]]:
        """Every file of every job that a job reads, and whether that file fits the plan.

        Args:
            group: of a `Plan`, such as ``runs``, ``tables`` or ``figures``.
            key: the job's key in that group of a `Plan`.
            scale: the scale of its plan; where a path names none, the configured scale is searched
                first, then the others.

        Raises:
            UserError: nothing of that name is declared.
        """
        job, plan = self.job(group, key, scale)
        self._bring_in(plan, job)
        return plan.inputs(job)

    def job(self, group: str, key: Any, scale: str | None = None) -> tuple[Job, Plan]:
        """A job, and the plan it stands in; arguments and errors as for `inputs`."""
        first = [self.settings.scale]
        for each in [scale] if scale else first + [s for s in SCALES if s not in first]:
            jobs: dict[Any, Job] = getattr(self.at(each), group)
            if key in jobs:
                return jobs[key], self.at(each)
        known = [name if isinstance(name, str) else "/".join(name) for name in jobs]
        wanted = key if isinstance(key, str) else "/".join(key)
        if group == "measures" and key[1].partition("-")[0] in light_measures():
            raise UserError(f"{group}: {wanted}", "is computed with its table; ask for that table")
        raise UserError(f"{group}: {wanted}", f"not declared in config; {nearest(wanted, known)}")

    def _bring_in(self, plan: Plan, job: Job) -> None:
        """Bring the missing runs that a job hangs on from the run store, and plan with them."""
        if self._store is None:
            return
        runs = [each for each in upstream(job) if each.kind == "run"]
        wanted = [run for run in runs if run.target not in self._sought]
        self._sought |= {run.target for run in wanted}
        renewed = run_store.bring_missing(self._store, wanted, plan.fits)
        for each in self._plans.values() if renewed else ():
            write_job_files(each, each.hanging_on(renewed))


def _plain(text: str) -> str:
    """Text that reStructuredText shows as it is."""
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", text.strip())


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr)
