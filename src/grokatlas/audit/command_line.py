"""The commands that audit results, as the command line has them."""

from pathlib import Path

from grokatlas.cli_types import Command, argument

JSON = argument("--json", action="store_true", dest="as_json", help="for programs")
RESULTS = argument("--results", type=Path, default=Path("results"), metavar="DIR")
DRY_RUN = argument("--dry-run", action="store_true", help="only list what would be removed")

AUDIT = (
    Command(
        "verify",
        "audit.commands:verify",
        "re-hash results and walk to their origin",
        (
            argument(
                "paths",
                metavar="PATH",
                nargs="*",
                help="start here (default: everything)",
                completes="results",
            ),
            RESULTS,
            argument("--json", metavar="FILE", help="write a receipt; - prints it"),
            argument("--strict", action="store_true", help="list accepted results and exit 1"),
        ),
    ),
    Command(
        "explain",
        "audit.commands:explain",
        "the tree behind a figure, table or run; verdicts on a claim; what is stale",
        (
            argument(
                "name",
                metavar="NAME",
                nargs="?",
                help="path, paper/figure, run, claim, or any pdf; with --stale alone: everything",
                completes="results claims",
            ),
            RESULTS,
            argument("--values", action="store_true", help="also where each column comes from"),
            argument(
                "--stale",
                action="store_true",
                help="what would be made again now, why, and by which command",
            ),
            JSON,
        ),
    ),
    Command(
        "diff",
        "audit.commands:diff",
        "what differs between two figures, tables, runs or trees",
        (
            argument("first", metavar="A", completes="results"),
            argument("second", metavar="B", completes="results"),
            RESULTS,
        ),
        compares=True,
    ),
    Command(
        "compare",
        "publish.compare.command:main",
        "figures and claims of two branches or results folders, side by side",
        (
            argument("first", metavar="A", help="branch, commit or results folder: before"),
            argument("second", metavar="B", help="after"),
            argument("--markdown", type=Path, metavar="FILE", help="append it with pictures"),
            argument("--pictures", metavar="URL", help="for it: where files of commits are"),
        ),
        compares=True,
    ),
    Command(
        "accept",
        "audit.accept:accept",
        "keep results after a change of code proven neutral",
        (
            argument(
                "paths",
                metavar="PATH",
                nargs="+",
                help="path, paper/figure or run id",
                completes="results",
            ),
            RESULTS,
            argument("--reason", required=True, help="why the change is neutral"),
        ),
    ),
    Command(
        "prune", "runs.prune:prune", "remove what no paper declares, and leftovers", (DRY_RUN,)
    ),
)
