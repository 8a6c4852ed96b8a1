"""Reproduce, audit and share figures on grokking.

``grokatlas ...`` is for people, ``python -m grokatlas ...`` for rules.
"""

import argparse
import importlib
import sys
from collections.abc import Iterable
from pathlib import Path

from grokatlas import cli_types, registry
from grokatlas.audit.command_line import AUDIT, DRY_RUN, RESULTS
from grokatlas.cli_types import Command, argument
from grokatlas.errors import UserError
from grokatlas.plan import which_code
from grokatlas.results import environment, layout
from grokatlas.rules.jobs import component_errors, devices


def main(given: list[str] | None = None) -> int:
    """Run one command; a user's mistake becomes one line on stderr and exit code 1.

    The code is 2 where 1 says that two things differ, and for what is no command.
    """
    failed = 1
    try:
        if given is None:
            which_code.run_that_of(Path(), sys.argv[1:])
            registry.check_study()
        first = next(iter(sys.argv[1:] if given is None else given), "")
        if first in GONE:
            raise UserError(f"grokatlas {first}", f"is no longer a command; {GONE[first]}")
        failed = 2  # argparse's own, for a command line that means nothing
        parser = _parser()
        options, rest = parser.parse_known_args(given)
        if rest and not options.command.passes_on:
            parser.error(f"unrecognized arguments: {' '.join(rest)}")
        options.rest = rest
        failed = 1 + options.command.compares
        if given is None and hasattr(options, "job"):
            environment.compute_in_full()
            devices.use_threads(getattr(options, "threads", 1))
        return _run(options.command, options)
    except UserError as error:
        print(component_errors.as_user_error(error), file=sys.stderr)
        return error.code or failed
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return failed
    except Exception as error:
        mistake = component_errors.as_user_error(error)
        if mistake is None:
            raise
        print(mistake, file=sys.stderr)
        return failed


ABOUT = "Reproduce, audit and share figures on grokking."
# commands of earlier versions, and what to use instead
GONE = {"rulegraph": "use `snakemake --rulegraph mermaid-js --forceall --config scale=paper`"}
SCALE = argument("--scale", choices=layout.SCALES, help="default: configured")
MADE = argument("--scale", choices=layout.SCALES, help="default: the one that was made")
STORE = argument("--store", type=Path, metavar="DIR", help="default: as configured")
JOB_FILE = "the job file that the plan wrote (spec.json)"
OUT = argument("--out", type=Path, help="folder, or path without suffix (default: beside)")
JOB = (argument("job", type=Path, help=JOB_FILE), OUT)
TRAIN = (
    argument(
        "--device",
        type=cli_types.device,
        default="auto",
        variable="GROKATLAS_DEVICE",
        help="auto, cpu or cuda (default: GROKATLAS_DEVICE, else auto)",
    ),
    argument("--threads", type=cli_types.threads, default=1, help="CPU threads (default 1)"),
    argument(
        "--save-every",
        type=cli_types.seconds,
        metavar="SECONDS",
        default="300",
        variable="GROKATLAS_SAVE_EVERY",
        help="seconds between two saves of a run's state (default 300)",
    ),
)
ATLAS = (
    argument("job", type=Path, nargs="?", help=JOB_FILE),
    OUT,
    argument("--partial", action="store_true", help="with a job: from the results that exist"),
    SCALE,
)

JOBS = (
    Command("dataset", "rules.dataset:execute", "make the data set of a job file", JOB),
    Command("train", "rules.train:main", "train the run of a spec.json", (*JOB, *TRAIN)),
    Command("measure", "rules.measure:execute", "compute a measure of a run", JOB),
    Command("table", "rules.table:execute", "join the table of an experiment", JOB),
    Command("figure", "rules.figure:execute", "draw a figure", JOB),
    Command("claims", "rules.claims:execute", "judge the claims of a scale", JOB),
    Command(
        "atlas",
        "rules.atlas:main",
        "write the pages of a scale; without job: from the results that exist",
        ATLAS,
    ),
)

