"""The Slurm cluster that `snakemake --profile slurm` would submit to."""

import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grokatlas.cluster import slurm
from grokatlas.cluster.doctor import findings
from grokatlas.cluster.doctor.findings import Finding, State
from grokatlas.declare import strict_yaml
from grokatlas.errors import UserError
from grokatlas.plan import resources
from grokatlas.plan.jobs import Job
from grokatlas.results import account

PROFILE = Path("profiles/slurm")
SETTINGS = PROFILE / "config.yaml"
LONGEST_PAUSE = 180  # seconds between two questions of the plugin; finished jobs live longer
WAIT = 120  # seconds that a job may wait for a GPU
PROBE = (
    "import socket, torch; found = torch.cuda.is_available();"
    "print(socket.gethostname(), torch.cuda.get_device_name() if found else 'no GPU', sep='|')"
)


@dataclass
class Partition:
    """A partition as `sinfo` shows it."""

    up: bool
    minutes: int | None
    gpu: bool


def here() -> bool:
    """Tell if this machine can submit to a Slurm."""
    return shutil.which("sinfo") is not None


def look(missing: list[Job], device: str, submit: bool) -> Iterator[Finding]:
    """Everything of a cluster that the profile relies on, or that there is none."""
    if not here():
        state: State = "fail" if submit else "ok"
        yield Finding(state, "cluster", "no Slurm here (no sinfo): jobs run on this machine")
        return
    settings = block(SETTINGS)
    wanted = block(PROFILE / "partitions.yaml").get("partitions")
    if not isinstance(wanted, dict):
        raise UserError(str(PROFILE / "partitions.yaml"), "has no block `partitions`; restore it")
    there = partitions()  # if this fails, Slurm does not answer and nothing else would
    yield from findings.of("partitions", _partitions, wanted, there)
    yield from findings.of("limits", _limits, wanted, there, missing, device)
    yield from findings.of("account", _account, settings)
    yield from findings.of("polling", _polling, settings)
    if device != "cpu":
        yield from findings.of("job", _job, settings, wanted, submit)


def partitions() -> dict[str, Partition]:
    """Every partition by name."""
    by_name: dict[str, Partition] = {}
    for line in slurm.ask("sinfo", "--noheader", "--format=%P|%a|%l|%G").splitlines():
        name, up, limit, devices = [*(part.strip() for part in line.split("|")), "", "", ""][:4]
        one = by_name.setdefault(name.rstrip("*"), Partition(False, slurm.minutes(limit), False))
        one.up |= up == "up"
        one.gpu |= "gpu" in devices
    return by_name


def block(path: Path) -> dict[str, Any]:
    """The keys of a file of a profile; none if it holds no block of keys."""
    content = strict_yaml.load(path)
    return content if isinstance(content, dict) else {}


def takes_gpus(limits: Any) -> bool:
    """Tell if a partition is for jobs that want a GPU, by its entry in the profile."""
    return isinstance(limits, dict) and bool(limits.get("max_gpu"))


def _partitions(wanted: dict[str, Any], by_name: dict[str, Partition]) -> Iterator[Finding]:
    """Those of the profile exist, are up, and have the GPUs that it says."""
    sound, hint = True, f"; change {PROFILE / 'partitions.yaml'}"
    for name, limits in wanted.items():
        if name not in by_name:
            there = ", ".join(sorted(by_name)) or "none"
            yield Finding("fail", "partitions", f"{name} does not exist, sinfo shows {there}{hint}")
        elif takes_gpus(limits) and not by_name[name].gpu:
            yield Finding("fail", "partitions", f"{name} has no GPU, and max_gpu says so{hint}")
        elif not by_name[name].up:
            yield Finding("warn", "partitions", f"{name} is down: its jobs wait")
        else:
            continue
        sound = False
    if sound:
        yield Finding("ok", "partitions", f"{', '.join(wanted)} exist and are up")


def _limits(
    wanted: dict[str, Any], by_name: dict[str, Partition], missing: list[Job], device: str
) -> Iterator[Finding]:
    """The time that missing jobs ask for is allowed where they go."""
    asked = [resources.of_job(job, device) for job in missing if job.kind in ("run", "measure")]
    problems: list[str] = []
    for gpu in (True, False):
        names = [n for n, limits in wanted.items() if takes_gpus(limits) == gpu and n in by_name]
        longest = max((each.runtime for each in asked if bool(each.gpu) == gpu), default=0)
        if longest and not names:
            problems.append(f"no partition for jobs {'with' if gpu else 'without'} a GPU")
        limits = [by_name[name].minutes for name in names]
        most = max((limit for limit in limits if limit is not None), default=0)
        if limits and None not in limits and longest > most:
            problems.append(f"{' and '.join(names)}: jobs end after {most:g} of {longest} minutes")
            problems[-1] += f"; start with --set-resources train:runtime={int(most)}"
    for problem in problems:
        yield Finding("warn", "limits", problem)
    if not problems:
        yield Finding("ok", "limits", "the time that jobs ask for is allowed")


