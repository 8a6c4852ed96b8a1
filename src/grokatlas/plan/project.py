"""The configuration of a checkout as Snakemake asks for it: files of jobs, and which are stale.

Nothing here imports torch, pandas or matplotlib: every cluster job parses the Snakefile.
"""

import functools
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grokatlas.declare import checks, signatures, study
from grokatlas.declare.models import PAPER, Paper
from grokatlas.declare.papers import load_papers, select
from grokatlas.declare.settings import Settings, home_expanded, load_settings
from grokatlas.errors import UserError, nearest
from grokatlas.plan import cache, job_files, which_code
from grokatlas.plan.graph import make_plan
from grokatlas.plan.jobs import Job, Plan, with_ancestors
from grokatlas.plan.kept_plans import KeptPlan
from grokatlas.registry import PACKAGE
from grokatlas.results import account, environment, layout, links
from grokatlas.results.layout import SCALES

DEVICE = "GROKATLAS_DEVICE"  # environment variable: the configured device, for jobs
RUN_STORE = "GROKATLAS_RUN_STORE"  # the same of the run store
CONTAINER = "GROKATLAS_CONTAINER"  # and of the image in which jobs run
# brings those of some runs that are missing into ``results``: the folders that it renewed
Bring = Callable[[list[Job], Plan], list[Path]]

# glibc keeps freed memory for a step's next results up to these sizes, instead of taking new memory
# that the system clears each time; the first may be no larger before glibc 2.35 (elsewhere ignored)
KEPT_MEMORY = {"MALLOC_MMAP_THRESHOLD_": 32 * 1024**2, "MALLOC_TRIM_THRESHOLD_": 512 * 1024**2}