RUNS = (
    Command("plan", "plan.remaining:main", "write all job files of a scale; run nothing", (SCALE,)),
    Command(
        "try",
        "study.trial.command:main",
        "an experiment with other values, apart from all that is declared",
        (
            argument("name", metavar="PAPER/EXPERIMENT"),
            argument(
                "--set",
                dest="given",
                action="append",
                required=True,
                metavar="PATH=VALUES",
                help="such as optimizer.lr=3e-3,1e-2; may be given again",
            ),
            SCALE,
        ),
    ),
    Command(
        "show",
        "runs.show:run",
        "show a run: its spec and its state",
        (argument("name", metavar="RUN", help="run id, or the first digits of one"),),
    ),
    Command(
        "status",
        "runs.command:status",
        "the runs that figures need, renewed while you look: how far each is",
        (SCALE, argument("--once", action="store_true", help="plain text, once")),
    ),
    Command(
        "runs",
        "runs.command:main",
        "find runs by their fields: optimizer.lr=1e-3 task.name=mnist 'train.steps>=1000'",
        (
            argument(
                "conditions",
                metavar="FIELD=VALUE",
                nargs="*",
                help="any dotted field of a spec, or id, state, paper, experiment, device, host, "
                "made and others; also != < <= > >= (in quotes), a list a,b or a pattern *a*",
            ),
            argument("--scale", choices=layout.SCALES, help="declared at it (default: any)"),
            argument("--state", metavar="STATES", help="such as stale (default: not waiting)"),
            argument("--show", metavar="FIELDS", help="columns of further fields, such as seed"),
            argument("--json", action="store_true", help="a list of objects, for programs"),
            RESULTS,
            STORE,
        ),
    ),
    Command(
        "doctor",
        "cluster.doctor.report:main",
        "before a long run: what may go wrong, what it will take",
        (
            SCALE,
            argument(
                "--submit",
                action="store_true",
                help="also try a GPU with a small job on the cluster",
            ),
        ),
    ),
    Command(
        "submit",
        "cluster.submit:main",
        "on a cluster: the workflow in jobs of its own; takes Snakemake's options too",
        (
            argument("--time", help="limit of one job (default: the partition's)"),
            argument("--partition", metavar="NAME", help="of these jobs (default: Slurm's)"),
        ),
        passes_on=True,
    ),
    Command(
        "unlock",
        "cluster.unlock:main",
        "after a killed Snakemake: cancel its jobs, remove its lock",
    ),
)

EXPORT = (
    Command(
        "pack",
        "export.archive:pack",
        "write the results of a scale, with all behind them, as one file",
        (
            argument("out", metavar="OUT", type=Path, help="a path that ends in .zip"),
            MADE,
            argument(
                "--tables-only", action="store_true", help="no runs and data, only their manifests"
            ),
        ),
    ),
    Command(
        "adopt",
        "export.adoption:adopt",
        "unpack such a file into results, checked",
        (
            argument("archive", metavar="ARCHIVE", type=Path),
            argument("--replace", action="store_true", help="overwrite results that differ"),
        ),
    ),
    Command(
        "crate",
        "export.ro_crate:write",
        "write the results of a scale as a Workflow Run RO-Crate",
        (argument("out", metavar="OUT", type=Path, help="a path that ends in .zip"), MADE),
    ),
)

GROUPS = {"store": "the run store: finished runs that several checkouts share"}
RUN_STORE = (
    Command("store ls", "run_store.command:ls", "list its runs, last used first", (STORE,)),
    Command(
        "store add",
        "run_store.command:add",
        "put finished runs into it",
        (STORE, argument("folders", metavar="RUN", nargs="+", type=Path, help="folder of a run")),
    ),
    Command(
        "store gc",
        "run_store.command:gc",
        "remove runs that are not needed, and leftovers",
        (
            STORE,
            argument(
                "--unused", type=cli_types.number, metavar="DAYS", help="runs not used for so long"
            ),
            argument(
                "--keep",
                type=cli_types.size,
                metavar="SIZE",
                help="then the longest unused, until SIZE is left",
            ),
            argument("--stale", action="store_true", help="runs that this checkout does not plan"),
            DRY_RUN,
        ),
    ),
)

