"""``grokatlas submit``: the workflow itself as a chain of small jobs on a cluster."""

import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grokatlas.errors import UserError
from grokatlas.operate import heads, slurm, unlock
from grokatlas.operate.doctor import cluster
from grokatlas.operate.doctor.findings import Finding
from grokatlas.text import duration

PROGRAMS = ("sbatch", "squeue", "scancel", "sinfo")
LONGEST = 3 * 1440  # minutes of a head if nobody says how many
PATIENCE = 120.0  # seconds that heads which are cancelled may take to end
NOTHING = "Nothing to be done"  # Snakemake's words
# options of Snakemake with which it makes nothing, or removes something and ends
IDLE = {
    *("--archive", "--cleanup-metadata", "--cleanup-shadow", "--cm", "--conda-cleanup-envs"),
    *("--conda-create-envs-only", "--container-cleanup-images", "--containerize", "--d3dag"),
    *("--dag", "--delete-all-output", "--delete-temp-output", "--detailed-summary", "--filegraph"),
    *("--draft-notebook", "--edit-notebook", "--export-cwl", "--generate-unit-tests", "--lc"),
    *("--li", "--lint", "--list", "--list-changes", "--list-conda-envs", "--list-input-changes"),
    *("--list-params-changes", "--list-rules", "--list-target-rules", "--list-untracked", "--lp"),
    *("--lt", "--lu", "--print-compilation", "--report", "--rulegraph", "--summary", "--touch"),
    *("--unlock", "--version", "-D", "-S", "-l", "-t", "-v"),
}
SHORTEST = 5  # characters of an abbreviation, such as --unl, that is told from other options
TOTAL = re.compile(r"^total\s+(\d+)$", re.MULTILINE)


def main(
    profile: str,
    time: str | None,
    partition: str | None,
    dry_run: bool,
    cancel: bool,
    options: list[str],
) -> Iterator[str]:
    """Look at all that can be looked at, submit the first head, and say where it is.

    Args:
        profile: of Snakemake.
        time: limit of one head; that of the partition if None, at most three days.
        partition: where heads run; one of the profile without GPU if None.
        dry_run: submit nothing.
        cancel: end the heads that are there, and their jobs, instead.
        options: further arguments of Snakemake.

    Yields:
        a line for each thing that was looked at, then what was done.

    Raises:
        UserError: something is not as it has to be.
    """
    if cancel and dry_run:
        raise UserError("--cancel", "ends a chain, and -n only looks; give one of the two")
    _refuse_idle(options)
    folder = Path()
    yield _line("slurm", _slurm(folder))
    if cancel:
        yield end(folder)
        return
    profile, settings = _profile(profile)
    yield _line("profile", f"{profile}: jobs are submitted by the executor slurm")
    partition, minutes = _place(Path(profile), settings, partition, time)
    yield _line("partition", f"{partition}: one core and {heads.MEMORY} MB for {_spell(minutes)}")
    yield _line("free", _free(folder))
    order = heads.Order(profile, partition, minutes, _extra(settings), tuple(options))
    left = _left(order)
    yield _line("plan", f"{left} jobs are to be made" if left else "nothing is left to make")
    if left and not dry_run:
        yield from _submit(order, folder)


def end(folder: Path) -> str:
    """Cancel the heads of a checkout and the jobs that they submitted, and remove their lock.

    Raises:
        UserError: there are none, Slurm does not answer, or jobs do not end.
    """
    found = heads.queued(folder)
    if not found:
        hint = "`grokatlas unlock` ends what a Snakemake that was killed has left"
        raise UserError(str(folder.resolve()), f"no head of this checkout is in the queue; {hint}")
    until = time.monotonic() + PATIENCE
    while left := heads.queued(folder):  # one that ran may have submitted another
        if time.monotonic() > until:
            ids = " ".join(job.id for job in left)
            raise UserError(f"jobs {ids}", "were cancelled and do not end; see `squeue`")
        slurm.ask("scancel", *(job.id for job in left))
        time.sleep(1)
    ids = ", ".join(job.id for job in found)
    heads.keep(folder, {})
    return f"heads {ids} cancelled; {unlock.clear(folder)}"


def _submit(order: heads.Order, folder: Path) -> Iterator[str]:
    heads.keep(folder, {})  # what an earlier chain left counts no more
    job = order.submit(folder)
    call = shlex.join(order.snakemake()[2:])
    yield f"job {job} is submitted: it runs `{call}` until all is made"
    yield f"log:   tail -F {heads.LOG}"
    yield f"watch: grokatlas status; squeue --me --name {heads.NAME}"
    yield "end:   grokatlas submit --cancel"


def _line(what: str, text: str) -> str:
    return str(Finding("ok", what, text))


def _spell(minutes: int) -> str:
    return duration(60 * minutes)


def _refuse_idle(options: list[str]) -> None:
    """Refuse what makes Snakemake do something else than make files."""
    own = options[: options.index("--")] if "--" in options else options
    for given, following in zip(own, [*own[1:], ""], strict=False):
        name, _, value = given.partition("=")
        long = name.startswith("--") and len(name) >= SHORTEST
        if (
            name in IDLE
            or (long and any(idle.startswith(name) for idle in IDLE))
            or (name in ("-e", "--executor") and (value or following) in ("dryrun", "touch"))
        ):
            problem = "makes nothing, so there is nothing to submit; give it to `snakemake`"
            raise UserError(name, f"{problem} itself")


