"""From the recorded evidence to all that is drawn of it, with nothing trained.

The archives are unpacked into ``results``; then every figure whose tables are there is drawn, every
claim judged, and the pages are written. What is here already stays: Snakemake goes on from there.
"""

import os
import sys
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

from grokatlas.errors import UserError
from grokatlas.export import adoption, evidence
from grokatlas.plan import remaining
from grokatlas.plan.jobs import Job
from grokatlas.results import layout
from grokatlas.rules import atlas, figure, partial


def main(scale: str) -> Iterator[str]:
    """Restore what is recorded at a scale.

    Args:
        scale: quick or paper.

    Yields:
        what was done, and where the first page is.

    Raises:
        UserError: nothing is recorded at this scale, an archive is damaged, or this is no checkout.
    """
    names = list(evidence.archives(scale))
    if not names:
        problem = f"nothing is recorded at this scale; `make figures SCALE={scale}` trains"
        raise UserError(f"{evidence.FOLDER}/{scale}", problem)
    yield f"{len(names)} experiments are recorded at {scale} scale"
    yield from _unpack(names)
    job_file = atlas.atlas_job_file(scale)
    yield from _draw(list(remaining.at(scale).plan.figures.values()))
    yield str(atlas.from_what_is_there(job_file))


def _unpack(names: list[tuple[str, str, str]]) -> Iterator[str]:
    """Adopt archives; of one that does not fit the results here, these stay."""
    for name in names:
        try:
            adoption.adopt(evidence.path(*name), replace=False)
        except adoption.DifferError as error:
            yield f"not unpacked: {error}"


def _draw(jobs: list[Job]) -> Iterator[str]:
    """Draw the figures whose tables are here, on all cores; one that cannot be drawn is a line."""
    tables = {job.target: [table.target for table in job.inputs] for job in jobs}
    there = [
        target
        for target, needed in tables.items()
        if all(partial.at_hand("table", table) for table in needed)
        and partial.at_hand("figure", target) != partial.CURRENT
    ]
    with get_context("spawn").Pool(os.cpu_count(), _be_quiet) as pool:
        problems = [problem for problem in pool.imap_unordered(_draw_one, there) if problem]
    yield from problems
    yield f"drew {len(there) - len(problems)} of {len(jobs)} figures and tables"


def _draw_one(target: Path) -> str:
    """Draw a figure from tables that may be of earlier code; the problem, if it cannot be."""
    try:
        figure.execute(layout.spec_path("figure", target), target, earlier=True)
    except UserError as error:
        return str(error)
    return ""


def _be_quiet() -> None:
    """What a figure's process warns of is not shown."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
