"""From the recorded evidence to all that is drawn of it, with nothing trained.

The archives are unpacked into ``results``; then every figure whose tables are there is drawn, every
claim judged, and the pages are written. What is here already stays: Snakemake goes on from there.
"""

import os
import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from grokatlas import text
from grokatlas.errors import UserError
from grokatlas.export import adoption, evidence
from grokatlas.plan import remaining
from grokatlas.plan.jobs import Job
from grokatlas.publish import experiments
from grokatlas.results import layout
from grokatlas.rules import atlas, figure, partial

DRAWN_PER_LINE = 10  # figures take minutes in all, of which a user is told


def main(scale: str, replace: bool) -> Iterator[str]:
    """Restore the experiments that are recorded at a scale.

    Args:
        scale: smoke, quick or paper.
        replace: overwrite results that lie here and differ.

    Raises:
        UserError: nothing is recorded at this scale, or this is no checkout; or, in the end, an
            archive was left out as it is damaged or in the place of another.
    """
    names = list(evidence.archives(scale))
    if not names:
        problem = f"nothing is recorded at this scale; `snakemake --config scale={scale}` trains"
        raise UserError(f"{evidence.FOLDER}/{scale}", problem)
    yield f"{len(names)} experiments are recorded at {scale} scale"
    left_out: list[UserError] = []
    yield from _unpack(names, replace, left_out)
    job_file = atlas.atlas_job_file(scale)
    yield from _draw(list(remaining.at(scale).plan.figures.values()))
    yield str(atlas.from_what_is_there(job_file))
    if left_out:
        problem = f"{len(left_out)} of {len(names)} archives are left out, as is said above"
        raise UserError(f"{evidence.FOLDER}/{scale}", f"{problem}; mend them, and restore again")


def _unpack(
    names: list[tuple[str, str, str]], replace: bool, left_out: list[UserError]
) -> Iterator[str]:
    """Adopt archives; of one that does not fit the results here, these stay.

    Args:
        names: scale, paper and experiment of each archive.
        replace: overwrite results that lie here and differ.
        left_out: gets the errors of archives that cannot be adopted.
    """
    differing: list[str] = []
    beside: list[str] = []
    tables = experiments.plan_of_all(names[0][0]).tables
    for name in names:
        try:
            evidence.refuse_misplaced(name, tables)
            twins: set[str] = set()
            adoption.adopt(evidence.path(*name), replace, twins)
            beside += ["/".join(name[1:])] if twins else []
        except adoption.DifferError:
            differing.append("/".join(name[1:]))
        except UserError as error:
            left_out.append(error)
            yield str(error)
    if beside:
        whose = f"{text.count(len(beside), 'experiment')} ({', '.join(beside)})"
        yield f"results here stay that the same code made with other bytes, of {whose}"
    if differing:
        problem = f"other results are here, and stay, of {len(differing)} experiments"
        yield f"{problem} ({', '.join(differing)}); `grokatlas restore --replace` overwrites them"


def _draw(jobs: list[Job]) -> Iterator[str]:
    """Draw the figures whose tables are here, on all cores; one that cannot be drawn is a line."""
    tables = {job.target: [table.target for table in job.inputs] for job in jobs}
    there = [
        target
        for target, needed in tables.items()
        if all(partial.at_hand("table", table) for table in needed)
        and partial.at_hand("figure", target) != partial.CURRENT
    ]
    failed = 0
    for number, problem in enumerate(_in_parallel(there), 1):
        failed += bool(problem)
        yield from filter(None, [problem])
        if number % DRAWN_PER_LINE == 0:
            yield f"{number} of {len(there)} figures and tables done"
    yield f"drew {len(there) - failed} of {len(jobs)} figures and tables"


def _in_parallel(targets: list[Path]) -> Iterator[str]:
    """`_draw_one` of each, in as many processes as this one may use cores, or in this one alone."""
    usable = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0)
    workers = min(len(targets), len(usable))
    if not workers:
        return
    try:
        pool = ProcessPoolExecutor(workers, get_context("spawn"), _be_quiet)
        drawn = pool.map(_draw_one, targets)
    except (OSError, NotImplementedError):  # no semaphores (/dev/shm), or no more processes
        yield from map(_draw_one, targets)
        return
    with pool:
        try:
            yield from drawn
        except BrokenExecutor:
            problem = "a process that drew a figure was killed; is there enough memory?"
            raise UserError("restore", f"{problem} Call it again") from None


def _draw_one(target: Path) -> str:
    """Draw a figure from tables that may be of earlier code; the problem, if it cannot be."""
    try:
        figure.execute(layout.spec_path("figure", target), target, earlier=True)
    except UserError as error:
        return str(error)
    return ""


def _be_quiet() -> None:
    """Hide the warnings of a figure's process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
