"""The commands of the command line: what each is called with, and the function behind it."""

from pathlib import Path

from grokatlas import cli_types, registry
from grokatlas.audit.command_line import AUDIT, DRY_RUN, JSON, RESULTS
from grokatlas.cli_types import Command, argument
from grokatlas.results import layout

ABOUT = "Reproduce, audit and share figures on grokking."
# commands of earlier versions, and what to use instead
GONE = {"rulegraph": "use `snakemake --rulegraph mermaid-js --forceall --config scale=paper`"}
SCALE = argument("--scale", choices=layout.SCALES, help="default: configured")
MADE = argument("--scale", choices=layout.SCALES, help="default: the one that was made")
QUICK = argument("--scale", choices=layout.SCALES, default="quick", help="default: quick")
REPLACE = argument("--replace", action="store_true", help="overwrite results that differ")
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
    Command("train", "rules.train:execute", "train the run of a spec.json", (*JOB, *TRAIN)),
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
            argument("name", metavar="PAPER/EXPERIMENT", completes="experiments"),
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
        "runs.show:main",
        "a run's state and spec; a figure's or table's state, runs and claims; a claim",
        (
            argument(
                "name",
                metavar="NAME",
                help="first digits of a run, paper/figure, paper/experiment or a claim's id",
                completes="results claims experiments",
            ),
            SCALE,
        ),
    ),
    Command(
        "status",
        "runs.command:status",
        "the runs that figures need, renewed while you look: how far each is",
        (SCALE, argument("--once", action="store_true", help="plain text, once"), JSON),
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
            JSON,
            RESULTS,
            STORE,
            argument("--csv", type=Path, metavar="DIR", help="write a csv of each member's log"),
            argument(
                "--tensorboard",
                type=Path,
                metavar="DIR",
                help="write its event files (needs the extra tensorboard)",
            ),
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
        (argument("archive", metavar="ARCHIVE", type=Path), REPLACE),
    ),
    Command(
        "crate",
        "export.ro_crate:write",
        "write the results of a scale as a Workflow Run RO-Crate",
        (argument("out", metavar="OUT", type=Path, help="a path that ends in .zip"), MADE),
    ),
)

GROUPS = {
    "store": "the run store: finished runs that several checkouts share",
    "benchmark": "a fair comparison of what hastens generalisation: enter a method",
}
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
        "report",
        "publish.report:main",
        "a paper's reproducibility report, in Markdown, LaTeX and PDF",
        (
            argument("paper", metavar="PAPER", help="its name in config/papers"),
            argument("--form", metavar="FORM", default="mlrc", help="mlrc (default) or rescience"),
            argument("--letter", action="store_true", help="a page for the paper's authors"),
            argument("--out", type=Path, metavar="DIR", default="reports", help="default: reports"),
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
            REPLACE,
        ),
    ),
)

FOLDER = argument("folder", metavar="FOLDER", type=Path, help="such as my-study")
NAMES = argument("names", metavar="COMPONENT", nargs="*", help="these alone (default: all)")
KIND = argument(
    "kind",
    metavar="KIND",
    nargs="?",
    help=f"{', '.join(registry.FOLDERS)} (default: all)",
    completes="kinds",
)
STUDY = (
    Command("new", "study.new:make", "make a study of your own: a folder that works", (FOLDER,)),
    Command(
        "cite",
        "study.cite:main",
        "BibTeX: the software and the papers, or a figure with its runs and versions",
        (argument("name", metavar="FIGURE", nargs="?", completes="results"), RESULTS),
    ),
    Command("components", "study.components:main", "what there is, with its keywords", (KIND,)),
    Command("check-components", "study.check:main", "run conformance checks on them", (NAMES,)),
)

BENCHMARK = (
    Command(
        "benchmark add",
        "study.benchmark.command:add",
        "train the methods of a file, judge them among the recorded rows, pack a submission",
        (
            argument("file", metavar="FILE", type=Path, help="such as my_method.yaml"),
            argument("--tasks", metavar="TASKS", help="such as xor,sparse (default: all)"),
            QUICK,
            argument("--folder", type=Path, metavar="DIR", help="default: benchmark-FILE"),
            argument("--dry-run", action="store_true", help="say how long it takes; train nothing"),
        ),
    ),
    Command(
        "benchmark check",
        "study.benchmark.command:check",
        "verify a submission down to its runs, and compute its row anew",
        (argument("file", metavar="FILE", type=Path, help="such as submission.zip"),),
    ),
    Command(
        "benchmark page",
        "study.benchmark.command:write_page",
        "write the table of all rows",
        (
            argument("out", metavar="OUT", type=Path, help="such as benchmark.html"),
            QUICK,
            argument(
                "--rows",
                dest="further",
                type=Path,
                nargs="+",
                action="extend",
                default=[],
                metavar="FILE",
                help="rows.csv of further entries",
            ),
        ),
    ),
)


# the commands by what a user wants; those that rules call are in none
SECTIONS = {
    "make results": ("doctor", "submit", "unlock", "try", "plan"),
    "look at them": ("status", "runs", "show", "atlas"),
    "audit them": ("verify", "explain", "diff", "compare", "accept", "prune"),
    "hand them on": ("pack", "adopt", "crate", "store", "cite", "report"),
    "use and keep evidence": ("restore", "record", "recorded", "reference"),
    "make a study of your own": ("new", "components", "check-components", "benchmark"),
}
COMMANDS = (*JOBS, *RUNS, *AUDIT, *EXPORT, *RUN_STORE, *PUBLISH, *STUDY, *BENCHMARK)
