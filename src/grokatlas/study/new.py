"""A new study: a folder that works at once, with one component, one figure, claims and a test."""

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import jinja2

from grokatlas import __version__, registry
from grokatlas.declare.model_base import NAME, NAME_RULE
from grokatlas.errors import UserError
from grokatlas.publish import config_reference
from grokatlas.results import files, revision
from grokatlas.study import shipped

TEMPLATE = Path(__file__).parent / "template"
SUFFIX = ".jinja"
PAPER = "PAPER"  # in names of the template: the paper of the study
HIDDEN = {"gitignore": ".gitignore"}
# variables that name another repository than that of a folder
REPOSITORY = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX")


def make(folder: Path) -> Iterator[str]:
    """Make the folder of a study, and tell what to do next, line by line.

    The folder names the study: ``my-study`` has the paper ``my_study``.
    """
    paper = folder.resolve().name.replace("-", "_").lower()
    _check(folder, paper)
    for file in registry.own_files(TEMPLATE, f"**/*{SUFFIX}"):
        name = file.relative_to(TEMPLATE).as_posix().removesuffix(SUFFIX)
        name = HIDDEN.get(name, name.replace(PAPER, paper))
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(filled(file, folder.resolve().name, paper), encoding="utf-8")
    shutil.copytree(shipped.part("profiles"), folder / "profiles")
    with contextlib.chdir(folder):  # where the components of the study are found
        for name, text in config_reference.texts().items():
            files.write_text(Path("config", name), text)
    repository, left = _versioned(folder)
    yield f"made {folder}{repository}. Now:"
    yield f"    cd {folder}"
    yield from (f"    {command}   # results name the commit" for command in left)
    yield "    snakemake --profile profiles/workstation --config scale=smoke"
    yield "    snakemake --profile profiles/workstation"


def _versioned(folder: Path) -> tuple[str, list[str]]:
    """Put a new study into a git repository of its own, unless it is within one.

    Returns:
        what was done, and the commands that are left to the user: to commit, where it is within
        another repository, or where git does not know who commits.
    """
    place = folder.resolve()
    commit = "git commit -m 'A new study'"
    if outer := next((parent for parent in place.parents if (parent / ".git").exists()), None):
        return f" in the repository {outer}", [f"git add . && {commit}"]
    try:
        _git(place, "init", "--quiet")
        _git(place, "add", ".")
    except (OSError, subprocess.SubprocessError):
        return ", in no repository, as git failed", [f"git init && git add . && {commit}"]
    try:
        _git(place, "-c", "commit.gpgsign=false", "commit", "--quiet", "-m", "A new study")
    except (OSError, subprocess.SubprocessError):
        return " with a git repository", [commit]
    return " with a git repository and its first commit", []


def _git(folder: Path, *arguments: str) -> None:
    """Run git in a folder, whatever repository variables name."""
    named = {key: value for key, value in os.environ.items() if key not in REPOSITORY}
    command = ["git", *arguments]
    subprocess.run(
        command, cwd=folder, env=named, capture_output=True, check=True, timeout=revision.PATIENCE
    )


def _check(folder: Path, paper: str) -> None:
    if not re.fullmatch(NAME, paper):
        raise UserError(str(folder), f"{paper!r} is not a name for a paper: {NAME_RULE}")
    if (registry.PACKAGE / "papers" / paper).exists():
        problem = f"grokatlas has a paper {paper!r}; give the study another name"
        raise UserError(str(folder), problem)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(str(folder), "is there and not empty; give a new folder")
    registry.refuse_inside_package(folder)


def filled(file: Path, folder: str, paper: str) -> str:
    """A file of the template with the names of a study."""
    major, minor = __version__.split(".")[:2]
    template = jinja2.Template(
        file.read_text(encoding="utf-8"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    return template.render(
        folder=folder, paper=paper, version=__version__, next_version=f"{major}.{int(minor) + 1}"
    )