class Project:
    """The plans of a configuration folder, made when asked for.

    Nothing is written until `prepare` is called: a dry run, `snakemake --summary` and the like
    leave every job file as it is, for a Snakemake that may be running here.

    Args:
        folder: the folder of ``config.yaml`` and ``papers/``.
        overrides: keys of ``config.yaml`` that the command line sets.
        warn: called with each one-line warning.
        sources: where each of these keys is set, for errors; on the command line by default.
        bring: looks for missing runs elsewhere, once `prepare_jobs` is called by the process that
            decides what runs.
        keep: take the plan of the configured scale from what is kept, or keep it (`KeptPlan`).
    """

    def __init__(
        self,
        folder: Path,
        overrides: dict[str, Any],
        warn: Callable[[str], None] | None = None,
        sources: dict[str, str] | None = None,
        bring: Bring = lambda runs, plan: [],
        keep: bool = False,
    ) -> None:
        study.check()
        self._sources = {**dict.fromkeys(overrides, "--config"), **(sources or {})}
        self.settings: Settings = load_settings(folder / "config.yaml", overrides, self._sources)
        self.device, self.local_rules = self.settings.device, self.settings.local_rules
        self._folder = folder / "papers"
        self._warn = warn or functools.partial(print, file=sys.stderr)
        self._plans: dict[str, Plan] = {}
        self._prepared: set[str] = set()  # scales whose job files are written
        self._elsewhere: dict[Path, Path] = {}  # job files of a plan that does not run
        self._temporary: Path | None = None  # the folder of these
        self._bring = bring
        self._brings = False  # whether missing runs are looked for
        self._sought: set[Path] = set()  # runs that were looked for
        scale, all_papers = self.settings.scale, self.settings.papers == "all"
        store = KeptPlan(folder, scale) if keep and all_papers else None
        if contents := store and store.read():
            self._plans[scale], self.captions = contents
        elif not self._warn_of_unused() and store:  # a warning is told again each time
            store.keep(self.at(scale), self.captions)

    def _warn_of_unused(self) -> bool:
        """Warn of experiments that nothing draws, if there are such."""
        unused = [*checks.unused_experiments(self.papers)]
        for text in unused:
            self._warn(f"warning: {text}")
        return bool(unused)

    @functools.cached_property
    def papers(self) -> dict[str, Paper]:
        """The selected papers, by name."""
        return select(self._known, self._chosen)

    @property
    def _chosen(self) -> list[str]:
        """The names of the selected papers."""
        chosen = self.settings.papers
        return list(self._known) if chosen == "all" else chosen

    @functools.cached_property
    def _known(self) -> dict[str, Paper]:
        """The selected papers, and the others of which figures are here, for claims and pages.

        Raises:
            UserError: a selected paper has a mistake; of another one it is a warning.
        """
        folder, chosen, problem = self._folder, self.settings.papers, ""
        place = f"{self._sources.get('papers', 'config.yaml')}: papers"
        if chosen != "all" and (others := _drawn(folder) - {*chosen}):
            try:
                papers = load_papers(folder, [*chosen, *sorted(others)], place)
                cache.check_once(papers)
            except UserError as error:
                problem = f"warning: {error}; claims and pages of papers that are not selected"
            else:
                return papers
        papers = load_papers(folder, chosen, place)
        cache.check_once(papers)
        if problem:
            self._warn(f"{problem} are left out")
        return papers

    def at(self, scale: str) -> Plan:
        """The plan of one scale."""
        if scale not in self._plans:
            here = layout.papers_drawn(scale) & self._known.keys()
            shown = select(self._known, [*self._chosen, *sorted(here - {*self._chosen})])
            self._plans[scale] = make_plan(self.papers, scale, shown)
        return self._plans[scale]

    def prepare(self, scale: str) -> Plan:
        """The plan of one scale, with its job files written, as it is going to run.

        Raises:
            UserError: for a mistake in the configuration, `results` is a link to no folder, or a
                Snakemake that runs in this folder needs a job file that would change.
        """
        plan = self.at(scale)
        if scale not in self._prepared:
            links.check()
            job_files.write(plan.jobs, plan.states())
            self._prepared.add(scale)
        return plan

    def prepare_jobs(self) -> None:
        """Let jobs run this code on the chosen device; this process looks into the run store."""
        tell_jobs(self.settings, self._sources, main=True)
        self._brings = bool(os.environ.get(RUN_STORE))

    def final_files(self, scale: str) -> list[Path]:
        """The last files of a scale: every figure's, the claims, the atlas."""
        plan = self.at(scale)
        groups = (plan.figures, plan.claims, plan.atlas)
        return [file for group in groups for job in group.values() for file in job.outputs]

    @functools.cached_property
    def captions(self) -> dict[str, dict[str, str]]:
        """Every figure's caption by paper, as reStructuredText."""
        return {
            name: {key: _plain(entry.caption) for key, entry in paper.figures.items()}
            for name, paper in self.papers.items()
        }

    def job_file(
        self, group: str, key: Any, scale: str | None = None, runs: bool = True
    ) -> tuple[Path, bool]:
        """A job's file, and whether its date does not count: it does for a stale result alone.

        Args:
            group: as for `inputs`, and so are the other arguments and the errors.
            key: the job's key.
            scale: of its plan.
            runs: whether the plan is going to run; else nothing is written into ``results``, and a
                job file that is not there, or is that of a stale result, is in a temporary folder.
        """
        job, plan = self.job(group, key, scale)
        if runs:
            self.prepare(plan.scale)
        self._bring_in(plan, job, runs)
        state = plan.state(job)
        if (runs or state != "stale") and job.spec_path.exists():
            return job.spec_path, state != "stale"
        if job.target not in self._elsewhere:
            self._temporary = self._temporary or job_files.temporary_folder()
            # a folder for each: Snakemake looks into one only once, for all that it will ever hold
            own = self._temporary / str(len(self._elsewhere))
            self._elsewhere[job.target] = job_files.write_elsewhere(own, job, state)
        return self._elsewhere[job.target], state != "stale"

    def inputs(
        self, group: str, key: Any, scale: str | None = None, runs: bool = True
    ) -> list[tuple[Path, bool]]:
        """Every file of every job that a job reads, and whether that file is up to date.

        Args:
            group: of a `Plan`, such as ``runs``, ``tables`` or ``figures``.
            key: the job's key in that group of a `Plan`.
            scale: the scale of its plan; where a path names none, the configured scale is searched
                first, then the others.
            runs: whether the plan is going to run; else stale runs stay as they are.

        Raises:
            UserError: nothing of that name is declared.
        """
        job, plan = self.job(group, key, scale)
        self._bring_in(plan, job, runs)
        return plan.inputs(job)

    def job(self, group: str, key: Any, scale: str | None = None) -> tuple[Job, Plan]:
        """A job, and the plan that it is in; arguments and errors as for `inputs`."""
        first = [self.settings.scale]
        for each in [scale] if scale else first + [s for s in SCALES if s not in first]:
            jobs: dict[Any, Job] = getattr(self.at(each), group)
            if key in jobs:
                return jobs[key], self.at(each)
        known = [name if isinstance(name, str) else "/".join(name) for name in jobs]
        wanted = key if isinstance(key, str) else "/".join(key)
        light = signatures.that_define("measures", "LIGHT")
        if group == "measures" and key[1].partition("-")[0] in light:
            raise UserError(f"{group}: {wanted}", "is computed with its table; ask for that table")
        raise UserError(f"{group}: {wanted}", f"not declared in config; {nearest(wanted, known)}")

    def _bring_in(self, plan: Plan, job: Job, runs: bool) -> None:
        """Bring the missing runs that a job depends on from elsewhere, and plan with them."""
        if not self._brings:
            return
        needed = [each for each in with_ancestors([job]) if each.target.name in plan.runs]
        wanted = [run for run in needed if run.target not in self._sought]
        self._sought |= {run.target for run in wanted}
        if not runs:  # a Snakemake that runs here may need a stale one as it is
            wanted = [run for run in wanted if plan.state(run) == "absent"]
        renewed = self._bring(wanted, plan)
        for old_plan in self._plans.values() if renewed else ():
            again = old_plan.look_again(renewed)
            if old_plan.scale in self._prepared:
                job_files.write(again, old_plan.states())


