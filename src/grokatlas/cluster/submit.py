"""``grokatlas submit``: the workflow itself as small jobs on a cluster."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from grokatlas.cluster import slurm, unlock
from grokatlas.errors import UserError

SCRIPT = "profiles/slurm/workflow.sh"
LOG = Path(".snakemake/slurm_logs/workflow.log")  # as the script says
LOOKS = "`snakemake --profile slurm -n` shows what would be made"
ENDS = "`scancel` the jobs that `grokatlas status` shows, then run `grokatlas unlock`"
GONE = {"-n": LOOKS, "--dry-run": LOOKS, "--dryrun": LOOKS, "--cancel": ENDS}


def main(time: str | None, partition: str | None, options: list[str]) -> Iterator[str]:
    """Submit the first job of the workflow, if Snakemake accepts the call and nobody works here."""
    folder = Path()
    for option in GONE.keys() & {*options}:
        raise UserError(option, f"is no option of submit; {GONE[option]}")
    if not shutil.which("sbatch") or not Path(SCRIPT).is_file():
        problem = f"takes sbatch and {SCRIPT}; run it on a login node, in the checkout"
        raise UserError("submit", f"{problem}, or `snakemake` without Slurm")
    unlock.refuse_others(folder)
    if unlock.locked(folder):
        hint = "if a Snakemake was killed here, run `grokatlas unlock`"
        raise UserError(str(folder.resolve()), f"is locked; {hint}")
    _plan(options)
    LOG.parent.mkdir(parents=True, exist_ok=True)
    given = {"--time": time, "--partition": partition}
    asked = [f"{name}={value}" for name, value in given.items() if value]
    number = slurm.submit(*asked, SCRIPT, *options)
    yield f"job {number} is submitted; another follows it until all is made"
    yield f"log:   tail -F {LOG}"
    yield "watch: grokatlas status"
    yield f"end:   scancel {number}, then grokatlas unlock"


def _plan(options: list[str]) -> None:
    """Refuse what Snakemake refuses, before it waits in a queue."""
    command = [sys.executable, "-m", "snakemake", "--profile", "profiles/slurm"]
    end = options.index("--") if "--" in options else len(options)
    command += [*options[:end], "--dry-run", "--nolock", "--quiet", *options[end:]]
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        last = lines[-1].removeprefix("snakemake: error: ") if lines else "no message"
        raise UserError("snakemake --dry-run", f"{last}; mend it, nothing was submitted")