PUBLISH = (
    Command(
        "reference",
        "publish.config_reference:main",
        "renew what docs and config/README.md repeat of the configuration",
        (
            argument("folder", type=Path, nargs="?", default=Path("config")),
            argument("--check", action="store_true", help="write nothing, fail where one is stale"),
        ),
    ),
    Command(
        "record",
        "publish.pages:record",
        "keep evidence, figures and verdicts of a scale in recorded/, renew docs/papers",
        (
            argument("--scale", choices=layout.SCALES, required=True),
            argument(
                "experiments",
                metavar="PAPER/EXPERIMENT",
                nargs="*",
                help="these alone (default: every one that is made)",
            ),
        ),
    ),
    Command(
        "recorded",
        "publish.experiments:state_as_text",
        "what recorded/ holds, and what this checkout would make otherwise",
        (argument("--scale", choices=layout.SCALES, help="default: all"),),
    ),
    Command(
        "restore",
        "publish.restored:main",
        "unpack recorded results, redraw figures and pages",
        (
            argument("--scale", choices=layout.SCALES, default="paper", help="default: paper"),
            argument("--replace", action="store_true", help="overwrite results that differ"),
        ),
    ),
)

FOLDER = argument("folder", metavar="FOLDER", type=Path, help="such as my-study")
NAMES = argument("names", metavar="COMPONENT", nargs="*", help="these alone (default: all)")
STUDY = (
    Command("new", "study.new:make", "make a study of your own: a folder that works", (FOLDER,)),
    Command("check-components", "study.check:main", "run conformance checks on them", (NAMES,)),
)


# the commands by what a user wants; those that rules call come last, in one line
SECTIONS = {
    "make results": ("doctor", "submit", "unlock", "try", "plan"),
    "look at them": ("status", "runs", "show", "atlas"),
    "audit them": ("verify", "explain", "diff", "compare", "accept", "prune"),
    "hand them on": ("pack", "adopt", "crate", "store"),
    "use and keep evidence": ("restore", "record", "recorded", "reference"),
    "make a study of your own": ("new", "check-components"),
}
COMMANDS = (*JOBS, *RUNS, *AUDIT, *EXPORT, *RUN_STORE, *PUBLISH, *STUDY)


def _parser() -> argparse.ArgumentParser:
    helps = {command.name: command.help for command in COMMANDS} | GROUPS
    parser = cli_types.GroupedParser(prog="grokatlas", description=ABOUT)
    parser.sections = {title: {n: helps[n] for n in names} for title, names in SECTIONS.items()}
    parser.others = "called by rules: " + ", ".join(job.name for job in JOBS if job.name != "atlas")
    commands = parser.add_subparsers(
        required=True, metavar="COMMAND", parser_class=argparse.ArgumentParser
    )
    groups = {}
    for command in COMMANDS:
        group, _, name = command.name.rpartition(" ")
        if group and group not in groups:
            added = commands.add_parser(group, help=GROUPS[group], description=GROUPS[group])
            groups[group] = added.add_subparsers(required=True, metavar="COMMAND")
        adder = groups[group] if group else commands
        added = adder.add_parser(name, help=command.help, description=command.help)
        destinations = [argument.add_to(added) for argument in command.arguments]
        destinations += ["rest"] * command.passes_on
        added.set_defaults(command=command, destinations=destinations)
    return parser


def _run(command: Command, options: argparse.Namespace) -> int:
    """Call the function behind a command, and print the text that it returns."""
    if command in JOBS and command.name != "atlas" and options.out is None:
        options.out = layout.target_of(options.job)
    module, _, function = command.calls.partition(":")
    call = getattr(importlib.import_module(f"grokatlas.{module}"), function)
    result: int | str | Iterable[str] | None
    result = call(*(getattr(options, name) for name in options.destinations))
    if isinstance(result, int):
        return result
    for line in [result] if isinstance(result, str) else result or []:
        print(line)
    return 0
