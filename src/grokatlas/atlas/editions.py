"""The code that made the pages, and their citation."""

import subprocess

from grokatlas import __version__
from grokatlas import text as words
from grokatlas.registry import PACKAGE
from grokatlas.results import revision


def edition() -> tuple[str, str, str]:
    """The version, and the commit of this checkout with its date; empty outside of a checkout."""
    commit = date = ""
    root = PACKAGE.resolve().parents[1]
    if (root / ".git").exists():
        try:
            told = revision.git(root, "log", "-1", "--format=%h %cs").decode()
            commit, _, date = told.strip().partition(" ")
        except (OSError, subprocess.SubprocessError):
            pass  # a manifest tells why, see `revision.facts`
    return __version__, commit, date


def in_words(each: tuple[str, str, str]) -> str:
    """As a line: ``Grokking Atlas 0.3.0, commit c0ffee1 of 2026-11-28``."""
    version, commit, date = each
    return f"Grokking Atlas {version}" + (f", commit {commit} of {date}" if commit else "")


def citation(each: tuple[str, str, str]) -> str:
    """As BibTeX."""
    version, commit, date = each
    fields = {
        "title": "Grokking Atlas",
        "author": "{The Grokking Atlas developers}",
        "year": date[:4],
        "version": version,
        "note": commit and f"commit {commit}",
    }
    return words.bibtex("software", "grokking_atlas", fields)
