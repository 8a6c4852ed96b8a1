"""This checkout: its folders, what its papers declare; programs, and processes in any folder."""

import functools
import subprocess
import sys
from pathlib import Path

from grokatlas.declare.models import Paper
from grokatlas.declare.papers import load_papers
from grokatlas.plan.graph import make_plan
from grokatlas.plan.jobs import Plan

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "config"


@functools.cache
def declared_papers(*names: str) -> dict[str, Paper]:
    """The declared papers: all, or these with what they draw of others. Do not change them."""
    return load_papers(CONFIG / "papers", list(names) or "all")


@functools.cache
def declared_plan(scale: str) -> Plan:
    """The plan of all declared papers. Do not change it."""
    return make_plan(declared_papers(), scale)


def program(path: Path, text: str) -> Path:
    """A script that can be run, of the shell where its text names no other program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def called(
    *command: str | Path,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    check: bool = False,
) -> subprocess.CompletedProcess[str]:
    """A finished process with what it printed.

    Args:
        command: program and arguments.
        cwd: its working directory.
        env: all of its environment.
        check: raise an error where it fails.
    """
    return subprocess.run([*command], cwd=cwd, env=env, capture_output=True, text=True, check=check)


def python(*arguments: str | Path, **keywords) -> subprocess.CompletedProcess[str]:
    """A finished Python, as `called` has it."""
    return called(sys.executable, *arguments, **keywords)


def imported(code: str, *names: str) -> set[str]:
    """The modules, of these, that a new Python has imported when it has run some code."""
    done = python("-c", f"{code}; import sys; print(); print(*sys.modules)", check=True)
    return {*names} & {*done.stdout.splitlines()[-1].split()}
