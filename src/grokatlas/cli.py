"""``grokatlas ...`` for people, ``python -m grokatlas ...`` for rules."""

import argparse
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from grokatlas import cli_types
from grokatlas.errors import UserError
from grokatlas.plan import which_code
from grokatlas.rules import devices


def main(given: list[str] | None = None) -> int:
    """Run one command; a user's mistake becomes one line on stderr and exit code 1."""
    try:
        if given is None:
            which_code.run_that_of(Path(), sys.argv[1:])
        options = _parser().parse_args(given)
        if given is None and hasattr(options, "job"):
            devices.use_threads(getattr(options, "threads", 1))
        code: int | None = options.run(options)
    except UserError as error:
        print(error, file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 1
    return code or 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="grokatlas", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: object, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        return added

    _add_jobs(command)
    _add_runs(command)
    _add_audit(command)
    _add_handing_on(command)
    _add_store(command)

    config_reference = command(
        "reference", _reference, "renew what docs and config/README.md repeat of the configuration"
    )
    config_reference.add_argument("folder", type=Path, nargs="?", default=Path("config"))

    record = command(
        "record", _record, "take figures and verdicts of a scale into docs/papers, renew the pages"
    )
    record.add_argument("--scale", choices=["smoke", "quick", "paper"], required=True)
    return parser


def _add_jobs(command: Callable[[str, object, str], argparse.ArgumentParser]) -> None:
    """The commands that rules call."""
    dataset = command("dataset", partial(_job, "make_dataset"), "make the data set of a job file")
    train = command("train", _train, "train the run of a spec.json")
    measure = command("measure", partial(_job, "measure"), "compute a measure of a run")
    table = command("table", partial(_job, "table"), "join the table of an experiment")
    figure = command("figure", partial(_job, "figure"), "draw a figure")
    claims = command("claims", _claims, "judge the claims of a scale")
    atlas = command("atlas", _atlas, "write the pages of a scale; without job: from what is there")
    for job in (dataset, train, measure, table, figure, claims, atlas):
        count = "?" if job is atlas else None
        text = "the job file that the plan wrote (spec.json)"
        job.add_argument("job", type=Path, nargs=count, help=text)
        job.add_argument(
            "--out", type=Path, help="folder, or path without suffix (default: beside)"
        )
    atlas.add_argument("--partial", action="store_true", help="with a job: from what is there")
    atlas.add_argument("--scale", choices=["smoke", "quick", "paper"], help="default: configured")
    device = os.environ.get("GROKATLAS_DEVICE", "auto")
    train.add_argument(
        "--device",
        type=cli_types.device,
        default=device,
        help="auto, cpu or cuda (default: GROKATLAS_DEVICE, else auto)",
    )
    train.add_argument(
        "--save-every",
        type=cli_types.seconds,
        metavar="SECONDS",
        default=os.environ.get("GROKATLAS_SAVE_EVERY", "300"),
        help="seconds between two saves of a run's state (default 300)",
    )
    train.add_argument(
        "--threads", type=cli_types.threads, default=1, help="CPU threads (default 1)"
    )


def _add_runs(command: Callable[[str, object, str], argparse.ArgumentParser]) -> None:
    """The commands that tell of runs, and of a Snakemake that was killed."""
    plan = command("plan", _plan, "write every job file of a scale, and run nothing")
    plan.add_argument("--scale", choices=["smoke", "quick", "paper"], help="default: configured")

    show = command("show", _show, "show a run: its spec and its state")
    show.add_argument("name", metavar="RUN", help="run id, or the first digits of one")

    status = command("status", _status, "the table of runs: waiting, running, done, failed")
    status.add_argument("--scale", choices=["smoke", "quick", "paper"], help="default: configured")
    status.add_argument("--once", action="store_true", help="plain text, once")

    doctor = command("doctor", _doctor, "before a long run: what may go wrong, what it will take")
    doctor.add_argument("--scale", choices=["smoke", "quick", "paper"], help="default: configured")
    doctor.add_argument(
        "--submit", action="store_true", help="also try a GPU with a small job on the cluster"
    )

    command("unlock", _unlock, "after a killed Snakemake: cancel its jobs, remove its lock")


def _add_audit(command: Callable[[str, object, str], argparse.ArgumentParser]) -> None:
    """The commands of the audit."""
    verify = command("verify", _verify, "re-hash results and walk to their origin")
    verify.add_argument("paths", metavar="PATH", nargs="*", help="start here (default: everything)")
    verify.add_argument("--json", metavar="FILE", help="write a receipt; - prints it")
    verify.add_argument("--strict", action="store_true", help="list accepted results and exit 1")

    explain = command("explain", _explain, "the tree behind a figure, table or run")
    explain.add_argument("name", metavar="FIGURE", help="path, paper/figure, run id, or any pdf")
    explain.add_argument("--values", action="store_true", help="also where each column comes from")

    diff = command("diff", _diff, "what differs between two figures, tables, runs or trees")
    diff.add_argument("first", metavar="A")
    diff.add_argument("second", metavar="B")

    accept = command("accept", _accept, "keep results after a change of code proven neutral")
    accept.add_argument("paths", metavar="PATH", nargs="+", help="path, paper/figure or run id")
    accept.add_argument("--reason", required=True, help="why the change is neutral")

    prune = command("prune", _prune, "remove results that no paper declares, and leftovers")
    prune.add_argument("--dry-run", action="store_true", help="only tell what would be removed")

    for audit in (verify, explain, diff, accept):
        audit.add_argument("--results", type=Path, default=Path("results"), metavar="DIR")


def _add_handing_on(command: Callable[[str, object, str], argparse.ArgumentParser]) -> None:
    """The commands that hand results on."""
    pack = command("pack", _pack, "write the results of a scale, with all behind them, as one file")
    pack.add_argument("out", metavar="OUT", type=Path, help="a path that ends in .tar.gz or .zip")
    pack.add_argument(
        "--tables-only", action="store_true", help="no runs and data, only their manifests"
    )
    adopt = command("adopt", _adopt, "unpack such a file into results, checked")
    adopt.add_argument("archive", metavar="ARCHIVE", type=Path)
    adopt.add_argument("--replace", action="store_true", help="overwrite results that differ")
    ro_crate = command("crate", _crate, "write the results of a scale as a Workflow Run RO-Crate")
    ro_crate.add_argument("out", metavar="OUT", type=Path, help="a path that ends in .zip")
    for handed_on in (pack, ro_crate):
        handed_on.add_argument(
            "--scale", choices=["smoke", "quick", "paper"], help="default: the one that was made"
        )


def _add_store(command: Callable[[str, object, str], argparse.ArgumentParser]) -> None:
    """The commands of the run store."""
    files = command("store", None, "the run store: finished runs that several checkouts share")
    commands = files.add_subparsers(required=True, metavar="COMMAND")

    def part(name: str, run: object, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        added.add_argument("--store", type=Path, metavar="DIR", help="default: as configured")
        return added

    part("ls", _store_ls, "list its runs, last used first")
    add = part("add", _store_add, "put finished runs into it")
    add.add_argument("folders", metavar="RUN", nargs="+", type=Path, help="folder of a run")
    gc = part("gc", _store_gc, "remove runs that are not needed, and leftovers")
    gc.add_argument(
        "--unused", type=cli_types.number, metavar="DAYS", help="runs not used for so long"
    )
    gc.add_argument(
        "--keep",
        type=cli_types.size,
        metavar="SIZE",
        help="then the longest unused, until SIZE is left",
    )
    gc.add_argument("--stale", action="store_true", help="runs that this checkout does not plan")
    gc.add_argument("--dry-run", action="store_true", help="only tell what would be removed")


def _target(options: argparse.Namespace) -> Path:
    """Where a job's results go: beside its job file, unless told otherwise."""
    from grokatlas.results import files

    target: Path = options.out or files.target_of(options.job)
    return target


def _job(function: str, options: argparse.Namespace) -> None:
    """The job that a function of `jobs` does."""
    from grokatlas.rules import jobs

    getattr(jobs, function)(options.job, _target(options))


def _train(options: argparse.Namespace) -> None:
    from grokatlas.rules import jobs

    how = (options.device, options.threads, options.save_every)
    jobs.train(options.job, _target(options), *how, last=True)


def _claims(options: argparse.Namespace) -> None:
    from grokatlas.rules import summaries

    summaries.claims(options.job, _target(options))


def _atlas(options: argparse.Namespace) -> None:
    from grokatlas.rules import summaries

    if options.job is not None and not options.partial:
        out: Path | None = options.out
        taken = out is not None and out.exists() and not (out / "index.html").is_file()
        if out and taken and (not out.is_dir() or any(out.iterdir())):
            problem = f"{out} holds something else, which the pages would replace"
            raise UserError("--out", f"{problem}; give a new folder")
        summaries.atlas(options.job, _target(options))
        return
    if options.out is not None:
        problem = "is for a job file without --partial; leave it out, and copy the folder"
        raise UserError("--out", f"{problem} of the page that is printed")
    print(summaries.from_what_is_there(options.job or summaries.planned(options.scale)))


def _plan(options: argparse.Namespace) -> None:
    from grokatlas.plan import remaining
    from grokatlas.results import files

    want = remaining.at(options.scale)
    count = len(want.project.prepare(want.plan.scale).jobs)
    print(f"{count} job files of scale {want.plan.scale} are in {files.RESULTS}")


def _show(options: argparse.Namespace) -> None:
    from grokatlas.operate import show

    print(show.run(options.name))


def _status(options: argparse.Namespace) -> None:
    from grokatlas.operate import display

    if options.once or not sys.stdout.isatty():
        print(display.text(options.scale))
    else:
        display.watch(options.scale)


def _doctor(options: argparse.Namespace) -> int:
    from grokatlas.operate.doctor import report

    states = set()
    for finding in report.findings_of(options.scale, options.submit):
        print(finding, flush=True)
        states.add(finding.state)
    return 1 if "fail" in states else 0


def _unlock(_: argparse.Namespace) -> None:
    from grokatlas.operate import unlock

    print(unlock.clear(Path()))


def _verify(options: argparse.Namespace) -> int:
    from grokatlas.audit import commands

    return commands.verify(options.paths, options.results, options.json, options.strict)


def _explain(options: argparse.Namespace) -> int:
    from grokatlas.audit import commands

    return commands.explain(options.name, options.results, options.values)


def _diff(options: argparse.Namespace) -> int:
    from grokatlas.audit import commands

    return commands.diff(options.first, options.second, options.results)


def _accept(options: argparse.Namespace) -> int:
    from grokatlas.audit import commands

    return commands.accept(options.paths, options.results, options.reason)


def _prune(options: argparse.Namespace) -> None:
    from grokatlas.operate import prune

    for line in prune.prune(options.dry_run):
        print(line)


def _pack(options: argparse.Namespace) -> None:
    from grokatlas.export import archive

    print(archive.pack(options.out, options.scale, options.tables_only))


def _adopt(options: argparse.Namespace) -> None:
    from grokatlas.export import archive

    print(archive.adopt(options.archive, options.replace))


def _crate(options: argparse.Namespace) -> None:
    from grokatlas.export import ro_crate

    print(ro_crate.write(options.out, options.scale))


def _store_ls(options: argparse.Namespace) -> None:
    from grokatlas.operate import store as store_commands

    print(store_commands.listing(store_commands.root(options.store)))


def _store_add(options: argparse.Namespace) -> int:
    from grokatlas.operate import store as store_commands

    return store_commands.add(store_commands.root(options.store), options.folders)


def _store_gc(options: argparse.Namespace) -> None:
    from grokatlas.operate import store as store_commands

    root = store_commands.root(options.store)
    limits = (options.unused, options.keep, options.stale)
    for line in store_commands.gc(root, *limits, options.dry_run):
        print(line)


def _record(options: argparse.Namespace) -> None:
    from grokatlas.publish import pages, recorded

    folder = Path("docs") / "papers"
    for line in recorded.take(options.scale, folder):
        print(line)
    pages.write(Path("config"), folder)


def _reference(options: argparse.Namespace) -> None:
    from grokatlas.publish import config_reference, pages

    pages.write(options.folder, options.folder.parent / "docs" / "papers")  # refuses other folders
    config_reference.write(options.folder)
