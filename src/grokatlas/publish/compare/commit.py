"""The files of one commit, read from git's store: the working tree is neither used nor changed."""

import subprocess
from pathlib import Path

from grokatlas.errors import UserError, closest
from grokatlas.results import revision


class Commit:
    """A commit of the checkout in the working directory, by any name that git resolves to one.

    Its `title` is its short id, date and subject.
    """

    def __init__(self, name: str) -> None:
        try:
            sha = _git("rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
        except subprocess.CalledProcessError as error:
            raise UserError(name, _why_unknown(name, error)) from None
        self.sha = sha.decode().strip()
        shown = _git("show", "--no-patch", "--format=%h of %cs: %s", self.sha)
        self.title = shown.decode("utf-8", "replace").strip()

    def files(self, *folders: str) -> dict[str, str]:
        """The files below some folders: the id of each one's contents, by its path."""
        lines = _git("ls-tree", "-r", "-z", "--full-tree", self.sha, "--", *folders)
        entries = [line.partition("\t") for line in lines.decode("utf-8", "replace").split("\0")]
        return {path: about.split()[2] for about, _, path in entries if " blob " in about}

    @staticmethod
    def read(contents: str) -> bytes:
        """The contents that have an id; an error if this clone does not hold them."""
        try:
            return _git("cat-file", "blob", contents)
        except subprocess.CalledProcessError:
            problem = "are not in this clone; `git fetch` brings them"
            raise UserError(contents[:12], f"contents that a commit names {problem}") from None


def _git(*arguments: str) -> bytes:
    """The output of git, or an error if it is not here; it may refuse by `CalledProcessError`."""
    try:
        return revision.git(Path.cwd() if Path(".git").exists() else None, *arguments)
    except FileNotFoundError:
        raise UserError("git", "is not installed here, and a commit is read by it") from None
    except subprocess.TimeoutExpired:
        raise UserError("git", f"did not answer within {revision.PATIENCE:.0f} s") from None


def _why_unknown(name: str, error: subprocess.CalledProcessError) -> str:
    """The reason why git resolves a name to no commit, and what to give instead."""
    said = error.stderr.decode("utf-8", "replace")
    if "not a git repository" in said:
        return "is no results folder, and there is no git repository here in which it is a branch"
    names = _git("for-each-ref", "--format=%(refname:short)").decode("utf-8", "replace").split()
    hint = closest(name, names) or "give a branch, a tag, a commit or a results folder"
    if _git("rev-parse", "--is-shallow-repository").strip() == b"true":
        hint += "; it is shallow, and `git fetch --unshallow` brings older commits"
    there = "a folder without results and " if Path(name).is_dir() else ""
    return f"is {there}no commit of this clone; {hint}"