def _account(settings: dict[str, Any]) -> Iterator[Finding]:
    """The account that jobs are billed to, if Slurm keeps accounts."""
    billed_account = _billed(settings)
    command = ("sacctmgr", "--noheader", "--parsable2", "show", "associations")
    try:
        lines = slurm.ask(*command, f"user={account.name()}", "format=Account")
    except UserError as error:
        text = f"{error}; if jobs are refused, set slurm_account in {SETTINGS}"
        yield Finding("warn", "account", text)
        return
    names = sorted(filter(None, {line.strip() for line in lines.splitlines()}))
    there = ", ".join(names)
    if billed_account and billed_account not in names:
        text = f"slurm_account {billed_account} is not yours ({there or 'you have none'})"
        yield Finding("fail", "account", f"{text}; change {SETTINGS}")
    elif not names:
        text = "you have no Slurm account; ask for one if jobs are refused"
        yield Finding("warn", "account", text)
    elif len(names) > 1 and not billed_account:
        text = f"several ({there}), the default one pays; set slurm_account in {SETTINGS}"
        yield Finding("warn", "account", text)
    else:
        yield Finding("ok", "account", billed_account or there)


def _billed(settings: dict[str, Any]) -> str:
    """The account that the profile names; empty for the default one."""
    return str(settings.get("default-resources", {}).get("slurm_account", "")).strip("'\"")


def _polling(settings: dict[str, Any]) -> Iterator[Finding]:
    """The way that the plugin asks how jobs are."""
    way = settings.get("slurm-status-command", "sacct")
    if way == "sacct":
        slurm.ask("sacct", "--noheader", "--allocations", "--starttime=now-1hour")
        text = "by sacct; a job that you cancel yourself is waited for until you press Ctrl-C"
        yield Finding("warn", "polling", text)
        return
    slurm.ask("squeue", "--me", "--noheader")
    config = slurm.ask("scontrol", "show", "config")
    age = re.search(r"^MinJobAge\s*=\s*(\d+)", config, re.MULTILINE)
    if age is None:
        yield Finding("warn", "polling", "by squeue; scontrol shows no MinJobAge, 180 s are needed")
    elif int(age[1]) < LONGEST_PAUSE:
        text = f"MinJobAge is {age[1]} s, squeue needs {LONGEST_PAUSE}: finished jobs are missed"
        yield Finding("fail", "polling", f"{text}; set slurm-status-command: sacct in {SETTINGS}")
    else:
        yield Finding("ok", "polling", f"by squeue; MinJobAge is {age[1]} s")


def _job(settings: dict[str, Any], wanted: dict[str, Any], submit: bool) -> Iterator[Finding]:
    """A GPU, as a job sees it."""
    names = [name for name, limits in wanted.items() if takes_gpus(limits)]
    if not submit or not names:
        text = "not tried; --submit asks with a job of seconds whether it sees a GPU"
        yield Finding("ok", "job", text if names else "no partition with max_gpu to try")
        return
    billed = _billed(settings)
    command = ["srun", f"--partition={names[0]}", "--gpus=1", "--time=5", f"--immediate={WAIT}"]
    command += [f"--account={billed}"] if billed else []
    try:
        said = slurm.ask(*command, sys.executable, "-c", PROBE, patience=WAIT + 300)
    except UserError as error:
        state: State = "warn" if re.search("busy|immediate", str(error), re.IGNORECASE) else "fail"
        yield Finding(state, "job", f"none ran in {names[0]} within {WAIT} s: {error}")
        return
    host, _, device = (said.strip().splitlines() or [""])[-1].partition("|")
    if device in ("", "no GPU"):
        text = f"a job in {names[0]} ran on {host or 'some node'}, and torch saw no GPU there"
        yield Finding("fail", "job", f"{text}; try `srun --gpus=1 nvidia-smi -L`")
        return
    yield Finding("ok", "job", f"a job in {names[0]} ran on {host} and saw {device}")
