"""The report of `verify` as text for people and as a receipt for the record."""

import dataclasses
import time
from pathlib import Path
from typing import Any

from grokatlas import __version__
from grokatlas.audit.verify import SOUND, Finding, Report
from grokatlas.results import revision


def text(report: Report, strict: bool) -> str:
    """One line for every problem, if strict for every accepted result too, then the counts."""
    groups: dict[tuple[str, Finding], list[str]] = {}
    for name, finding in report.findings.items():
        if finding.verdict not in SOUND:
            groups.setdefault((report.targets[name], finding), []).append(name)
    lines = [_line(target, finding, names) for (target, finding), names in groups.items()]
    for target, notes in report.accepted.items() if strict else ():
        lines += [f"{'accepted':<11} {target}: {_note(note)}" for note in notes]
    lines += [f"note: {note}" for note in report.notes]
    counts = ", ".join(f"{n} {verdict}" for verdict, n in report.counts.items() if n) or "none"
    accepted = f"; {len(report.accepted)} results accepted" if report.accepted else ""
    brought = f"; {len(report.brought)} results from the run store" if report.brought else ""
    return "\n".join([*lines, f"{len(report.findings)} files: {counts}{accepted}{brought}"])


def receipt(report: Report, folder: Path, strict: bool) -> dict[str, Any]:
    """The report as plain data: tool, time, commit of the checkout, counts, verdicts on files."""
    return {
        "tool": f"grokatlas {__version__}",
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        **revision.facts(),
        "results": str(folder),
        "strict": strict,
        "passed": passed(report, strict),
        "counts": report.counts,
        "accepted": {
            target: [{k: v for k, v in note.items() if k != "code"} for note in notes]
            for target, notes in report.accepted.items()
        },
        "brought_from_run_store": report.brought,
        "notes": report.notes,
        "files": {
            name: {key: value for key, value in dataclasses.asdict(finding).items() if value}
            | {"sha256": report.hashes.get(name)}
            for name, finding in report.findings.items()
        },
    }


def passed(report: Report, strict: bool) -> bool:
    """True if every file is ok and, if strict, nothing was accepted."""
    return report.ok and not (strict and report.accepted)


def _line(target: str, finding: Finding, names: list[str]) -> str:
    what = names[0] if len(names) == 1 else f"{target} ({len(names)} files)"
    chain = f"; {' <- '.join(finding.chain)}" if len(finding.chain) > 1 else ""
    return f"{finding.verdict:<11} {what}: {finding.reason}{chain}"


def _note(note: dict[str, Any]) -> str:
    change = f"{note['old'][:12]} -> {note['new'][:12]}"
    return f"{note['reason']} ({note['who']}, {note['when']}, {change})"
