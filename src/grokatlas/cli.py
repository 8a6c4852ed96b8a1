"""Reproduce, audit and share figures on grokking.

``grokatlas ...`` is for people, ``python -m grokatlas ...`` for rules.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from grokatlas import __version__, cli_types, registry
from grokatlas.cli_commands import ABOUT, COMMANDS, GONE, GROUPS, JOBS, SECTIONS
from grokatlas.cli_types import Command
from grokatlas.declare import names
from grokatlas.errors import UserError, closest
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
        if "_ARGCOMPLETE" in os.environ:  # a shell asks for names
            _complete(parser)
        if first in ("", "help"):
            print(parser.format_help(), end="")
            return 0
        _check(first)
        options, rest = parser.parse_known_args(given)
        if rest and not options.command.passes_on:
            known = [name for one in options.command.arguments for name in one.names]
            hint = closest(rest[0], known) or f"see grokatlas {options.command.name} --help"
            raise UserError(f"grokatlas {options.command.name}", f"takes no {rest[0]}; {hint}")
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
    except (Exception, SystemExit) as error:
        mistake = component_errors.as_user_error(error)
        if mistake is None:
            raise
        print(mistake, file=sys.stderr)
        return failed


def _complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell that completes a command line, and end this process."""
    import argcomplete
    from argcomplete.completers import FilesCompleter

    files = FilesCompleter()

    def names_of(prefix: str, action: argparse.Action, **rest: Any) -> list[str]:
        known = names.of_kinds(getattr(action, "completes", ""))
        return [each for each in known if each.startswith(prefix)] or list(files(prefix, **rest))

    argcomplete.autocomplete(parser, default_completer=cast("Any", names_of))


def _check(first: str) -> None:
    """Refuse what is no command, naming the nearest one."""
    known = {command.name.partition(" ")[0] for command in COMMANDS}
    if first not in known and not first.startswith("-"):
        hint = closest(first, sorted(known))
        problem = f"no such command; {hint or '`grokatlas` alone lists them'}"
        raise UserError(f"grokatlas {first}", problem)


def _parser() -> argparse.ArgumentParser:
    helps = {command.name: command.help for command in COMMANDS} | GROUPS
    parser = cli_types.GroupedParser(prog="grokatlas", description=ABOUT)
    parser.sections = {title: {n: helps[n] for n in names} for title, names in SECTIONS.items()}
    parser.add_argument("--version", action="version", version=f"grokatlas {__version__}")
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


def _refuse_name(command: str, job: str) -> None:
    """Refuse the name of a figure where rules give a job file."""
    paper, _, figure = job.partition("/")
    if job.endswith(".json") or not names.is_paper(paper):
        return
    from grokatlas.declare.papers import load_papers  # a job of training needs no plan
    from grokatlas.plan import declared_jobs

    if figure in load_papers(names.PAPERS, [paper])[paper].figures:
        stem = layout.figure_stem(declared_jobs.scale() or layout.SCALES[-1], paper, figure)
        problem = "is no job file, which rules give this command"
        raise UserError(
            f"{command} {job}",
            f"{problem}; `snakemake {layout.outputs('figure', stem)[0]}` makes it",
        )


def _run(command: Command, options: argparse.Namespace) -> int:
    """Call the function behind a command, and print the text that it returns."""
    if command in JOBS and command.name != "atlas":
        _refuse_name(command.name, options.job.as_posix())
        options.out = options.out or layout.target_of(options.job)
    module, _, function = command.calls.partition(":")
    call = getattr(importlib.import_module(f"grokatlas.{module}"), function)
    result: int | str | Iterable[str] | None
    result = call(*(getattr(options, name) for name in options.destinations))
    if isinstance(result, int):
        return result
    for line in [result] if isinstance(result, str) else result or []:
        print(line)
    return 0
