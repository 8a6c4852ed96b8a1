"""The origin of a claim's tables."""

from pathlib import Path

from grokatlas.results import files, layout
from grokatlas.rules.partial import CURRENT, EARLIER


def origin(targets: list[Path], ages: dict[Path, str]) -> dict[str, str]:
    """The commits that made a claim's tables, and whether their code is the one here."""
    commits = set()
    for target in targets:
        git = files.read_sealed(layout.manifest_of("table", target)).get("git") or {}
        commits.add(git.get("commit", "unknown")[:12] + (" dirty" if git.get("dirty") else ""))
    code = CURRENT if all(ages[target] == CURRENT for target in targets) else EARLIER
    return {"commit": ", ".join(sorted(commits)), "code": code}
