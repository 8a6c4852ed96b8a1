"""Head jobs: small jobs of Slurm that Snakemake itself runs in, one after the other.

Each submits its successor first, which Slurm holds back until the head has ended, however it ends.
"""

import json
import shlex
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from grokatlas.errors import UserError
from grokatlas.operate import slurm
from grokatlas.results import files

NAME = "grokatlas-head"  # of every head job
LOG = Path(".snakemake/slurm_logs/head.log")  # of all heads of a checkout
STATE = Path(".snakemake/grokatlas_head.json")  # what a head tells the next one
LOCK = Path(".snakemake/grokatlas_head.lock")  # held by the head that is at work
MEMORY = 4000  # MB: Snakemake takes 200, a figure that is drawn beside it up to 1000
HINT = "see the message above for what the cluster does not allow"


@dataclass(frozen=True)
class Order:
    """What every head of a chain is asked to do.

    Attributes:
        profile: of Snakemake.
        partition: where heads run.
        minutes: time limit of one head.
        extra: further options of ``sbatch``, such as ``--account=physics``.
        options: further arguments of Snakemake.
    """

    profile: str
    partition: str
    minutes: int
    extra: tuple[str, ...]
    options: tuple[str, ...]

    @property
    def lead(self) -> int:
        """Seconds before its time limit at which a head hands over; Slurm adds up to 60."""
        return min(60, self.minutes * 60 // 8)

    def snakemake(self, last: tuple[str, ...] = ()) -> list[str]:
        """The command line of Snakemake; a head has one core for what is made beside it.

        Args:
            last: further options, which win over the user's.
        """
        command = [sys.executable, "-m", "snakemake", "--profile", self.profile]
        end = self.options.index("--") if "--" in self.options else len(self.options)
        given, targets = self.options[:end], self.options[end:]
        return [*command, "--local-cores", "1", *given, *last, *targets]

    def sbatch(self, folder: Path, after: str = "") -> list[str]:
        """The command line that submits a head.

        Args:
            folder: the checkout.
            after: the head that it waits for; empty for the first one.
        """
        call = [sys.executable, "-m", "grokatlas.operate.head", json.dumps(asdict(self)), after]
        wait = [f"--dependency=afterany:{after}"] if after else []
        return [
            *("sbatch", "--parsable", f"--job-name={NAME}", f"--partition={self.partition}"),
            *(f"--time={self.minutes}", f"--signal=B:USR1@{self.lead}", f"--mem={MEMORY}"),
            *("--nodes=1", "--ntasks=1", "--cpus-per-task=1", "--no-requeue", "--export=ALL"),
            *(f"--chdir={folder.resolve()}", f"--output={LOG}", "--open-mode=append"),
            *(*self.extra, *wait),
            # until the head listens, the signal must not end it; exec: it is who gets the signal
            f"--wrap=trap '' USR1; exec {shlex.join(call)}",
        ]

    def submit(self, folder: Path, after: str = "") -> str:
        """Submit a head, and return its number.

        Raises:
            UserError: Slurm refuses it.
        """
        (folder / LOG).parent.mkdir(parents=True, exist_ok=True)
        said = slurm.ask(*self.sbatch(folder, after), hint=HINT, outside=True)
        return said.strip().partition(";")[0]


def order_of(text: str) -> Order:
    """The order that `Order.sbatch` wrote."""
    found = json.loads(text)
    lists = {key: tuple(found[key]) for key in ("extra", "options")}
    return Order(**{**found, **lists})


def queued(folder: Path, patience: float = slurm.PATIENCE) -> list[slurm.Queued]:
    """The heads of a checkout that wait, run or end; those that run come first."""
    found = [job for job in slurm.queue(folder, patience) if job.name == NAME]
    return sorted(found, key=lambda job: (job.state == "PENDING", int(job.id)))


def state(folder: Path) -> dict[str, Any]:
    """What the head before left: owner, seen, fruitless (see `operate.head`); empty at first."""
    try:
        found = files.read_json(folder / STATE)
    except UserError:
        return {}
    return found if isinstance(found, dict) else {}


def keep(folder: Path, content: dict[str, Any]) -> None:
    """Leave something to the next head."""
    files.write_json(folder / STATE, content)


def summary(folder: Path) -> str:
    """The heads of a checkout in one line; empty if there are none, or Slurm does not answer."""
    try:
        found = queued(folder, patience=5)
    except UserError:
        return ""
    told = [f"{job.id} ({job.state.lower()})" for job in found]
    return f"head jobs: {', '.join(told)}; log: {LOG}" if told else ""
