"""Jobs and the workflow in processes of their own, for a notebook: an error is one line."""

import re
import subprocess
import sys
from pathlib import Path

from grokatlas.errors import UserError
from grokatlas.plan.jobs import Job
from grokatlas.study import shipped
from grokatlas.text import last_line

SILENT = "it ended without a word"
COMMANDS = {"dataset": "dataset", "run": "train", "measure": "measure"}  # by kind of job
PROGRESS = re.compile(r"run \w+: step \d+/\d+, ")  # what a training prints every ten seconds
# what Snakemake shows of the log of a job that failed
FAILED = re.compile(r"^Logfile (\S+):\n=+\n(.*?)\n=+$", re.MULTILINE | re.DOTALL)


def execute(job: Job, threads: int) -> None:
    """Do one job, from its job file."""
    command = [sys.executable, "-m", "grokatlas", COMMANDS[job.kind], str(job.spec_path)]
    if job.kind == "run":
        command += ["--threads", str(threads)]
    code, output = _output(command)
    if code:
        place, _, problem = (last_line(output) or SILENT).partition(": ")
        raise UserError(place, problem or f"the job {job.target} failed")


def snakemake(outputs: list[Path], scale: str) -> None:
    """Make files by the workflow of the working directory, with all cores."""
    if not Path("Snakefile").is_file():
        raise UserError("Snakefile", "no such file; work in a study's folder (grokatlas new)")
    command = [sys.executable, "-m", "snakemake", "--config", f"scale={scale}"]
    command += ["--profile", str(shipped.part("profiles/workstation"))]
    code, output = _output([*command, "--", *map(str, outputs)])
    if code:
        failed = FAILED.search(output)
        place = failed[1] if failed else str(outputs[0])
        problem = last_line(failed[2] if failed else output) or SILENT
        raise UserError(place, f"a job failed: {problem}" if failed else problem)


def _output(command: list[str]) -> tuple[int, str]:
    """The exit code of a command, and what it printed; interrupted, it is asked to save and end.

    What a training says of its progress is shown, in one line that is renewed.
    """
    lines = []
    with subprocess.Popen(
        command,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        try:
            for line in process.stdout or []:
                lines.append(line)
                if PROGRESS.match(line):
                    print(f"\r{line.rstrip()}", end="", file=sys.stderr, flush=True)
        except BaseException:
            process.terminate()
            for _ in process.stdout or []:  # it may say something before it saves
                pass
            raise
    if any(map(PROGRESS.match, lines)):
        print(file=sys.stderr)
    return process.returncode, "".join(lines)