def _slurm(folder: Path) -> str:
    """Slurm's programs are here, and this is a checkout."""
    if not (folder / "Snakefile").is_file():
        raise UserError(str(folder.resolve()), "has no Snakefile; run this in the checkout")
    for program in PROGRAMS:
        if not shutil.which(program):
            hint = "run this on a login node of the cluster"
            raise UserError(program, f"is not installed here; {hint}, or `snakemake` without it")
    return f"{', '.join(PROGRAMS)} are here"


def _profile(name: str) -> tuple[str, dict[str, Any]]:
    """The folder of a profile, and its settings."""
    places = [place for place in (Path(name), Path("profiles", name)) if _holds_profile(place)]
    if not places:
        there = ", ".join(sorted(f.parent.name for f in Path("profiles").glob("*/config.yaml")))
        problem = f"no such profile; allowed: {there or 'none'}, or a folder with a config.yaml"
        raise UserError(f"--profile {name}", problem)
    settings = cluster.block(places[0] / "config.yaml")
    if settings.get("executor") != "slurm":
        problem = "its executor is not slurm, so its workflow needs no job of its own"
        raise UserError(f"--profile {name}", f"{problem}; run `snakemake --profile {name}`")
    return str(places[0]), settings


def _holds_profile(place: Path) -> bool:
    return (place / "config.yaml").is_file()


def _place(
    profile: Path, settings: dict[str, Any], name: str | None, limit: str | None
) -> tuple[str, int]:
    """The partition of the heads and their minutes, as given or as the profile says."""
    file = profile / str(settings.get("slurm-partition-config", "partitions.yaml"))
    wanted = cluster.block(file).get("partitions") if file.is_file() else None
    wanted = wanted if isinstance(wanted, dict) else {}
    found = cluster.partitions()
    limits = {n: _limit(wanted.get(n), one.minutes) for n, one in found.items() if one.up}
    if name is None:
        fitting = [n for n in wanted if n in limits and not cluster.takes_gpus(wanted[n])]
        if not fitting:
            there = ", ".join(sorted(limits)) or "none"
            problem = f"names no partition without GPU that is up; sinfo shows {there}"
            raise UserError(str(file), f"{problem}; mend it, or give one by --partition")
        name = max(fitting, key=lambda n: limits[n] or LONGEST)
    elif name not in limits:
        there = ", ".join(sorted(limits)) or "none"
        raise UserError(f"--partition {name}", f"is not there, or is down; allowed: {there}")
    most = limits[name]
    if limit is None:
        return name, min(most or LONGEST, LONGEST)
    minutes = slurm.minutes(limit)
    if not minutes:
        problem = "is no time; allowed: minutes such as 90, or 12h, 1d12h, 4:00:00, 2-00:00:00"
        raise UserError(f"--time {limit}", problem)
    if most is not None and minutes > most:
        raise UserError(f"--time {limit}", f"is more than partition {name} allows: {_spell(most)}")
    return name, minutes


def _limit(declared: Any, known: float | None) -> int | None:
    """The minutes that a partition allows, by the profile and by Slurm; None if it has no limit."""
    told = slurm.minutes(str(declared.get("max_runtime", ""))) if isinstance(declared, dict) else 0
    return min((int(one) for one in (told, known) if one), default=None)


def _free(folder: Path) -> str:
    """No other Snakemake works in this folder; the jobs of one would be submitted twice."""
    place = str(folder.resolve())
    if found := heads.queued(folder):
        hint = "look with `grokatlas status`, end it by `grokatlas submit --cancel`"
        raise UserError(place, f"head job {found[0].id} is in the queue already; {hint}")
    if process := unlock.snakemake(folder):
        raise UserError(place, f"Snakemake runs here (process {process}); stop it with Ctrl-C")
    if unlock.locked(folder):
        problem = "is locked by a Snakemake that was killed, or runs on another machine"
        raise UserError(place, f"{problem}; if it was killed: `grokatlas unlock`")
    left = sum(job.of_rule for job in slurm.queue(folder))
    waits = f"; the head waits until {left} jobs that were left have ended" if left else ""
    return f"no other Snakemake is at work here{waits}"


def _extra(settings: dict[str, Any]) -> tuple[str, ...]:
    """Options of `sbatch` that every job of the profile has: the account and the QoS."""
    asked = settings.get("default-resources")
    named = {
        "account": asked.get("slurm_account") if isinstance(asked, dict) else None,
        "qos": settings.get("slurm-qos"),
    }
    texts = {key: str(value or "").strip("'\"") for key, value in named.items()}
    return tuple(f"--{key}={value}" for key, value in texts.items() if value)


def _left(order: heads.Order) -> int:
    """How many jobs Snakemake would run, by a dry run of what a head will call.

    Raises:
        UserError: Snakemake refuses the call, or the configuration has a mistake.
    """
    command = order.snakemake(last=("--dry-run", "--nolock", "--quiet", "rules", "host"))
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "100"}
    )
    if done.returncode:
        said = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        last = said[-1].removeprefix("snakemake: error: ") if said else "no message"
        raise UserError("snakemake --dry-run", f"{last}; mend it, nothing was submitted")
    if found := TOTAL.search(done.stdout):
        return int(found[1])
    if NOTHING in done.stdout + done.stderr:
        return 0
    problem = "says neither how many jobs are to be made, nor that nothing is to be done"
    raise UserError("snakemake --dry-run", f"{problem}; leave out options that make nothing")
