"""The code that made the pages, and their citation."""

import subprocess

from grokatlas import __version__
from grokatlas import text as words
from grokatlas.registry import PACKAGE
from grokatlas.results import revision


def commit_and_date() -> tuple[str, str]:
    """The commit of this checkout and its date; empty outside of a checkout."""
    root = PACKAGE.resolve().parents[1]
    if (root / ".git").exists():
        try:
            line = revision.git(root, "log", "-1", "--format=%h %cs").decode()
            commit, _, date = line.strip().partition(" ")
            return commit, date
        except (OSError, subprocess.SubprocessError):
            pass  # a manifest tells why, see `revision.facts`
    return "", ""


def of(commit: str, date: str) -> dict[str, str]:
    """The foot of every page: ``edition`` as a line, and ``citation`` as BibTeX."""
    note = f"commit {commit}" if commit else ""
    fields = {
        "title": "Grokking Atlas",
        "author": "{The Grokking Atlas developers}",
        "year": date[:4],
        "version": __version__,
        "note": note,
    }
    return {
        "edition": f"Grokking Atlas {__version__}" + (f", {note} of {date}" if note else ""),
        "citation": words.bibtex("software", "grokking_atlas", fields),
    }