def _drawn(folder: Path) -> set[str]:
    """The papers of a folder of which figures are here, at whichever scale."""
    names = set().union(*map(layout.papers_drawn, SCALES))
    return {name for name in names if (folder / name / PAPER).is_file()}


def use_this_code() -> None:
    """Let jobs run this code with this Python, in full precision, and know the account's name."""
    which_code.choose_this()
    account.tell_programs()
    environment.compute_in_full()
    for variable, first in (("PATH", Path(sys.executable)), ("PYTHONPATH", PACKAGE)):
        entries = [str(first.parent), os.environ.get(variable)]
        os.environ[variable] = os.pathsep.join(filter(None, entries))
    for variable, size in KEPT_MEMORY.items():
        os.environ.setdefault(variable, str(size))


def tell_jobs(settings: Settings, sources: dict[str, str], main: bool) -> None:
    """Let the jobs that this process starts run this code, with what the settings name.

    Args:
        settings: of the configuration.
        sources: where keys are set that ``config.yaml`` does not set, for errors.
        main: whether this process decides what runs, so that it needs the run store.
    """
    use_this_code()
    for variable, key, needed in (
        ("GROKATLAS_DATA", "data_dir", True),
        (RUN_STORE, "run_store", main),
    ):
        value = getattr(settings, key)
        if value is None:
            continue
        folder = home_expanded(value).resolve()
        if needed and not folder.is_dir():
            place = f"{sources.get(key, 'config.yaml')}: {key}"
            raise UserError(place, f"no folder {folder}; make it or use null")
        if key == "run_store" and needed and folder.is_relative_to(layout.RESULTS.resolve()):
            place = f"{sources.get(key, 'config.yaml')}: {key}"
            problem = "is inside results, so that each run would lie there twice"
            raise UserError(place, f"{folder} {problem}; name a folder elsewhere")
        os.environ[variable] = str(folder)
    if settings.container is not None:
        os.environ[CONTAINER] = _image(settings.container, sources)
    os.environ[DEVICE] = settings.device  # the last: where it is set, the others are


def _image(named: str, sources: dict[str, str]) -> str:
    """An image's address as it is, or the path of its file."""
    if "://" in named:
        return named
    file = home_expanded(named).resolve()
    if not file.exists():
        place = f"{sources.get('container', 'config.yaml')}: container"
        todo = "build it (docs/installation.md), give an address such as docker://..., or use null"
        raise UserError(place, f"no file {file}; {todo}")
    return str(file)


def _plain(text: str) -> str:
    """Text that reStructuredText shows as it is."""
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", text.strip())
